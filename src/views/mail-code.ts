/** The page that waits for a code from a mail, and the pages that links of mails lead to. */
import { named, type ClientView } from './client.ts';
import { devMail, hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import {
  nameForManagers,
  meterStyle,
  newPasswordField,
  passwordMeter,
  refusalOf,
  type JudgedPassword,
  type NewPasswordProps,
} from './new-password.ts';
import { loginSentences } from './sentences/login.ts';
import { mailCodeSentences } from './sentences/mail-code.ts';
import { passkeysPossible, tellPasskeysPossible } from './passkey.ts';
import { revealPassword, sendOnce } from './script.ts';

export type MailCodePageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  /** The handle of the page. */
  request: string;
  email: string;
  problem?: 'wrong' | 'over' | 'taken' | 'too_many_requests' | undefined;
  request_id?: string | undefined;
  /** Where it begins, for another address. */
  other_url: string;
  /** What the code does besides confirming the address. */
  purpose?: 'sign_in' | undefined;
  /** In development: where mail can be read. */
  mail_url?: string | undefined;
};

/** Where the six digits of a mail are typed. */
export const mailCodeField = ({ lang }: Frame, { problem }: { problem: string | undefined }): Html =>
  html`<div class="field">
    <label for="otp">${mailCodeSentences(lang).code}</label>
    ${problemAt(problem, 'otp')}
    <input
      id="otp"
      name="otp"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="16"
      required${problemAttributes(problem, 'otp')}${problem === undefined && html` autofocus`}
    />
  </div>`;

/** The same whether or not there will be a mail with a code. */
export function mailCodePage(props: MailCodePageProps): Html {
  const { frame, action, form_token, request, email, other_url, mail_url } = props;
  const t = mailCodeSentences(frame.lang);
  const problem =
    props.problem === 'too_many_requests'
      ? loginSentences(frame.lang)[props.problem]
      : props.problem && t[props.problem];
  return page(frame, {
    title: titled(frame, t.title, problem),
    heading: t.title,
    lead: t.sent({ email: named(email) }),
    client: props.client,
    scripts: [sendOnce, tellPasskeysPossible],
    body: html`
      ${problemSummary(frame, problem, 'otp')}
      <form method="post" action="${action}">
        ${hidden({ form_token, request })} ${passkeysPossible} ${mailCodeField(frame, { problem })}
        <div class="actions">
          <button class="button strong" id="verify-submit" name="action" value="verify">
            ${props.purpose === 'sign_in' ? t.sign_in : t.confirm}
          </button>
          <button class="button quiet" id="verify-again" name="action" value="again" formnovalidate>${t.again}</button>
          <a class="button quiet" id="verify-other" href="${other_url}">${t.other}</a>
        </div>
      </form>
      ${devMail(mail_url)} ${problemDetails(frame, props.request_id)}
    `,
  });
}

export type ConfirmAddressPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  email: string;
  /** Opened in another browser than the one that signed up: the password is chosen here. */
  elsewhere: boolean;
  /** Of an account that there is, elsewhere: what was made for it before goes. */
  anew?: boolean | undefined;
  min_length: number;
  problem?: JudgedPassword | 'taken' | undefined;
  request_id?: string | undefined;
} & Pick<NewPasswordProps, 'strength_url' | 'link'>;

/** Behind the link of a mail. Scanners of mail open it: only the button does something. */
export function confirmAddressPage(props: ConfirmAddressPageProps): Html {
  const { frame, action, form_token, email, elsewhere, min_length, strength_url, link } = props;
  const t = mailCodeSentences(frame.lang);
  const problem = props.problem === 'taken' ? t.taken : props.problem && refusalOf(frame.lang, props.problem);
  const field = elsewhere ? 'new-password' : 'verify-submit';
  return page(frame, {
    title: titled(frame, t.confirm, problem),
    heading: t.confirm,
    lead: elsewhere
      ? t[props.anew ? 'anew' : 'elsewhere']({ email: named(email) })
      : t.confirm_lead({ email: named(email) }),
    scripts: elsewhere ? [revealPassword, passwordMeter, sendOnce] : [sendOnce],
    ...(elsewhere && { style: meterStyle }),
    body: html`
      ${problemSummary(frame, problem, field)}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        ${elsewhere && html`${nameForManagers(email)}${newPasswordField(frame, { problem, min_length, strength_url, link, autofocus: problem === undefined })}`}
        <div class="actions"><button class="button strong" id="verify-submit">${t.confirm}</button></div>
      </form>
      ${problemDetails(frame, props.request_id)}
    `,
  });
}

export type MailNotePageProps = {
  frame: Frame;
  note: 'confirmed' | 'stale';
  /** Where it goes on. */
  next_url: string;
};

/** The end of a way that a mail led to: done, or not any more. */
export function mailNotePage({ frame, note, next_url }: MailNotePageProps): Html {
  const t = mailCodeSentences(frame.lang);
  const stale = note === 'stale';
  return page(frame, {
    title: titled(frame, stale ? t.stale : t.confirmed, stale ? t.stale : undefined),
    heading: stale ? t.stale : t.confirmed,
    lead: stale ? t.stale_lead : undefined,
    body: html`<div class="actions">
      <a class="button strong" id="verify-next" href="${next_url}">${stale ? t.begin : t.sign_in}</a>
    </div>`,
  });
}
