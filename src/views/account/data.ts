import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { accountPage, type AccountFrame } from './frame.ts';

const sentences = {
  lead: 'Your profile, how you sign in, where you are signed in, what applications may do, and what happened with your account: all in one file (JSON). It holds no passwords and no keys.',
  download: 'Download my data',
};

export type DataPageProps = { frame: AccountFrame; action: string; form_token: string };

export function dataPage({ frame, action, form_token }: DataPageProps): Html {
  return accountPage(frame, {
    name: 'data',
    body: html`<p>${sentences.lead}</p>
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions">
          <button class="button strong" id="data-download" name="action" value="download">${sentences.download}</button>
        </div>
      </form>`,
  });
}
