/** Asked on the way to an application: a password that was drawn for somebody opens nothing before they chose their own. */
import { accountStyle } from './account/style.ts';
import { passwordForm, passwordProblem, type PasswordFormProps } from './account/password.ts';
import { who, type ClientView, type PersonView } from './client.ts';
import { problemDetails, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { passwordMeter } from './new-password.ts';
import { revealPassword, sendOnce } from './script.ts';
import { frameSentences } from './sentences/frame.ts';
import { passwordSentences } from './sentences/password.ts';

export type OwnPasswordPageProps = PasswordFormProps & {
  frame: Frame;
  client: ClientView;
  person: PersonView;
  request_id?: string | undefined;
};

export function ownPasswordPage({ frame, client, person, request_id, ...form }: OwnPasswordPageProps): Html {
  const t = passwordSentences(frame.lang);
  return page(frame, {
    title: titled(frame, t.own_title, passwordProblem(frame, form.problem)),
    heading: t.own_title,
    client,
    scripts: [revealPassword, passwordMeter, sendOnce],
    style: accountStyle,
    body: html`${who(person)} ${passwordForm(frame, { ...form, cancel: frameSentences(frame.lang).cancel })}
    ${problemDetails(frame, request_id)}`,
  });
}
