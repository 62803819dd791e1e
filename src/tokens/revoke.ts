/** Revocation (RFC 7009): a client gives back what it holds. Another's token is answered like an unknown one. */
import type { Deps } from '../deps.ts';
import { record, rowOf, type Actor, type Requester } from '../events/index.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import { transact, type Trx } from '../store/db.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../store/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import { readAccessTokenJwt } from './verify.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;

/** What a token hangs from: a grant, which dies whole (§2.1), or nothing but itself. */
export interface Target {
  client_id: string;
  /** Undefined where only the grant knows it: a token says what its client is told. */
  sub?: string;
  gid?: string | undefined;
  jti?: string;
  end: (trx: Trx) => Promise<void>;
}

/** Revokes `token` if it is this client's; does nothing otherwise. The kind is found by looking: hints are not needed. */
export async function revoke(deps: Needs, client: Client, token: string, by: Requester, now: Date): Promise<void> {
  const target = await findTarget(deps, token, now);
  if (target?.client_id === client.client_id) await endTarget(deps, target, 'revocation', by, now);
}

/** What would end with a token, whoever holds it; undefined for one that is unknown, or has expired. */
export const findTarget = (deps: Needs, token: string, now: Date): Promise<Target | undefined> =>
  token.includes('.') ? jwtTarget(deps, token, now) : handleTarget(deps, token, now);

/** Ends it: the whole grant, or the one token that has none. */
export async function endTarget(
  { db }: Pick<Deps, 'db'>,
  { client_id, sub, gid, jti, end }: Target,
  why: 'revocation' | 'operator',
  by: Actor,
  now: Date,
): Promise<void> {
  const detail = { ...(gid !== undefined && { gid }), ...(jti !== undefined && { jti }) };
  const event = { event: 'authorization_revoked', sub: sub ?? null, client_id, detail } as const;
  if (gid !== undefined) return grants.revokeNoting(db, gid, client_id, why, rowOf(event, by, now), now);
  await transact(db, async (trx) => {
    await end(trx);
    await record(trx, event, by, now);
  });
}

async function jwtTarget(deps: Needs, token: string, now: Date): Promise<Target | undefined> {
  const claims = await readAccessTokenJwt(deps, token, now);
  if (!claims) return undefined;
  const expires_at = new Date(claims.exp * 1000);
  const { client_id, sub, gid, jti } = claims;
  return {
    client_id,
    ...(gid === undefined && { sub }),
    gid,
    jti,
    end: (trx) => accessTokens.revokeJti(trx, jti, expires_at),
  };
}

async function handleTarget({ db }: Needs, token: string, now: Date): Promise<Target | undefined> {
  const key = readHandle(token);
  if (!key) return undefined;
  const refresh = await refreshTokens.grantOf(db, key, now);
  if (refresh) return { ...refresh, gid: refresh.grant_id, end: async () => {} };
  const access = await accessTokens.find(db, key);
  if (!access) return undefined;
  const { client_id, sub, jti } = access;
  return { client_id, sub, jti, gid: access.grant_id ?? undefined, end: (trx) => accessTokens.revoke(trx, key, now) };
}
