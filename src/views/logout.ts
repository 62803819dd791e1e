import { listIn } from '../languages/intl.ts';
import { named, namedClient, who, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { page, serviceName, type Frame } from './layout.ts';
import { logoutSentences } from './sentences/logout.ts';

export type LogoutPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  person?: PersonView | undefined;
  /** Who else is signed in in this browser. */
  others?: readonly PersonView[];
  client?: ClientView | null | undefined;
  /** Does the person stay here, though the application wanted to lead them on? */
  stays?: boolean | undefined;
  /** What the request said, to be posted with the answer. */
  hidden: Record<string, string>;
};

export function logoutPage(props: LogoutPageProps): Html {
  const { frame, action, form_token, person, others = [], client, stays = false } = props;
  const t = logoutSentences(frame.lang);
  const issuer = serviceName(frame);
  return page(frame, {
    title: t.title({ issuer }),
    heading: t.heading,
    lead: client ? t.client_asks({ client: namedClient(client), issuer }) : t.this_signs_out({ issuer }),
    client,
    body: html`${person && who(person)}
      ${
        others.length > 0 &&
        html`<p class="small muted">
          ${t.also_signed_in({
            people: listIn(
              frame.lang,
              others.map(({ name }) => named(name)),
            ),
          })}
        </p>`
      }
      ${stays && html`<p id="logout-note">${t.stays}</p>`}
      <form method="post" action="${action}">
        ${hidden({ ...props.hidden, form_token })}
        <div class="actions">
          <button class="button strong" id="logout-confirm" name="action" value="logout">${t.sign_out}</button>
          ${
            others.length > 0 &&
            html`<button class="button" id="logout-all" name="action" value="logout-all">${t.sign_out_all}</button>`
          }
          <button class="button" id="logout-cancel" name="action" value="cancel">${t.stay}</button>
        </div>
      </form>`,
  });
}
