/** The way to a new password: asking for a link, and choosing one behind it. */
import { named } from './client.ts';
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
import { revealPassword, sendOnce } from './script.ts';
import { loginSentences } from './sentences/login.ts';
import { recoverySentences } from './sentences/recovery.ts';

type Form = { frame: Frame; action: string; form_token: string; request_id?: string | undefined };

export type ForgotPasswordPageProps = Form & {
  /** What was typed before. */
  username: string;
  /** The request in progress, to be gone on with afterwards. */
  interaction: string;
  problem?: 'missing_name' | 'too_many' | undefined;
  back_url: string;
};

export function forgotPasswordPage(props: ForgotPasswordPageProps): Html {
  const { frame, action, form_token, username, interaction, back_url, request_id } = props;
  const t = recoverySentences(frame.lang);
  const problem = props.problem && t[props.problem];
  return page(frame, {
    title: titled(frame, t.forgot_title, problem),
    heading: t.forgot_title,
    lead: t.forgot_lead,
    scripts: [sendOnce],
    body: html`${problemSummary(frame, problem, 'username')}
      <form method="post" action="${action}">
        ${hidden({ form_token, interaction })}
        <div class="field">
          <label for="username">${loginSentences(frame.lang).username}</label>
          ${problemAt(problem, 'username')}
          <input
            id="username"
            name="username"
            value="${username}"
            autocomplete="username"
            autocapitalize="none"
            spellcheck="false"
            required${problemAttributes(problem, 'username')}${problem === undefined && html` autofocus`}
          />
        </div>
        <div class="actions">
          <button class="button strong" id="forgot-submit">${t.send}</button>
          <a class="button quiet" id="forgot-back" href="${back_url}">${t.back}</a>
        </div>
      </form>
      ${problemDetails(frame, request_id)}`,
  });
}

export type ForgotSentPageProps = { frame: Frame; back_url: string; mail_url?: string | undefined };

/** The same whoever asked for whom. */
export function forgotSentPage({ frame, back_url, mail_url }: ForgotSentPageProps): Html {
  const t = recoverySentences(frame.lang);
  return page(frame, {
    title: t.sent_title,
    heading: t.sent_title,
    lead: t.sent_text,
    body: html`<p>${t.sent_none}</p>
      <div class="actions"><a class="button" id="forgot-back" href="${back_url}">${t.back}</a></div>
      ${devMail(mail_url)}`,
  });
}

export type ResetPasswordPageProps = Form & {
  username: string;
  /** The fewest characters a password may have. */
  min_length: number;
  interaction: string;
  problem?: JudgedPassword | undefined;
} & Pick<NewPasswordProps, 'strength_url' | 'link'>;

export function resetPasswordPage(props: ResetPasswordPageProps): Html {
  const { frame, action, form_token, username, min_length, interaction, request_id } = props;
  const t = recoverySentences(frame.lang);
  const { strength_url, link } = props;
  const problem = props.problem && refusalOf(frame.lang, props.problem);
  return page(frame, {
    title: titled(frame, t.reset_title, problem),
    heading: t.reset_title,
    lead: t.reset_lead({ username: named(username) }),
    scripts: [revealPassword, passwordMeter, sendOnce],
    style: meterStyle,
    body: html`${problemSummary(frame, problem, 'new-password')}
      <form method="post" action="${action}">
        ${hidden({ form_token, interaction })} ${nameForManagers(username)}
        ${newPasswordField(frame, { min_length, strength_url, link, hint: t.reset_hint, problem, autofocus: problem === undefined })}
        <div class="actions"><button class="button strong" id="reset-submit">${t.reset_submit}</button></div>
      </form>
      ${problemDetails(frame, request_id)}`,
  });
}

export type ResetDonePageProps = { frame: Frame; sign_in_url: string };

export function resetDonePage({ frame, sign_in_url }: ResetDonePageProps): Html {
  const t = recoverySentences(frame.lang);
  return page(frame, {
    title: t.done_title,
    heading: t.done_title,
    lead: t.done_text,
    body: html`<div class="actions">
      <a class="button strong" id="reset-sign-in" href="${sign_in_url}">${t.sign_in}</a>
    </div>`,
  });
}

export type LinkOverPageProps = { frame: Frame; again_url: string };

/** Behind a link that was used, has expired, or never was one. */
export function linkOverPage({ frame, again_url }: LinkOverPageProps): Html {
  const t = recoverySentences(frame.lang);
  return page(frame, {
    title: titled(frame, t.over_title, t.over_title),
    heading: t.over_title,
    lead: t.over_text,
    body: html`<div class="actions"><a class="button" id="link-again" href="${again_url}">${t.over_again}</a></div>`,
  });
}
