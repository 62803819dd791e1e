import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { deletionSentences } from '../sentences/deletion.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type DataPageProps = { frame: AccountFrame; action: string; form_token: string };

export function dataPage({ frame, action, form_token }: DataPageProps): Html {
  const t = deletionSentences(frame.lang);
  return accountPage(frame, {
    name: 'data',
    body: html`<p>${t.data_lead}</p>
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions">
          <button class="button strong" id="data-download" name="action" value="download">${t.download}</button>
        </div>
      </form>`,
  });
}
