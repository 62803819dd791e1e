/** The pieces that forms share. */
import { html, type Html } from './html.ts';

export const hidden = (fields: Record<string, string>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;

/** The contract: a form shown again with a problem says so in its title. */
export const titled = (title: string, problem: string | undefined): string =>
  problem === undefined ? title : `Error: ${title}`;

/** On top of a form, a link to the field it is about. All browsers since 2023 focus it, without a script of ours. */
export const problemSummary = (problem: string | undefined, field: string): Html | false =>
  problem !== undefined &&
  html`<div class="note problem" id="problem" role="alert" tabindex="-1" autofocus>
    <h2>There is a problem</h2>
    <a href="#${field}">${problem}</a>
  </div>`;

/** Below the form: what to tell those who run the server, who can look it up (`postern explain`). */
export const problemDetails = (request_id: string | undefined): Html | false =>
  request_id !== undefined &&
  html`<details class="small">
    <summary>Details for support</summary>
    <p class="muted">Request id: <code>${request_id}</code></p>
  </details>`;

/** The same words beside the field. */
export const problemAt = (problem: string | undefined, field: string): Html | false =>
  problem !== undefined && html`<p class="wrong" id="${field}-problem">${problem}</p>`;

export const problemAttributes = (problem: string | undefined, field: string): Html | false =>
  problem !== undefined && html` aria-invalid="true" aria-describedby="${field}-problem"`;
