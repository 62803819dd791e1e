/** Moments as people read them, in their language. All of them are told in UTC, which is said beside them. */
import { html, type Html } from './html.ts';

const timeOf = (at: Date | string): number => (typeof at === 'string' ? Date.parse(at) : at.getTime());

/** `20 November 2025 at 19:23 UTC`, as an element that programs read, too. */
export function moment(at: Date | string, lang = 'en-GB'): Html {
  const time = timeOf(at);
  if (Number.isNaN(time)) return html`unknown`;
  const format = new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return html`<time datetime="${new Date(time).toISOString()}">${format.format(time)} UTC</time>`;
}

/** The day alone. */
export function day(at: Date | string, lang = 'en-GB'): Html {
  const time = timeOf(at);
  if (Number.isNaN(time)) return html`unknown`;
  const format = new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeZone: 'UTC' });
  return html`<time datetime="${new Date(time).toISOString().slice(0, 10)}">${format.format(time)}</time>`;
}
