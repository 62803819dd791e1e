import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { page, type Frame } from '../layout.ts';
import { day } from '../moment.ts';
import { accountPage, type AccountFrame } from './frame.ts';

const sentences = {
  at_once: 'At once, you are signed out everywhere, and every application loses its access.',
  week: 'For seven days you can sign in and keep your account as it was.',
  after:
    'Then everything about you is erased: your profile, your ways to sign in, your sessions and what you agreed to. What stays in the log of this service names you no more.',
  elsewhere: 'What applications keep about you they keep: ask each of them.',
  download: 'Download everything about you first',
  delete: 'Delete my account',
  due: 'Your account will be erased on',
  keep_lead: 'You asked for this. Until then you can keep it.',
  keep: 'Keep my account',
  gone_title: 'Your account will be deleted',
  gone: 'You are signed out everywhere. Sign in before then to keep your account.',
  sign_in: 'Sign in',
};

export type DeletePageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  /** When it is to be erased, where that was asked for. */
  erase_after: Date | string | null;
  /** Where everything about the person is downloaded. */
  data_url: string;
};

export function deletePage({ frame, action, form_token, erase_after, data_url }: DeletePageProps): Html {
  return accountPage(frame, {
    name: 'delete',
    body:
      erase_after === null
        ? html`<ul>
              <li>${sentences.at_once}</li>
              <li>${sentences.week}</li>
              <li>${sentences.after}</li>
              <li>${sentences.elsewhere}</li>
            </ul>
            <p><a id="delete-data" href="${data_url}">${sentences.download}</a></p>
            <form method="post" action="${action}">
              ${hidden({ form_token })}
              <div class="actions">
                <button class="button bad" id="delete-submit" name="action" value="delete">${sentences.delete}</button>
              </div>
            </form>`
        : keepForm({ frame, action, form_token, erase_after }),
  });
}

/** What somebody is asked who signs in although their account is to be erased. */
export const keepForm = ({
  frame,
  action,
  form_token,
  erase_after,
  cancel,
}: {
  frame: Frame;
  action: string;
  form_token: string;
  erase_after: Date | string;
  /** A way out where an application is waiting. */
  cancel?: string;
}): Html =>
  html`<p class="note" id="erase-after">${sentences.due} ${day(erase_after, frame.lang)}. ${sentences.keep_lead}</p>
    <form method="post" action="${action}">
      ${hidden({ form_token })}
      <div class="actions">
        <button class="button strong" id="delete-keep" name="action" value="keep">${sentences.keep}</button>
        ${
          cancel !== undefined &&
          html`<button class="button quiet" id="login-cancel" name="action" value="cancel">${cancel}</button>`
        }
      </div>
    </form>`;

/** What is shown once it was asked for. Nobody is signed in by then. */
export const deletedPage = (frame: Frame, props: { erase_after: Date | string; login_url: string }): Html =>
  page(frame, {
    title: sentences.gone_title,
    heading: sentences.gone_title,
    body: html`<p class="note" id="erase-after" role="status">
        ${sentences.due} ${day(props.erase_after, frame.lang)}. ${sentences.gone}
      </p>
      <div class="actions">
        <a class="button" id="account-login" href="${props.login_url}">${sentences.sign_in}</a>
      </div>`,
  });
