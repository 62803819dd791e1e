/** What may be kept and shown of what a caller sent: enough to see the mistake, never a secret, whatever parameter it came in. */
import { createHash } from 'node:crypto';

/** Characters kept of one text. */
export const MAX_SHOWN = 500;
/** Characters looked at: what lies beyond is cut before it costs anything. */
const MAX_READ = 2000;

/** Long enough, and mixed enough, to be a token, a code or a secret. */
const RUN = /[A-Za-z0-9_+=~-]{16,}/g;
const looksSecret = (run: string): boolean => /\d/.test(run) && /[A-Za-z]/.test(run);
/** The password of a URL, and what a query carries under these names. */
const IN_URL = /(\/\/[^/?#@\s:]*:)[^/?#@\s]*@/g;
const IN_QUERY = /((?:code|token|secret|password|assertion|verifier|key|state|nonce|session|sid)=)[^&#\s]*/gi;
/** Whatever else stands in the query of an address, and is longer than a flag. */
const VALUE = /([?&][^=&#\s"]{1,60}=)([^&#\s"]{6,})/g;

/** Printable, bounded text: nothing in it steers a terminal, and Postgres can hold it. */
export function printable(text: string, max: number = MAX_SHOWN): string {
  const clean = text.slice(0, MAX_READ).toWellFormed().replaceAll(/\p{C}/gu, '\u{FFFD}');
  return clean.length > max ? `${clean.slice(0, max).toWellFormed()}…` : clean;
}

/**
 * What a caller sent, fit to be kept. Whatever could be a secret is replaced by its length, unless `ours` has it too: then
 * it is a registered value that anybody may see.
 */
export function redact(text: string, ours = ''): string {
  // What is cut in the middle of a run would be too short to be recognised.
  const read =
    text.length > MAX_READ ? text.slice(0, MAX_READ).replace(/(?<![A-Za-z0-9_+=~-])[A-Za-z0-9_+=~-]*$/, '') : text;
  const masked = read
    .replaceAll(IN_URL, '$1(hidden)@')
    .replaceAll(IN_QUERY, '$1(hidden)')
    .replaceAll(VALUE, (all, name: string, value: string) =>
      ours.includes(value) || value === '(hidden)' ? all : `${name}(hidden)`,
    )
    .replaceAll(RUN, (run) => (looksSecret(run) && !ours.includes(run) ? `(${run.length} characters)` : run));
  return printable(masked);
}

/** Of a secret: that it is there, and how long. */
export const sizeOf = (secret: string | null | undefined): string =>
  secret === undefined || secret === null || secret === '' ? 'none' : `${secret.length} characters`;

const HANDLE = /^[0-9a-z]{1,6}_[A-Za-z0-9_-]{43}$/;
const JWT = /^[\w-]{10,}\.[\w-]{10,}\.[\w-]*$/;

/**
 * Of a code or a token: its kind, and where it has 256 random bits a short fingerprint, by which two requests with the same
 * one are recognised.
 */
export function kindOf(token: string | undefined): string {
  if (token === undefined || token === '') return 'none';
  const fingerprint = createHash('sha256').update(token).digest('hex').slice(0, 8);
  if (HANDLE.test(token)) return `a handle of ours, fingerprint ${fingerprint}`;
  return JWT.test(token) ? `a JWT, fingerprint ${fingerprint}` : `${token.length} characters that are no token of ours`;
}

/**
 * Of a name that nobody has: what it may be instead. Ids and secrets are swapped, so that what is no id may be a secret.
 */
export const strangeName = (name: string): string =>
  HANDLE.test(name) || JWT.test(name) ? kindOf(name) : `a name of ${name.length} characters`;

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
/** What proxies make, and we never do: a UUID, perhaps after what it is of; a W3C trace id; a ULID; AWS's trace id. */
const COMMON_ID =
  /^(?:(?:[a-z]{1,12}[_-])?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32}|[0-7][\da-hjkmnp-tv-z]{25}|(?:root=)?1-[\da-f]{8}-[\da-f]{24})$/i;
/** A host, what its process drew, and a count. */
const COUNTED_ID = /^[a-z\d][a-z\d.-]{0,62}\/[a-z\d]{1,12}-\d{6,12}$/i;

/** An id that others gave a request, when it is fit to be kept beside ours; undefined for what could be a secret. */
export function foreignId(id: unknown): string | undefined {
  if (typeof id !== 'string') return undefined;
  if (COMMON_ID.test(id) || COUNTED_ID.test(id)) return id;
  return REQUEST_ID.test(id) && !/[\w-]{24,}/.test(id) ? id : undefined;
}

/** Several values, as one text. */
export const listOf = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(' '));
