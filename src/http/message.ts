/** What HTTP itself asks of a request, before any door reads it: what two readers would understand in two ways is refused. */
import type { FastifyInstance } from 'fastify';
import { invalidRequest, type OAuthError } from '../protocol/error.ts';

/** Of these Node keeps the first and drops the rest, where whoever stands before us may have read the last. No two are of one length. */
const SINGLE = ['host', 'authorization', 'content-type'];
const BY_LENGTH: ReadonlyArray<string | undefined> = Array.from({ length: 32 }, (_, length) =>
  SINGLE.find((name) => name.length === length),
);

/** A name or an address, and a port (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\dA-Fa-f:.]+\])(?::\d{0,5})?$/;

/** The code of a refusal of a body that is compressed, or otherwise coded. */
export const CONTENT_CODING = 'CONTENT_CODING';

/** We decode nothing: of a body that we cannot read, another reader could make something. */
class CodedContent extends Error {
  readonly statusCode = 415;
  readonly code = CONTENT_CODING;
}

/** Refuses messages that break the rules of HTTP where nobody but us would notice. */
export function requireHttp(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw } = request;
    const problem = headerProblem(raw.rawHeaders, headers.host);
    if (problem) return done(problem);
    const coding = headers['content-encoding'] ?? '';
    if (coding === '' || coding.toLowerCase() === 'identity') return done();
    // RFC 9110 §15.5.16: which would have been taken.
    reply.header('accept-encoding', 'identity');
    return done(new CodedContent(`content-encoding ${coding.slice(0, 40)}`));
  });
}

function headerProblem(rawHeaders: readonly string[], host: string | undefined): OAuthError | undefined {
  // One bit for each length.
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i]!;
    const name = BY_LENGTH[raw.length];
    if (name === undefined || raw.toLowerCase() !== name) continue;
    const bit = 1 << name.length;
    // RFC 9112 §3.2, RFC 9110 §5.3.
    if ((seen & bit) !== 0)
      return invalidRequest(`the header ${name} came twice`, { check: 'http', expected: `one ${name}` });
    seen |= bit;
  }
  return host === undefined || HOST.test(host)
    ? undefined
    : invalidRequest('the header host is malformed', { check: 'http', expected: 'a host, perhaps with a port' });
}
