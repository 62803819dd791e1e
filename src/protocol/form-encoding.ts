/**
 * application/x-www-form-urlencoded, read strictly (RFC 6749 Appendix B): what a lenient parser would guess at is
 * refused here, because two readers that guess differently are how parameters get smuggled.
 */
import { invalidRequest, type OAuthError } from './error.ts';

/** Parameters in the order they came, decoded, repeats included. */
export type Pairs = ReadonlyArray<readonly [name: string, value: string]>;

const MAX_PARAMETERS = 200;
const FORM = { check: 'form' } as const;
// C0 controls and DEL except TAB, LF and CR. Postgres text cannot hold U+0000, and none of the others means anything here.
const CONTROL = /[^\P{Cc}\t\n\r\u0080-\u009F]/u;
/** Does a parameter's text hold a character that none may? */
export const hasControlCharacter = (text: string): boolean => CONTROL.test(text);

/**
 * Decodes a query string or a form body.
 * @throws OAuthError invalid_request on a raw non-ASCII or control byte, a bad percent escape, invalid UTF-8 or too
 * many parameters
 */
export function parseForm(text: string): Pairs {
  if (text === '') return [];
  // A bare space means nothing else, and is what people type after `curl -d`.
  if (/[^\x20-\x7E]/.test(text)) throw invalidRequest('the parameters must be percent-encoded', FORM);
  const parts = text.split('&');
  if (parts.length > MAX_PARAMETERS) throw invalidRequest('too many parameters', FORM);
  const pairs: Array<readonly [string, string]> = [];
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    // In what is printable, a control character can only be escaped.
    if (part.includes('%') && (hasControlCharacter(name) || hasControlCharacter(value)))
      throw invalidRequest('a parameter holds a control character', FORM);
    pairs.push([name, value]);
  }
  return pairs;
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest('a parameter is not valid percent-encoded UTF-8', FORM);
  }
}

/** Decodes one form-encoded value, as HTTP Basic carries them (RFC 6749 §2.3.1). */
export const decodeFormValue = decode;

/**
 * Parameters by name. A parameter may come once (RFC 6749 §3.1, §3.2), but for those a standard repeats
 * (`resource`, RFC 8707 §2); an empty value counts as omitted (§3.1).
 * @throws OAuthError invalid_request naming the repeated parameter
 */
export function uniqueParameters(
  pairs: Pairs,
  repeatable: ReadonlySet<string> = REPEATABLE,
): Record<string, string | string[]> {
  let empty: Set<string> | undefined;
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    if (repeatable.has(name)) {
      if (value === '') continue;
      const values = parameters[name];
      if (Array.isArray(values)) values.push(value);
      else parameters[name] = [value];
      continue;
    }
    if (name in parameters || empty?.has(name)) {
      throw invalidRequest(`the parameter ${printable(name)} is repeated`, { check: 'repeated' });
    }
    if (value === '') (empty ??= new Set()).add(name);
    else parameters[name] = value;
  }
  return parameters;
}

const REPEATABLE: ReadonlySet<string> = new Set(['resource']);

/**
 * Parameters by name, a repeated one as the list of its values: for /authorize, which has to know where the refusal of a
 * repeated parameter goes (RFC 6749 §4.1.2.1) before it refuses it. `repeatedParameter` finds it.
 */
export function listedParameters(pairs: Pairs): Record<string, string | string[]> {
  const names = new Set(pairs.map(([name]) => name));
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const name of names) {
    const values = pairs.flatMap((pair) => (pair[0] === name ? [pair[1]] : []));
    const sent = values.filter((value) => value !== '');
    if (REPEATABLE.has(name)) {
      if (sent.length > 0) parameters[name] = sent;
    } else if (values.length > 1) parameters[name] = values;
    else if (sent.length > 0) parameters[name] = sent[0]!;
  }
  return parameters;
}

/** The refusal of the first parameter that came more often than it may, if one did. */
export function repeatedParameter(parameters: Readonly<Record<string, string | string[]>>): OAuthError | undefined {
  const name = Object.keys(parameters).find((key) => Array.isArray(parameters[key]) && !REPEATABLE.has(key));
  return name === undefined
    ? undefined
    : invalidRequest(`the parameter ${printable(name)} is repeated`, { check: 'repeated' });
}

/** A parameter's name, fit for an error_description and the log: in the letters of a standard, which no secret of ours is. */
function printable(name: string): string {
  return /^[a-z_]{1,40}$/.test(name) ? name : '(unprintable)';
}
