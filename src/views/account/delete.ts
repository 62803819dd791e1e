import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { page, type Frame } from '../layout.ts';
import { day } from '../moment.ts';
import { deletionSentences } from '../sentences/deletion.ts';
import { accountPage, type AccountFrame } from './frame.ts';

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
  const t = deletionSentences(frame.lang);
  return accountPage(frame, {
    name: 'delete',
    body:
      erase_after === null
        ? html`<ul>
              <li>${t.at_once}</li>
              <li>${t.week}</li>
              <li>${t.after}</li>
              <li>${t.elsewhere}</li>
            </ul>
            <p><a id="delete-data" href="${data_url}">${t.download_first}</a></p>
            <form method="post" action="${action}">
              ${hidden({ form_token })}
              <div class="actions">
                <button class="button bad" id="delete-submit" name="action" value="delete">${t.delete}</button>
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
  html`<p class="note" id="erase-after">${deletionSentences(frame.lang).due({ day: day(erase_after, frame.lang) })}</p>
    <form method="post" action="${action}">
      ${hidden({ form_token })}
      <div class="actions">
        <button class="button strong" id="delete-keep" name="action" value="keep">
          ${deletionSentences(frame.lang).keep}
        </button>
        ${
          cancel !== undefined &&
          html`<button class="button quiet" id="login-cancel" name="action" value="cancel">${cancel}</button>`
        }
      </div>
    </form>`;

/** What is shown once it was asked for. Nobody is signed in by then. */
export const deletedPage = (frame: Frame, props: { erase_after: Date | string; login_url: string }): Html =>
  page(frame, {
    title: deletionSentences(frame.lang).gone_title,
    heading: deletionSentences(frame.lang).gone_title,
    body: html`<p class="note" id="erase-after" role="status">
        ${deletionSentences(frame.lang).gone({ day: day(props.erase_after, frame.lang) })}
      </p>
      <div class="actions">
        <a class="button" id="account-login" href="${props.login_url}">${deletionSentences(frame.lang).sign_in}</a>
      </div>`,
  });
