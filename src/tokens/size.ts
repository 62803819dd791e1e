/** How large tokens get: they travel in headers, cookies and URLs, which proxies cut off. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { invalidScope, type OAuthError } from '../protocol/error.ts';

type TokenKind = 'access_token' | 'id_token';

/** The budget of tokens that hold claims: JWTs, encrypted or not. */
export interface TokenSizes {
  /** Warns in the log, once a minute for each client. @throws OAuthError invalid_scope: too large to be given */
  check(client_id: string, token: TokenKind, jwt: string): void;
}

const QUIET_MS = 60_000;
const MAX_CLIENTS = 10_000;

/** `now` is in milliseconds, monotonic. */
export function createTokenSizes(
  { TOKEN_SIZE_WARN, TOKEN_SIZE_MAX }: Pick<Config, 'TOKEN_SIZE_WARN' | 'TOKEN_SIZE_MAX'>,
  log: Logger,
  now: () => number,
): TokenSizes {
  const warned = new LRUCache<string, true>({ max: MAX_CLIENTS, perf: { now }, ttl: QUIET_MS, ttlResolution: 0 });
  return {
    check(client_id, token, jwt) {
      // Base64url: a character is a byte.
      const bytes = jwt.length;
      if (TOKEN_SIZE_MAX > 0 && bytes > TOKEN_SIZE_MAX) throw tooLarge(token, bytes, TOKEN_SIZE_MAX);
      const key = `${token} ${client_id}`;
      if (TOKEN_SIZE_WARN === 0 || bytes <= TOKEN_SIZE_WARN || warned.has(key)) return;
      warned.set(key, true);
      log.warn({ event: 'token_large', client_id, kind: token, bytes }, 'a token is larger than TOKEN_SIZE_WARN');
    },
  };
}

/** The same code or refresh token works once the person is in fewer groups. */
const tooLarge = (token: TokenKind, bytes: number, most: number): OAuthError =>
  invalidScope('the tokens would be larger than this server gives: ask for less scope', {
    check: 'token_size',
    expected: `at most ${most} bytes (TOKEN_SIZE_MAX)`,
    received: `${bytes} bytes`,
    cause: `the ${token} would have ${bytes} bytes, and TOKEN_SIZE_MAX is ${most}`,
  });
