import { named, namedClient, who, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { issuerName, page, type Frame } from './layout.ts';

export type LogoutPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  person?: PersonView | undefined;
  /** Who else is signed in in this browser. */
  others?: readonly PersonView[];
  client?: ClientView | null | undefined;
  /** What else the person should know. */
  note?: string | undefined;
  /** What the request said, to be posted with the answer. */
  hidden: Record<string, string>;
};

export function logoutPage(props: LogoutPageProps): Html {
  const { frame, action, form_token, person, others = [], client, note } = props;
  return page(frame, {
    title: `Sign out of ${issuerName(frame.issuer)}`,
    heading: 'Sign out?',
    lead: client
      ? html`${namedClient(client)} asks to sign you out of ${issuerName(frame.issuer)}.`
      : html`This signs you out of ${issuerName(frame.issuer)} in this browser.`,
    client,
    body: html`${person && who(person)}
      ${
        others.length > 0 &&
        html`<p class="small muted">
          Also signed in in this browser: ${others.map(({ name }, index) => html`${index > 0 && ', '}${named(name)}`)}
        </p>`
      }
      ${note !== undefined && html`<p id="logout-note">${note}</p>`}
      <form method="post" action="${action}">
        ${hidden({ ...props.hidden, form_token })}
        <div class="actions">
          <button class="button strong" id="logout-confirm" name="action" value="logout">Sign out</button>
          ${
            others.length > 0 &&
            html`<button class="button" id="logout-all" name="action" value="logout-all">
              Sign out of all accounts in this browser
            </button>`
          }
          <button class="button" id="logout-cancel" name="action" value="cancel">Stay signed in</button>
        </div>
      </form>`,
  });
}
