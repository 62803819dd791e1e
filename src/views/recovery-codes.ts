/** Recovery codes, the one time they are shown: to copy, to print, or as a file. */
import { hidden } from './form.ts';
import { copyWords } from './authenticator.ts';
import { html, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { authenticatorSentences } from './sentences/authenticator.ts';

export type CodesProps = {
  codes: readonly string[];
  /** Where they come back from as a file, and the token of that form. */
  action: string;
  form_token: string;
};

export function codesToKeep({ lang }: Frame, { codes, action, form_token }: CodesProps): Html {
  const t = authenticatorSentences(lang);
  return html`<p>${t.once}</p>
    <figure>
      <figcaption>${t.list}</figcaption>
      <pre id="recovery-codes" tabindex="0" role="region" aria-label="${t.list}" data-copy="${copyWords(lang)}">
<code>${codes.join('\n')}</code></pre>
    </figure>
    <form method="post" action="${action}">
      ${hidden({ form_token, codes: codes.join(' ') })}
      <button class="button" id="recovery-download" name="action" value="download">${t.download}</button>
    </form>`;
}
