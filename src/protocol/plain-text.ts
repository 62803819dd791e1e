/**
 * Text that can be stored and shown: no controls, no direction tricks, no half characters. Every door that reads text asks
 * here, so that what none of them lets in reaches no column.
 */

import { z } from 'zod';

/** Also finds U+0000 and lone surrogates that JSON has escaped. */
export const isPlainText = (text: string): boolean =>
  text.isWellFormed() && !/\p{C}/u.test(text) && !/\\u(?:0000|d[89a-f])/i.test(text);

/** Text of one or more lines, in any script: what controls a terminal is none. */
export const isReadableText = (text: string): boolean => text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text);

/** What an operator writes for people to read. */
export const readableText = (max: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\P{Cc}\t\n\r]*$/u, { message: NO_CONTROLS, abort: true })
    .refine(isReadableText, NO_CONTROLS);
const NO_CONTROLS = 'must hold no control characters';

/**
 * Is every character one? Postgres holds no U+0000, and half a surrogate pair becomes U+FFFD on its way there: two texts
 * that differ would be one.
 */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** The same of everything in a JSON value, the names of its members too, when nothing in it lies deeper than `deepest`. */
export function isStorableValue(value: unknown, deepest = Infinity): boolean {
  let level: unknown[] = [value];
  // Level by level: whoever nests deeper than the stack is read all the same.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return false;
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string' && !isStorable(item)) return false;
      if (typeof item !== 'object' || item === null) continue;
      for (const [name, member] of Object.entries(item)) {
        if (!isStorable(name)) return false;
        below.push(member);
      }
    }
    level = below;
  }
  return true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes as text. A lenient reader would put U+FFFD for whatever it cannot read. @throws TypeError when they are not UTF-8 */
export const decodeUtf8 = (bytes: Uint8Array): string => utf8.decode(bytes);

/** The same; undefined when they are not UTF-8. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes);
  } catch {
    return undefined;
  }
}
