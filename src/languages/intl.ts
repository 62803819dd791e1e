/** Numbers, plurals, dates and lists as each language writes them (ECMA-402). What formats is made once and kept. */
import type { Language } from './index.ts';

const kept = new Map<string, unknown>();
function keep<T>(kind: string, language: Language, make: () => T): T {
  const key = `${kind} ${language}`;
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key) as T;
}

/** English dates have the day first: most of the world that reads them does. Arabic ones have the digits of our addresses and codes. */
const localeOf = (language: Language): string =>
  language === 'en' ? 'en-GB' : language === 'ar' ? 'ar-u-nu-latn' : language;

export const numberIn = (language: Language): ((value: number) => string) =>
  keep('number', language, () => {
    const format = new Intl.NumberFormat(localeOf(language));
    return (value) => format.format(value);
  });

/** The same with every digit there is: of an amount none may be lost. */
export const exactNumberIn = (language: Language): ((value: number) => string) =>
  keep('exact', language, () => {
    const format = new Intl.NumberFormat(localeOf(language), { maximumFractionDigits: 20 });
    return (value) => format.format(value);
  });

export const pluralIn = (language: Language): ((count: number) => Intl.LDMLPluralRule) =>
  keep('plural', language, () => {
    const rules = new Intl.PluralRules(language);
    return (count) => rules.select(count);
  });

/** A moment: Date, milliseconds, or a string as `Date.parse` reads it. */
export type Moment = Date | number | string;

const timeOf = (moment: Moment): number =>
  typeof moment === 'string' ? Date.parse(moment) : typeof moment === 'number' ? moment : moment.getTime();

function formatted(kind: string, options: Intl.DateTimeFormatOptions) {
  return (language: Language, moment: Moment, time_zone = 'UTC'): string => {
    const time = timeOf(moment);
    if (Number.isNaN(time)) return '–';
    // What is no zone has no formats kept: anybody may have written it.
    const timeZone = isTimeZone(time_zone) ? time_zone : 'UTC';
    const make = () => new Intl.DateTimeFormat(localeOf(language), { ...options, timeZone });
    return keep(`${kind} ${timeZone}`, language, make).format(time);
  };
}

/** A day, such as 20 November 2025. */
export const dateIn = formatted('date', { dateStyle: 'long' });

/** A day and a time, with the zone they are in. */
export const momentIn = formatted('moment', {
  year: 'numeric',
  month: 'long',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How long ago, or how soon: “3 hours ago”, “yesterday”, “in 2 days”. */
export function agoIn(language: Language, moment: Moment, now: Moment): string {
  const seconds = (timeOf(moment) - timeOf(now)) / 1000;
  if (Number.isNaN(seconds)) return '–';
  const format = keep('ago', language, () => new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'auto' }));
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const);
  return format.format(unit === 'second' ? 0 : Math.trunc(seconds / length), unit);
}

const DAY = 86_400;

/** How long something lasts: “7 days”, “10 minutes”. */
export function durationIn(language: Language, seconds: number): string {
  const [unit, amount] = seconds >= 2 * DAY ? (['day', seconds / DAY] as const) : (['minute', seconds / 60] as const);
  const make = () => new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' });
  return keep(`duration ${unit}`, language, make).format(Math.max(1, Math.round(amount)));
}

/** Things as a list, “a, b and c”; what is no text, such as markup, keeps its place in it. */
export function listIn<T>(language: Language, items: readonly T[]): ReadonlyArray<string | T> {
  const format = keep('list', language, () => new Intl.ListFormat(localeOf(language), { type: 'conjunction' }));
  return format
    .formatToParts(items.map((_, index) => String(index)))
    .map(({ type, value }) => (type === 'element' ? items[Number(value)]! : value));
}
