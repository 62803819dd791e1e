import { clientName, face, named, namedClient, plain, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { plus } from './icons.ts';
import { page, type Frame } from './layout.ts';
import { frameSentences } from './sentences/frame.ts';
import { loginSentences } from './sentences/login.ts';
import { selectAccountSentences } from './sentences/select-account.ts';
import { sendOnce } from './script.ts';

export type SelectAccountPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  /** Those who are signed in, the current one first. */
  people: ReadonlyArray<PersonView & { sub: string }>;
  cancel: boolean;
};

export function selectAccountPage({ frame, action, form_token, client, people, cancel }: SelectAccountPageProps): Html {
  const t = selectAccountSentences(frame.lang);
  const common = frameSentences(frame.lang);
  return page(frame, {
    title: client ? t.title_client({ client: clientName(client) }) : t.title,
    heading: t.heading,
    lead: client && loginSentences(frame.lang).to_go_on({ client: namedClient(client) }),
    client,
    scripts: [sendOnce],
    body: html`<form method="post" action="${action}">
      ${hidden({ form_token })}
      <div class="actions">
        ${people.map((person, index) => accountButton(person, index === 0 ? 'account-continue' : `account-${index + 1}`))}
        <button class="button row" id="account-another" name="action" value="another">
          <span class="face blank">${plus}</span>
          <span>${common.use_another_account}</span>
        </button>
        ${cancel && html`<button class="button quiet" id="login-cancel" name="action" value="cancel">${common.cancel}</button>`}
      </div>
    </form>`,
  });
}

/** A person as a button, which says by `account` who it is. */
export const accountButton = (person: PersonView & { sub: string }, id: string): Html =>
  html`<button class="button row" id="${id}" name="account" value="${person.sub}">
    ${face(person.name)}
    <span
      ><b>${named(person.name)}</b>
      ${person.email !== undefined && html`<small>${plain(person.email)}</small>`}
    </span>
  </button>`;
