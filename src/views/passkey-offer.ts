/** The offer to make a passkey, after a sign-in by password. */
import { passkeyCreation } from './account/passkeys.ts';
import { clientName, who, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { createPasskeys } from './passkey.ts';
import { passkeysSentences } from './sentences/passkeys.ts';

export type PasskeyOfferPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | undefined;
  person: PersonView;
  /** What the browser is asked for, as JSON. */
  options: string;
};

export function passkeyOfferPage({ frame, client, person, ...form }: PasskeyOfferPageProps): Html {
  const t = passkeysSentences(frame.lang);
  const { action, form_token } = form;
  return page(frame, {
    title: client ? `${t.offer_title} · ${clientName(client)}` : t.offer_title,
    heading: t.offer_title,
    lead: t.about,
    client,
    scripts: [createPasskeys],
    body: html`${who(person)} ${passkeyCreation({ frame, ...form }, { named: false })}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions">
          <button class="button quiet" id="passkey-later" name="action" value="later">${t.later}</button>
        </div>
      </form>
      <p class="small muted">${t.later_hint}</p>`,
  });
}
