/** Which language a request is answered in: what is known of its person's wishes, from the strongest to the weakest. */
import type { FastifyRequest } from 'fastify';
import { DEFAULT_LANGUAGE, isLanguage, lookUp, type Language } from '../languages/index.ts';

/** What somebody chose with the switch, and when. */
export interface Chosen {
  language: Language;
  at: Date;
}

/** What the doors find out about the wishes of a request's person. */
interface Wishes {
  /** By the switch of a page, in this browser. */
  chosen?: Chosen | undefined;
  /** What the application asked for (OpenID Connect Core §3.1.2.1), and when. */
  requested?: { ui_locales: readonly string[]; at: Date } | undefined;
  /** The person's own setting: their claim `locale`. */
  locale?: string | undefined;
}

const wishes = new WeakMap<FastifyRequest, Wishes>();

/** Notes something about whoever sent this request, before its page is made. */
export function noteWishes(request: FastifyRequest, found: Wishes): void {
  wishes.set(request, { ...wishes.get(request), ...found });
}

/**
 * The language of the page that answers a request. The switch goes first if it was used after the application asked: it is
 * the person, looking at that page. Then the application, which has just spoken with them; what they once chose
 * in this browser; what their account says; what the browser says.
 */
export function languageOf(request: FastifyRequest): Language {
  const { chosen, requested, locale } = wishes.get(request) ?? {};
  if (chosen && requested && chosen.at >= requested.at) return chosen.language;
  return (
    lookUp(requested?.ui_locales ?? uiLocalesOf(request)) ??
    chosen?.language ??
    lookUp(locale === undefined ? [] : [locale]) ??
    lookUp(acceptedBy(request.headers['accept-language'])) ??
    DEFAULT_LANGUAGE
  );
}

/** Any page may be linked to in a language. */
function uiLocalesOf({ url }: FastifyRequest): string[] {
  const query = url.indexOf('?');
  return query === -1 ? [] : listOfLocales(new URLSearchParams(url.slice(query)).get(UI_LOCALES));
}

/** The parameter by which a page is asked for in a language (OpenID Connect Core §3.1.2.1). */
export const UI_LOCALES = 'ui_locales';

const listOfLocales = (value: string | null): string[] => (value === null ? [] : value.split(' ').filter(Boolean));

/** The ranges of Accept-Language, the most wanted first (RFC 9110 §12.5.4). */
function acceptedBy(header: string | undefined): string[] {
  if (header === undefined || header.length > LONGEST_HEADER) return [];
  return header
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const q = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { range, weight: q === undefined ? 1 : Number(q) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
}
const LONGEST_HEADER = 1000;

/** A choice as its cookie keeps it: the language and the millisecond. */
export const writeChosen = ({ language, at }: Chosen): string => `${language}.${at.getTime()}`;

/** The choice in a cookie; undefined for anything that we did not write. */
export function readChosen(value: string | undefined): Chosen | undefined {
  const [, language, time] = /^([A-Za-z-]+)\.(\d{1,15})$/.exec(value ?? '') ?? [];
  return isLanguage(language) ? { language, at: new Date(Number(time)) } : undefined;
}

/**
 * The path with its query to which the switch comes back, as its form carries it: encoded, since no page repeats what a
 * stranger wrote into an address.
 */
export const writeReturn = (url: string): string => Buffer.from(url).toString('base64url');

/** The same, read. */
export const readReturn = (return_to: string): string => Buffer.from(return_to, 'base64url').toString();
