import { plain, who, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { plus } from './icons.ts';
import { page, type Frame } from './layout.ts';
import { accountButton } from './select-account.ts';

export type AccountPageProps = {
  frame: Frame;
  person: { name: string; username: string; email?: string | undefined; email_verified?: boolean | undefined };
  sub: string;
  /** A string as `Date.parse` reads it. */
  signed_in_at: Date | string;
  logout_url: string;
  /** Who else is signed in in this browser, and the form that changes to them. */
  others: ReadonlyArray<PersonView & { sub: string }>;
  action: string;
  form_token: string;
  /** Where somebody else signs in. */
  login_url: string;
};

export function accountPage(props: AccountPageProps): Html {
  const { frame, person, sub, signed_in_at, logout_url, others, action, form_token, login_url } = props;
  return page(frame, {
    title: 'Your account',
    heading: 'Your account',
    body: html`${who({ name: person.name, email: person.email })}
      <section>
        <dl>
          <dt>Username</dt>
          <dd>${plain(person.username)}</dd>
          ${
            person.email !== undefined &&
            html`<dt>Email</dt>
              <dd>
                ${plain(person.email)}
                <span class="small muted">${person.email_verified === true ? 'verified' : 'not verified'}</span>
              </dd>`
          }
          <dt>Signed in</dt>
          <dd>${moment(signed_in_at, frame.lang)}</dd>
          <dt>Subject (<code>sub</code>)</dt>
          <dd><code>${sub}</code></dd>
        </dl>
      </section>
      <section>
        <h2>Other accounts in this browser</h2>
        <form method="post" action="${action}">
          ${hidden({ form_token })}
          <div class="actions">
            ${others.map((other, index) => accountButton(other, `account-${index + 2}`))}
            <a class="button row" id="account-another" href="${login_url}">
              <span class="face blank">${plus}</span>
              <span>Use another account</span>
            </a>
          </div>
        </form>
      </section>
      <div class="actions"><a class="button" id="account-logout" href="${logout_url}">Sign out</a></div>`,
  });
}

function moment(at: Date | string, lang = 'en-GB'): Html {
  const time = typeof at === 'string' ? Date.parse(at) : at.getTime();
  if (Number.isNaN(time)) return html`unknown`;
  const format = new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return html`${format.format(time)} UTC`;
}
