/** Sign-in by mail: where the address is typed, and where the link of the mail leads. The page between is that of mail-code.ts. */
import { clientName, type ClientView } from './client.ts';
import { emailField } from './sign-up.ts';
import { hidden, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { emailSignInSentences } from './sentences/email-sign-in.ts';
import { loginSentences } from './sentences/login.ts';
import { recoverySentences } from './sentences/recovery.ts';
import { signUpSentences } from './sentences/sign-up.ts';
import { sendOnce } from './script.ts';

export type EmailSignInPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  email: string;
  problem?: 'bad_email' | 'too_many_requests' | undefined;
  login_url: string;
};

export function emailSignInPage({ frame, action, form_token, client, email, ...props }: EmailSignInPageProps): Html {
  const t = emailSignInSentences(frame.lang);
  const problem =
    props.problem === 'bad_email'
      ? signUpSentences(frame.lang).bad_email
      : props.problem && loginSentences(frame.lang)[props.problem];
  const title = client ? `${t.title}: ${clientName(client)}` : t.title;
  return page(frame, {
    title: titled(frame, title, problem),
    heading: t.title,
    lead: t.lead,
    client,
    scripts: [sendOnce],
    body: html`
      ${problemSummary(frame, problem, 'email')}
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${emailField(frame, { email, problem, autofocus: problem === undefined })}
        <div class="actions">
          <button class="button strong" id="email-submit">${t.submit}</button>
          <a class="button quiet" id="email-back" href="${props.login_url}">${recoverySentences(frame.lang).back}</a>
        </div>
      </form>
    `,
  });
}

export type SignInLinkPageProps = { frame: Frame; action: string; form_token: string; here: boolean };

/** In another browser than the one that asked there is nothing to press: nobody is signed in by somebody else's click. */
export function signInLinkPage({ frame, action, form_token, here }: SignInLinkPageProps): Html {
  const t = emailSignInSentences(frame.lang);
  return page(frame, {
    title: here ? t.title : t.elsewhere,
    heading: here ? t.title : t.elsewhere,
    lead: here ? t.here : t.elsewhere_lead,
    scripts: [sendOnce],
    body: html`${
      here &&
      html`<form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions"><button class="button strong" id="verify-submit">${t.go_on}</button></div>
      </form>`
    }`,
  });
}
