/** The pieces that forms share. */
import { html, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { frameSentences } from './sentences/frame.ts';

export { hidden } from './hidden.ts';

/** The contract: a form shown again with a problem says so in its title. */
export const titled = ({ lang }: Frame, title: string, problem: string | undefined): string =>
  problem === undefined ? title : frameSentences(lang).error_title({ title });

/** On top of a form, a link to the field it is about. All browsers since 2023 focus it, without a script of ours. */
export const problemSummary = ({ lang }: Frame, problem: string | undefined, field: string): Html | false =>
  problem !== undefined &&
  html`<div class="note problem" id="problem" role="alert" tabindex="-1" autofocus>
    <h2>${frameSentences(lang).problem}</h2>
    <a href="#${field}">${problem}</a>
  </div>`;

/** In development, where the mail that a page speaks of can be read. */
export const devMail = (mail_url: string | undefined): Html | false =>
  mail_url !== undefined &&
  html`<p class="small beyond">
    <a id="dev-mail" href="${mail_url}"><code>/dev/mail</code></a>
  </p>`;

/** Below the form: what to tell those who run the server, who can look it up (`postern explain`). */
export const problemDetails = ({ lang }: Frame, request_id: string | undefined): Html | false =>
  request_id !== undefined &&
  html`<details class="small">
    <summary>${frameSentences(lang).support}</summary>
    <p class="muted">${frameSentences(lang).request_id}: <code>${request_id}</code></p>
  </details>`;

/** The same words beside the field. */
export const problemAt = (problem: string | undefined, field: string): Html | false =>
  problem !== undefined && html`<p class="wrong" id="${field}-problem">${problem}</p>`;

export const problemAttributes = (problem: string | undefined, field: string): Html | false =>
  problem !== undefined && html` aria-invalid="true" aria-describedby="${field}-problem"`;
