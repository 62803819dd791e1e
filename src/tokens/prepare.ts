/** Draws the handles of refresh tokens before the store sees them: only their hashes go there. */
import type { Deps } from '../deps.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { Client } from '../store/clients.ts';
import { handleFrom, type HandleKey } from '../protocol/handle.ts';

export interface PreparedRefreshToken {
  /** The token itself, for the answer. */
  refresh_token: string;
  hash: Buffer;
  /** When it lapses unused; the grant's own end may come before. */
  expires_at: Date;
  /** The key and salt it was derived with, where it may have to be derived again for a client that lost the answer. */
  retry: { key: string; salt: Buffer } | null;
}

type Needs = Pick<Deps, 'config' | 'random' | 'secrets'>;

const idleEnd = ({ config }: Needs, client: Client, now: Date): Date =>
  secondsAfter(now, client.refresh_token_idle_ttl ?? config.REFRESH_TOKEN_IDLE_TTL);

/** The first refresh token of a grant, in the grant's bucket; null for a client that is not registered to refresh. */
export const drawRefreshToken = (
  deps: Needs,
  client: Client,
  expires_bucket: number,
  now: Date,
): PreparedRefreshToken | null =>
  client.grant_types.includes('refresh_token') ? drawAny(deps, client, expires_bucket, now) : null;

function drawAny(deps: Needs, client: Client, expires_bucket: number, now: Date): PreparedRefreshToken {
  const { handle, hash } = handleFrom(expires_bucket, deps.random(32));
  return { refresh_token: handle, hash, expires_at: idleEnd(deps, client, now), retry: null };
}

/**
 * The successor of a presented token. With a retry window it is derived from that token, a salt and a key of ours, so that
 * it can be given again to a client that lost the answer, while nothing but hashes is stored.
 */
export function drawSuccessor(
  deps: Needs,
  client: Client,
  presented: { refresh_token: string; key: HandleKey },
  now: Date,
): PreparedRefreshToken {
  const { expires_bucket } = presented.key;
  if (deps.config.REFRESH_TOKEN_RETRY_WINDOW === 0) return drawAny(deps, client, expires_bucket, now);
  const salt = deps.random(16);
  const { handle, hash } = handleFrom(expires_bucket, deps.secrets.mac('retry', [salt, presented.refresh_token]));
  const retry = { key: deps.secrets.name, salt };
  return { refresh_token: handle, hash, expires_at: idleEnd(deps, client, now), retry };
}

/** Derives that successor again; undefined when the key is gone from SECRET_KEYS, or the hash is another. */
export function rederiveSuccessor(
  { secrets }: Pick<Deps, 'secrets'>,
  presented: { refresh_token: string; key: HandleKey },
  { retry_key, retry_salt, successor_hash }: { retry_key: string; retry_salt: Buffer; successor_hash: Buffer },
): string | undefined {
  const mac = secrets.macNamed('retry', [retry_salt, presented.refresh_token], retry_key);
  const successor = mac && handleFrom(presented.key.expires_bucket, mac);
  return successor?.hash.equals(successor_hash) ? successor.handle : undefined;
}
