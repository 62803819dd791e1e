/**
 * URIs as RFC 3986 writes them. A parser of URLs mends what it is given (line breaks fall out, backslashes turn, spaces are
 * escaped), so that two readers see two addresses: here such text is no URI.
 */
import { z } from 'zod';

/** Longest that is registered, in characters. */
export const MAX_URI = 2000;

/** Is each character one that a URI can hold (RFC 3986 §2)? */
export const isUriText = (text: string): boolean => /^[\x21-\x7E]+$/.test(text) && !/["<>\\^`{|}]/.test(text);

/** Why this is no address on the web that can be registered, or undefined when it is one. */
export function webUriProblem(text: string, schemes: 'https' | 'http(s)' = 'http(s)'): string | undefined {
  if (!isUriText(text)) return 'must hold URI characters only';
  const scheme = /^(https?):\/\/[^/?#]/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(text)) return `must be an ${schemes} URL`;
  if (schemes === 'https' && scheme !== 'https') return 'must use https';
  const { username, password } = new URL(text);
  return username === '' && password === '' ? undefined : 'must not hold user information';
}

/** An address on the web, as a member of a document. */
export const webUri = (schemes?: 'https'): z.ZodString =>
  z
    .string()
    .max(MAX_URI)
    .check((context) => {
      const problem = webUriProblem(context.value, schemes);
      if (problem !== undefined) context.issues.push({ code: 'custom', message: problem, input: context.value });
    })
    .meta({ format: 'uri', pattern: WRITTEN });

/** As much of it as a pattern can say. */
const WRITTEN = "^[Hh][Tt][Tt][Pp][Ss]?://[!$%&()*+,.0-9:;=@A-Z\\[\\]_a-z~'-][!#$%&()*+,./0-9:;=?@A-Z\\[\\]_a-z~'-]*$";
