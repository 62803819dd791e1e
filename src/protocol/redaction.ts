/** What may be kept and shown of what a caller sent: enough to see the mistake, never a secret, whatever parameter it came in. */
import { createHash } from 'node:crypto';

/** Characters kept of one text. */
export const MAX_SHOWN = 500;
/** Characters looked at: what lies beyond is cut before it costs anything. */
const MAX_READ = 2000;

/** Long enough, and mixed enough, to be a token, a code or a secret. */
const RUN = /[A-Za-z0-9_+=~-]{20,}/g;
const looksSecret = (run: string): boolean => /\d/.test(run) && /[A-Za-z]/.test(run);
/** The password of a URL, and what a query carries under these names. */
const IN_URL = /(\/\/[^/?#@\s:]*:)[^/?#@\s]*@/g;
const IN_QUERY = /((?:code|token|secret|password|assertion|verifier|key|state|nonce|session|sid)=)[^&#\s]*/gi;

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

/** Several values, as one text. */
export const listOf = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(' '));
