/** Where somebody makes an account. */
import { clientName, namedClient, type ClientView } from './client.ts';
import { hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { meterStyle, newPasswordField, passwordMeter, refusalOf, type JudgedPassword } from './new-password.ts';
import { frameSentences } from './sentences/frame.ts';
import { loginSentences } from './sentences/login.ts';
import { signUpSentences } from './sentences/sign-up.ts';
import { revealPassword, sendOnce } from './script.ts';

export type SignUpPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  email: string;
  name: string;
  min_length: number;
  strength_url: string;
  problem?: 'bad_email' | 'bad_domain' | 'bad_name' | 'too_many_requests' | JudgedPassword | undefined;
  request_id?: string | undefined;
  /** Where those go who have an account. */
  login_url: string;
  cancel: boolean;
};

const FIELD = { bad_email: 'email', bad_domain: 'email', bad_name: 'name', too_many_requests: 'email' } as const;

export function signUpPage(props: SignUpPageProps): Html {
  const { frame, action, form_token, client, email, name, min_length, strength_url, login_url, cancel } = props;
  const t = signUpSentences(frame.lang);
  const { field, problem } = problemOf(props);
  const about = (of: string) => (of === field ? problem : undefined);
  return page(frame, {
    title: titled(frame, client ? t.title_client({ client: clientName(client) }) : t.title, problem),
    heading: client ? t.title_client({ client: namedClient(client) }) : t.title,
    lead: t.lead,
    client,
    scripts: [revealPassword, passwordMeter, sendOnce],
    style: meterStyle,
    body: html`
      ${problemSummary(frame, problem, field)}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        ${emailField(frame, { email, problem: about('email'), autofocus: problem === undefined })}
        <div class="field">
          <label for="name">${t.name}</label>
          ${problemAt(about('name'), 'name')}
          <input
            id="name"
            name="name"
            value="${name}"
            autocomplete="name"
            maxlength="128"
            ${problemAttributes(about('name'), 'name')}
          />
        </div>
        ${newPasswordField(frame, { problem: about('new-password'), min_length, strength_url })}
        <div class="actions">
          <button class="button strong" id="signup-submit" name="action" value="signup">${t.submit}</button>
          <a class="button quiet" id="signup-login" href="${login_url}">${t.have_account}</a>
          ${
            cancel &&
            html`<button class="button quiet" id="login-cancel" name="action" value="cancel" formnovalidate>
              ${frameSentences(frame.lang).cancel}
            </button>`
          }
        </div>
      </form>
      ${problemDetails(frame, props.request_id)}
    `,
  });
}

function problemOf({ frame, problem }: SignUpPageProps): { field: string; problem: string | undefined } {
  switch (problem) {
    case undefined:
      return { field: 'email', problem: undefined };
    case 'too_many_requests':
      return { field: FIELD[problem], problem: loginSentences(frame.lang)[problem] };
    case 'bad_email':
    case 'bad_domain':
    case 'bad_name':
      return { field: FIELD[problem], problem: signUpSentences(frame.lang)[problem] };
    default:
      return { field: 'new-password', problem: refusalOf(frame.lang, problem) };
  }
}

/** Where an address is typed. */
export const emailField = (
  { lang }: Frame,
  { email, problem, autofocus }: { email: string; problem: string | undefined; autofocus: boolean },
): Html =>
  html`<div class="field">
    <label for="email">${signUpSentences(lang).email}</label>
    ${problemAt(problem, 'email')}
    <input
      id="email"
      name="email"
      type="email"
      value="${email}"
      autocomplete="email"
      spellcheck="false"
      maxlength="320"
      required${problemAttributes(problem, 'email')}${autofocus && html` autofocus`}
    />
  </div>`;
