import { clientName, named, namedClient, plain, who, type ClientView } from './client.ts';
import { hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { frameSentences } from './sentences/frame.ts';
import { loginSentences } from './sentences/login.ts';
import { recoverySentences } from './sentences/recovery.ts';
import {
  passkeyButton,
  passkeyForm,
  passkeysPossible,
  tellPasskeysPossible,
  usePasskeys,
  type PasskeyFormProps,
} from './passkey.ts';
import { emailSignInSentences } from './sentences/email-sign-in.ts';
import { signUpSentences } from './sentences/sign-up.ts';
import { revealPassword, sendOnce } from './script.ts';
import { upstreamForm, type UpstreamView } from './upstream.ts';

export type LoginPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  /** From login_hint, or from the try before. */
  username: string;
  /** Signing in again: who it was, and where to go to be somebody else. */
  fixed_account?: { name: string; email?: string | undefined } | undefined;
  switch_url?: string | undefined;
  /** One sentence for a wrong name and a wrong password alike. */
  problem?: string | undefined;
  /** By which those who run the server find the problem. */
  request_id?: string | undefined;
  /** Where people may sign in by passkeys. */
  passkey?: Pick<PasskeyFormProps, 'options' | 'forget'> | undefined;
  /** The problem is one of the passkey that was used. */
  problem_of_passkey?: boolean | undefined;
  /** Where somebody who forgot their password goes. */
  forgot_url?: string | undefined;
  /** Where somebody makes an account. */
  signup_url?: string | undefined;
  /** Where somebody signs in by mail. */
  email_url?: string | undefined;
  cancel: boolean;
  /** Why it is asked again, as a sentence. */
  reason?: string | undefined;
  /** What to know before signing in. */
  note?: string | undefined;
  /** Where else one can sign in. */
  upstreams?: readonly UpstreamView[] | undefined;
  /** An address may lead to one of them: then no password has to be typed. */
  password_optional?: boolean | undefined;
};

export function loginPage(props: LoginPageProps): Html {
  const { frame, action, form_token, client, username, fixed_account, problem, passkey, cancel, reason } = props;
  const typed = fixed_account !== undefined || username !== '' ? 'password' : 'username';
  const field = props.problem_of_passkey === true ? 'passkey-signin' : typed;
  const t = loginSentences(frame.lang);
  const common = frameSentences(frame.lang);
  const about = (name: string) => (name === field ? problem : undefined);
  const focus = (name: string) => problem === undefined && name === typed && html` autofocus`;

  return page(frame, {
    title: titled(frame, client ? t.title_client({ client: clientName(client) }) : t.title, problem),
    heading: fixed_account ? t.confirm : client ? t.title_client({ client: namedClient(client) }) : t.title,
    lead: reason ?? (fixed_account && client ? t.to_go_on({ client: namedClient(client) }) : client?.client_host),
    client,
    scripts: [revealPassword, sendOnce, ...(passkey ? [usePasskeys, tellPasskeysPossible] : [])],
    body: html`
      ${problemSummary(frame, problem, field)}
      ${props.note !== undefined && html`<p class="note" id="note">${props.note}</p>`}
      ${fixed_account && who(fixed_account, switchLink(t, fixed_account, props.switch_url))}
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${passkey && passkeysPossible}
        ${
          fixed_account
            ? // For password managers: they file the password under the name that stands beside it.
              html`<input
                class="hush"
                id="username"
                name="username"
                value="${username}"
                autocomplete="username"
                tabindex="-1"
                aria-hidden="true"
              />`
            : html`<div class="field">
                <label for="username">${t.username}</label>
                ${problemAt(about('username'), 'username')}
                <input
                  id="username"
                  name="username"
                  value="${username}"
                  autocomplete="username webauthn"
                  autocapitalize="none"
                  spellcheck="false"
                  required${problemAttributes(about('username'), 'username')}${focus('username')}
                />
              </div>`
        }
        <div class="field">
          <label for="password">${t.password}</label>
          ${problemAt(about('password'), 'password')}
          <div class="slot">
            <input
              id="password"
              name="password"
              type="password"
              autocomplete="current-password"
              data-show="${common.show}"
              data-hide="${common.hide}"
              ${props.password_optional !== true && html` required`}${problemAttributes(about('password'), 'password')}${focus('password')}
            />
          </div>
          ${props.forgot_url !== undefined && html`<p class="small"><a id="forgot-password" href="${props.forgot_url}">${recoverySentences(frame.lang).forgot}</a></p>`}
        </div>
        <div class="actions">
          <button class="button strong" id="login-submit" name="action" value="login">
            ${fixed_account ? common.continue : t.title}
          </button>
          ${passkey && passkeyButton(frame)}
          ${
            cancel &&
            html`<button class="button quiet" id="login-cancel" name="action" value="cancel" formnovalidate>
              ${common.cancel}
            </button>`
          }
        </div>
      </form>
      ${
        props.email_url !== undefined &&
        html`<p class="beyond">
          <a id="email-signin" href="${props.email_url}">${emailSignInSentences(frame.lang).title}</a>
        </p>`
      }
      ${
        props.signup_url !== undefined &&
        html`<p class="beyond"><a id="signup" href="${props.signup_url}">${signUpSentences(frame.lang).title}</a></p>`
      }
      ${passkey && passkeyForm({ action, form_token, ...passkey })}
      ${upstreamForm(frame, props.upstreams ?? [], { action, form_token })} ${problemDetails(frame, props.request_id)}
    `,
  });
}

const switchLink = (t: ReturnType<typeof loginSentences>, account: { name: string }, url: string | undefined) =>
  url !== undefined &&
  html`<a href="${url}">${t.not_you({ name: named(plain(account.name).split(' ')[0] ?? '') })}</a>`;
