/** Behind an invitation: the first password of an account, or its passkey. */
import { passkeyCreation } from './account/passkeys.ts';
import { named } from './client.ts';
import { hidden, problemDetails, problemSummary, titled } from './form.ts';
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
import { invitationSentences } from './sentences/invitation.ts';
import { createPasskeys } from './passkey.ts';
import { revealPassword, sendOnce } from './script.ts';
import { passkeysSentences } from './sentences/passkeys.ts';

export type InvitationPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  email: string;
  min_length: number;
  /** What the browser is asked for that makes a passkey, as JSON. */
  options: string;
  problem?: JudgedPassword | 'not_created' | undefined;
  request_id?: string | undefined;
} & Pick<NewPasswordProps, 'strength_url' | 'link'>;

/** Scanners of mail open it: only the form does something. */
export function invitationPage(props: InvitationPageProps): Html {
  const { frame, action, form_token, email, min_length, strength_url, link, options } = props;
  const t = invitationSentences(frame.lang);
  const { not_created } = passkeysSentences(frame.lang);
  const ofPasskey = props.problem === 'not_created' ? not_created : undefined;
  const ofPassword =
    props.problem && props.problem !== 'not_created' ? refusalOf(frame.lang, props.problem) : undefined;
  const problem = ofPasskey ?? ofPassword;
  return page(frame, {
    title: titled(frame, t.title, problem),
    heading: t.title,
    lead: t.lead({ email: named(email) }),
    scripts: [revealPassword, passwordMeter, sendOnce, createPasskeys],
    style: meterStyle,
    body: html`
      ${problemSummary(frame, problem, ofPasskey === undefined ? 'new-password' : 'passkey-create')}
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${nameForManagers(email)}
        ${newPasswordField(frame, { problem: ofPassword, min_length, strength_url, link, autofocus: problem === undefined })}
        <div class="actions"><button class="button strong" id="invitation-submit">${t.submit}</button></div>
      </form>
      <section>
        <h2>${t.instead}</h2>
        <p class="small muted">${t.instead_lead}</p>
        ${passkeyCreation({ frame, action, form_token, options }, { other: true })}
      </section>
      ${problemDetails(frame, props.request_id)}
    `,
  });
}
