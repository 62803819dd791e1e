/** Recovery codes, the one time they are shown: to copy, to print, or as a file. */
import { hidden } from './form.ts';
import { copyWords } from './authenticator.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { copyButtons, sendOnce } from './script.ts';
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

/** The same with the way on. */
export const codesAndOn = (frame: Frame, codes: CodesProps, onward: string): Html =>
  html`${codesToKeep(frame, codes)}
    <div class="actions">
      <a class="button strong" id="second-factor-continue" href="${onward}"
        >${authenticatorSentences(frame.lang).go_on}</a
      >
    </div>`;

/** A page of its own for them. */
export function codesPage({ frame, codes, onward }: { frame: Frame; codes: CodesProps; onward: string }): Html {
  const { kept_title, kept_lead } = authenticatorSentences(frame.lang);
  const scripts = [sendOnce, copyButtons];
  return page(frame, { title: kept_title, heading: kept_title, lead: kept_lead, scripts, body: codesAndOn(frame, codes, onward) }); // prettier-ignore
}
