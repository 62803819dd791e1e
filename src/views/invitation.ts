/** Behind an invitation: the first password of an account. */
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
import { revealPassword, sendOnce } from './script.ts';

export type InvitationPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  email: string;
  min_length: number;
  problem?: JudgedPassword | undefined;
  request_id?: string | undefined;
} & Pick<NewPasswordProps, 'strength_url' | 'link'>;

/** Scanners of mail open it: only the form does something. */
export function invitationPage(props: InvitationPageProps): Html {
  const { frame, action, form_token, email, min_length, strength_url, link } = props;
  const t = invitationSentences(frame.lang);
  const problem = props.problem && refusalOf(frame.lang, props.problem);
  return page(frame, {
    title: titled(frame, t.title, problem),
    heading: t.title,
    lead: t.lead({ email: named(email) }),
    scripts: [revealPassword, passwordMeter, sendOnce],
    style: meterStyle,
    body: html`
      ${problemSummary(frame, problem, 'new-password')}
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${nameForManagers(email)}
        ${newPasswordField(frame, { problem, min_length, strength_url, link, autofocus: problem === undefined })}
        <div class="actions"><button class="button strong" id="invitation-submit">${t.submit}</button></div>
      </form>
      ${problemDetails(frame, props.request_id)}
    `,
  });
}
