import { plain } from '../client.ts';
import { devMail, hidden, problemAt, problemAttributes, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import { emailSentences } from '../sentences/email.ts';
import { mailCodeField } from '../mail-code.ts';
import { mailCodeSentences } from '../sentences/mail-code.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type EmailPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  email: string | null;
  email_verified: boolean;
  /** What was typed before. */
  typed: string;
  problem?: 'no_address' | 'same' | 'too_many' | 'wrong' | 'over' | undefined;
  /** The page that waits for the code, by its handle. */
  request?: string | undefined;
  /** The mail is on its way, or its code was right. */
  done?: 'sent' | 'confirmed' | undefined;
  /** Is there mail here at all? */
  mail: boolean;
  /** In development: where mail can be read. */
  mail_url?: string | undefined;
};

/** The address that an account has, and the way to another. */
export function emailPage({
  frame,
  action,
  form_token,
  email,
  email_verified,
  typed,
  mail,
  ...props
}: EmailPageProps): Html {
  const t = emailSentences(frame.lang);
  const codes = mailCodeSentences(frame.lang);
  const problem =
    props.problem === 'wrong' || props.problem === 'over' ? codes[props.problem] : props.problem && t[props.problem];
  // A code is asked for alone: whoever wants yet another address begins anew.
  const { request } = props;
  const field = request === undefined ? 'email' : 'otp';
  return accountPage(frame, {
    name: 'email',
    problem,
    done: props.done && { sent: t.sent, confirmed: t.confirmed }[props.done],
    body: html`${problemSummary(frame, problem, field)}
      <dl>
        <dt>${t.present}</dt>
        <dd>
          ${email === null ? t.none : html`<bdi>${plain(email)}</bdi>`}
          ${email !== null && html`<span class="small muted">${email_verified ? t.verified : t.not_verified}</span>`}
        </dd>
      </dl>
      ${
        mail && request !== undefined
          ? html`<form method="post" action="${action}">
                ${hidden({ form_token, request })} ${mailCodeField(frame, { problem })}
                <div class="actions">
                  <button class="button strong" id="verify-submit">${codes.confirm}</button>
                  <a class="button quiet" id="verify-other" href="${action}">${codes.other}</a>
                </div>
              </form>
              ${devMail(props.mail_url)}`
          : mail
            ? html`<form method="post" action="${action}">
                ${hidden({ form_token })}
                <div class="field">
                  <label for="email">${t.new_address}</label>
                  ${problemAt(problem, 'email')}
                  <input
                    id="email"
                    name="email"
                    type="email"
                    value="${typed}"
                    autocomplete="email"
                    spellcheck="false"
                    required${problemAttributes(problem, 'email')}
                  />
                  <p class="small muted">${t.hint}</p>
                </div>
                <div class="actions"><button class="button strong" id="email-submit">${t.submit}</button></div>
              </form>`
            : html`<p>${t.off}</p>`
      }`,
  });
}
