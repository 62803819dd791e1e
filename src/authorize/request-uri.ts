/**
 * Request objects that clients publish (RFC 9101 §5.2, OpenID Connect Core §6.2): fetched from registered addresses
 * alone.
 */
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import { invalidRequestUri } from '../protocol/error.ts';
import { listOf } from '../protocol/redaction.ts';
import { MAX_REQUEST_OBJECT } from '../protocol/request-object.ts';
import type { Client } from '../store/clients.ts';

export interface RequestUris {
  /**
   * The object at a client's request_uri. @throws OAuthError invalid_request_uri, before any fetch when it is not
   * registered
   */
  fetchObject(client: Client, request_uri: string): Promise<string>;
}

const TTL_MS = 300_000;
const AGAIN_MS = 5_000;
const MAX_ATTEMPTS = 200;
const MAX_BYTES = 8 * 1024 * 1024;

/** RFC 9101 §5.2.3 names the first. Elsewhere it is a file: what proves it is its signature, but a page is no JWT. */
const MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/oauth-authz-req+jwt',
  'application/jwt',
  'application/jose',
  'application/octet-stream',
  'text/plain',
  '',
]);

/** Objects over the guarded outbound client. `now` is in milliseconds, monotonic. */
export function createRequestUris(fetch: Deps['fetch'], now: () => number): RequestUris {
  // OpenID Connect Core §6.2: a fragment stands for what the file holds, and changes with it. What comes without one may
  // change at any time, and is not kept. It need not be the hash it should be: the signature says whose the object is.
  const cache = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (text, uri) => text.length + uri.length,
    perf: { now },
    ttl: TTL_MS,
    ttlResolution: 0,
  });
  // The last attempt at each address, failed or not: strangers with made-up fragments cause one fetch in seconds.
  const attempts = new LRUCache<string, Promise<string>>({
    max: MAX_ATTEMPTS,
    perf: { now },
    ttl: AGAIN_MS,
    ttlResolution: 0,
  });

  return {
    async fetchObject({ request_uris, registered_by }, request_uri) {
      const address = withoutFragment(request_uri);
      if (!request_uris.some((uri) => withoutFragment(uri) === address)) {
        throw invalidRequestUri('request_uri is not registered for this client', {
          check: 'request_uri',
          expected: listOf(request_uris),
          received: request_uri,
        });
      }
      const trusted = registered_by === 'operator';
      const [key, attempt_key] = [`${trusted} ${request_uri}`, `${trusted} ${address}`];
      const cached = cache.get(key) ?? attempts.get(attempt_key);
      if (cached !== undefined) return cached;
      const fetched = load(fetch, address, trusted);
      attempts.set(attempt_key, fetched);
      const object = await fetched;
      if (address !== request_uri) cache.set(key, object);
      return object;
    },
  };
}

const withoutFragment = (uri: string): string => uri.split('#', 1)[0]!;

/** @throws OAuthError invalid_request_uri, the same whatever went wrong: the reason is in the cause */
async function load(fetch: Deps['fetch'], address: string, trusted: boolean): Promise<string> {
  try {
    const headers = { accept: 'application/oauth-authz-req+jwt, application/jwt;q=0.9, */*;q=0.1' };
    const { status, media_type, text } = await fetch(address, { headers, trusted, limit: MAX_REQUEST_OBJECT });
    if (status !== 200) throw new Error(`${address} answered ${status}`);
    if (!MEDIA_TYPES.has(media_type)) throw new Error(`${address} answered with ${media_type}`);
    // A file may end with a line break.
    return text.trim();
  } catch (cause) {
    throw invalidRequestUri('there is no request object at request_uri', { cause, check: 'request_uri' });
  }
}
