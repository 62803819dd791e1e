import { plain, who, type PersonView } from '../client.ts';
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { plus } from '../icons.ts';
import { accountButton } from '../select-account.ts';
import { moment } from '../moment.ts';
import { overviewSentences } from '../sentences/overview.ts';
import { frameSentences } from '../sentences/frame.ts';
import { accountPage, waysOn, type AccountFrame } from './frame.ts';

export type OverviewPageProps = {
  frame: AccountFrame;
  /** Without a username where that was drawn, and nobody types it. */
  person: {
    name: string;
    username?: string | undefined;
    email?: string | undefined;
    email_verified?: boolean | undefined;
  };
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
  done?: string | undefined;
};

export function overviewPage(props: OverviewPageProps): Html {
  const t = overviewSentences(props.frame.lang);
  const { frame, person, sub, signed_in_at, logout_url, others, action, form_token, login_url, done } = props;
  return accountPage(frame, {
    name: 'overview',
    done: done === 'kept' ? t.kept : undefined,
    body: html`${who({ name: person.name, email: person.email })}
      <section>
        <dl>
          ${
            person.username !== undefined &&
            html`<dt>${t.username}</dt>
              <dd>${plain(person.username)}</dd>`
          }
          ${
            person.email !== undefined &&
            html`<dt>${t.email}</dt>
              <dd>
                ${plain(person.email)}
                <span class="small muted">${person.email_verified === true ? t.verified : t.not_verified}</span>
              </dd>`
          }
          <dt>${t.signed_in}</dt>
          <dd>${moment(signed_in_at, frame.lang)}</dd>
          <dt>${t.subject}</dt>
          <dd><code>${sub}</code></dd>
        </dl>
      </section>
      ${waysOn(frame)}
      <section>
        <h2>${t.others}</h2>
        <form method="post" action="${action}">
          ${hidden({ form_token })}
          <div class="actions">
            ${others.map((other, index) => accountButton(other, `account-${index + 2}`))}
            <a class="button row" id="account-another" href="${login_url}">
              <span class="face blank">${plus}</span>
              <span>${frameSentences(frame.lang).use_another_account}</span>
            </a>
          </div>
        </form>
      </section>
      <div class="actions"><a class="button" id="account-logout" href="${logout_url}">${t.sign_out}</a></div>`,
  });
}
