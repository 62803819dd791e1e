/** Revocation (RFC 7009): a client revokes a token of its own. Another's token is answered like an unknown one. */
import type { Deps } from '../deps.ts';
import { record, rowOf, type Actor, type Requester } from '../events/index.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import { transact, type Db, type Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../protocol/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import { readAccessTokenJwt } from './presented-token.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;

/** What revoking a token ends: its whole grant (§2.1), or the token alone where it has none. */
export interface Target {
  client_id: string;
  /** Undefined where only the grant knows it: the `sub` in a token may be pairwise. */
  sub?: string;
  gid?: string | undefined;
  jti?: string;
  end: (trx: Trx) => Promise<void>;
}

/** Revokes `token` if it is this client's; does nothing otherwise. The kind is found by looking: hints are not needed. */
export async function revoke(deps: Needs, client: Client, token: string, by: Requester, now: Date): Promise<void> {
  const target = await findTarget(deps, token, now);
  if (target?.client_id !== client.client_id) return;
  // A grant ends in one statement, with its event: that needs no transaction.
  if (target.gid !== undefined) await endGrant(deps.db, { ...target, gid: target.gid }, 'revocation', by, now);
  else await transact(deps.db, (trx) => endTarget(trx, target, 'revocation', by, now));
}

/** What would end with a token, whoever holds it; undefined for one that is unknown, or has expired. */
export const findTarget = (deps: Needs, token: string, now: Date): Promise<Target | undefined> =>
  token.includes('.') ? jwtTarget(deps, token, now) : handleTarget(deps, token, now);

type RevocationReason = 'revocation' | 'operator';

/** Ends it: the whole grant, or the one token that has none. */
export async function endTarget(trx: Trx, target: Target, why: RevocationReason, by: Actor, now: Date): Promise<void> {
  if (target.gid !== undefined) return endGrant(trx, { ...target, gid: target.gid }, why, by, now);
  await target.end(trx);
  await record(trx, endOf(target), by, now);
}

/** Ends the grant that a token belongs to, alone or in a transaction. */
const endGrant = (
  db: Db | Trx,
  target: Target & { gid: string },
  why: RevocationReason,
  by: Actor,
  now: Date,
): Promise<void> => grants.revokeWithEvent(db, target.gid, target.client_id, why, rowOf(endOf(target), by, now), now);

const endOf = ({ client_id, sub, gid, jti }: Target) => {
  const detail = { ...(gid !== undefined && { gid }), ...(jti !== undefined && { jti }) };
  return { event: 'authorization_revoked', sub: sub ?? null, client_id, detail } as const;
};

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
