import { html, type Html } from './html.ts';

/** What a form carries and nobody sees. */
export const hidden = (fields: Record<string, string>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;
