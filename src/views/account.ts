import { plain, who } from './client.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';

export type AccountPageProps = {
  frame: Frame;
  person: { name: string; username: string; email?: string | undefined; email_verified?: boolean | undefined };
  sub: string;
  /** A string as `Date.parse` reads it. */
  signed_in_at: Date | string;
  logout_url: string;
};

export function accountPage({ frame, person, sub, signed_in_at, logout_url }: AccountPageProps): Html {
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
      <div class="actions"><a class="button" id="account-logout" href="${logout_url}">Sign out</a></div>`,
  });
}

function moment(at: Date | string, lang = 'en-GB'): Html {
  const time = typeof at === 'string' ? Date.parse(at) : at.getTime();
  if (Number.isNaN(time)) return html`unknown`;
  const format = new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return html`${format.format(time)} UTC`;
}
