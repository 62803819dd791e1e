/** Moments as people read them, in their language and in UTC, as elements that programs read, too. */
import { dateIn, momentIn } from '../languages/intl.ts';
import type { Language } from '../languages/index.ts';
import { html, type Html } from './html.ts';

type At = Date | string;
const isoOf = (at: At): string | undefined => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};
const marked = (said: string, datetime: string | undefined): Html =>
  datetime === undefined ? html`${said}` : html`<time datetime="${datetime}">${said}</time>`;

/** `20 November 2025 at 19:23 UTC`. */
export const moment = (at: At, lang: Language): Html => marked(momentIn(lang, at), isoOf(at));

/** The day alone. */
export const day = (at: At, lang: Language): Html => marked(dateIn(lang, at), isoOf(at)?.slice(0, 10));
