/** JSON bodies: bytes that are UTF-8, and text that can be kept. A lenient reader would make one password of many. */
import type { FastifyInstance } from 'fastify';
import { isStorableValue, readUtf8 } from '../protocol/plain-text.ts';

interface JsonBodies {
  types?: string[];
  bodyLimit?: number;
  /** An empty body is none; otherwise it is refused like any other that is not JSON. */
  empty?: boolean;
  /** The door's own refusal of a body. */
  refuse: (why: string) => Error;
}

/** Only in escapes can JSON that is UTF-8 hold them. */
const ESCAPED = /\\u(?:0000|d[89a-f])/i;

/** Has a scope read JSON. */
export function jsonBodies(
  app: FastifyInstance,
  { types = ['application/json'], bodyLimit, empty = false, refuse }: JsonBodies,
): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  const options = { parseAs: 'buffer', ...(bodyLimit !== undefined && { bodyLimit }) } as const;
  app.addContentTypeParser(types, options, (request, bytes: Buffer, done) => {
    const text = readUtf8(bytes);
    if (text === undefined) return done(refuse('the body is not UTF-8'));
    if (text === '' && empty) return done(null, undefined);
    return parse(request, text, (error, value: unknown) => {
      if (error) return done(error);
      const holds = !ESCAPED.test(text) || isStorableValue(value);
      return holds ? done(null, value) : done(refuse('the body holds U+0000 or half a surrogate pair'));
    });
  });
}
