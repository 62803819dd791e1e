/** Inspection of any token for an operator: what it is, whether it is active, and everything that is wrong with it if not. */
import type { Deps } from '../deps.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import type { TokenFormat } from '../protocol/token-format.ts';
import * as accessTokens from '../store/access-tokens.ts';
import * as grants from '../store/grants.ts';
import { readHandle, type HandleKey } from '../protocol/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import * as sessions from '../store/sessions.ts';
import { refreshable } from './introspect.ts';
import { BUILT_IN_CLIENT } from './login-token.ts';
import { readSignedJwt, type PresentedToken } from './presented-token.ts';
import { rulesOf } from './rules.ts';
import { isCalledBack, scopeOf, verifyAccessToken } from './verify.ts';

/** What can be wrong with a token; several can be at once. */
export const FAULTS = {
  unknown: 'nothing of ours: forged, malformed, of another issuer, or long removed',
  expired: 'its time is over',
  revoked: 'it was itself revoked',
  used: 'a refresh token that was exchanged for its successor',
  grant_revoked: 'the grant it belongs to was revoked',
  grant_expired: 'the grant it belongs to ran out',
  grant_gone: 'the grant it belongs to is kept no longer',
  session_ended: 'the session it belongs to has ended',
  client_deleted: 'its client is no longer registered',
  called_back: 'it is older than the moment its client was disabled, or lost a secret or a key',
  scope_closed: 'its client may have nothing of its scope any more, or not in this way',
  key_retired: 'the key that signed it counts no longer',
} as const;

export type Fault = keyof typeof FAULTS;

/** A token, as far as it is known. The `sub` is the real one where the grant is still there to say it. */
export interface Inspection {
  active: boolean;
  faults: Fault[];
  kind?: 'access_token' | 'refresh_token';
  format?: TokenFormat;
  client_id?: string | undefined;
  sub?: string | undefined;
  scope?: readonly string[] | undefined;
  aud?: readonly string[];
  jti?: string;
  sid?: string | undefined;
  issued_at?: Date;
  expires_at?: Date;
  grant?: grants.Grant | undefined;
}

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;
const UNKNOWN: Inspection = { active: false, faults: ['unknown'] };

/** Looks a token up, whatever its kind. It is active if, and only if, it would be accepted. */
export async function inspect(deps: Needs, token: string, now: Date): Promise<Inspection> {
  if (token.includes('.')) return inspectJwt(deps, token, now);
  const key = readHandle(token);
  if (!key) return UNKNOWN;
  return (await inspectOpaque(deps, token, key, now)) ?? (await inspectRefreshToken(deps, key, now)) ?? UNKNOWN;
}

async function inspectJwt(deps: Needs, token: string, now: Date): Promise<Inspection> {
  const read = await readSignedJwt(deps, token, now, { retired: true });
  if (!read) return UNKNOWN;
  const { claims, expired } = read;
  const { gid, client_id, scope, aud, jti, iat, exp } = claims;
  const grant = gid === undefined ? undefined : await grants.find(deps.db, gid);
  const faults = faultsOf({
    expired,
    revoked: gid === undefined && (await accessTokens.isRevoked(deps.db, jti)),
    ...(gid !== undefined && grantFaults(grant, now)),
    client_deleted: await isDeleted(deps, client_id),
    called_back: await wasCalledBack(deps, claims),
    scope_closed: await isClosed(deps, claims),
  });
  const active = (await verifyAccessToken(deps, token, now)) !== undefined;
  return {
    ...withFaults(active, faults, 'key_retired'),
    kind: 'access_token',
    format: 'jwt',
    client_id,
    sub: grant?.sub ?? claims.sub,
    scope,
    aud,
    jti,
    sid: grant?.sid,
    issued_at: new Date(iat * 1000),
    expires_at: new Date(exp * 1000),
    grant,
  };
}

async function inspectOpaque(deps: Needs, token: string, key: HandleKey, now: Date): Promise<Inspection | undefined> {
  const row = await accessTokens.find(deps.db, key);
  if (!row) return undefined;
  const { grant_id, client_id, sub, scope, aud, jti, created_at, expires_at } = row;
  const grant = grant_id === null ? undefined : await grants.find(deps.db, grant_id);
  const session = grant_id === null && row.sid !== null ? await sessions.find(deps.db, row.sid) : undefined;
  const faults = faultsOf({
    expired: expires_at <= now,
    revoked: row.revoked_at !== null,
    ...(grant_id !== null && grantFaults(grant, now)),
    session_ended: grant_id === null && row.sid !== null && (!session || session.ended_at !== null),
    client_deleted: await isDeleted(deps, client_id),
    called_back: await wasCalledBack(deps, {
      client_id,
      sub,
      gid: grant_id ?? undefined,
      iat: numericDate(created_at),
    }),
    scope_closed: await isClosed(deps, { client_id, sub, gid: grant_id ?? undefined, scope, aud }),
  });
  const active = (await verifyAccessToken(deps, token, now)) !== undefined;
  return {
    ...withFaults(active, faults, 'session_ended'),
    kind: 'access_token',
    format: 'opaque',
    client_id,
    sub,
    scope,
    aud,
    jti,
    sid: row.sid ?? grant?.sid,
    issued_at: created_at,
    expires_at,
    grant,
  };
}

async function inspectRefreshToken(deps: Needs, key: HandleKey, now: Date): Promise<Inspection | undefined> {
  const row = await refreshTokens.find(deps.db, key);
  if (!row) return undefined;
  const grant = await grants.find(deps.db, row.grant_id);
  const client = grant && (await deps.directory.client(grant.client_id));
  const scope_closed = client !== undefined && refreshable(grant!, client, await deps.directory.scopes()).length === 0;
  const faults = faultsOf({
    expired: row.expires_at <= now,
    used: row.used_at !== null,
    ...grantFaults(grant, now),
    scope_closed,
  });
  const active = !scope_closed && (await refreshTokens.findLive(deps.db, key, now)) !== undefined;
  return {
    ...withFaults(active, faults, 'grant_gone'),
    kind: 'refresh_token',
    format: 'opaque',
    client_id: grant?.client_id,
    sub: grant?.sub,
    scope: grant?.scope,
    sid: grant?.sid,
    issued_at: row.created_at,
    expires_at: row.expires_at,
    grant,
  };
}

const grantFaults = (grant: grants.Grant | undefined, now: Date): Partial<Record<Fault, boolean>> => ({
  grant_gone: grant === undefined,
  grant_revoked: grant !== undefined && grant.revoked_at !== null,
  grant_expired: grant !== undefined && grant.expires_at <= now,
});

const isDeleted = async ({ directory }: Needs, client_id: string): Promise<boolean> =>
  client_id !== BUILT_IN_CLIENT && (await directory.client(client_id)) === undefined;

async function wasCalledBack(
  { directory }: Needs,
  token: Pick<PresentedToken, 'client_id' | 'sub' | 'gid' | 'iat'>,
): Promise<boolean> {
  const client = await directory.client(token.client_id);
  return client !== undefined && isCalledBack(client, token);
}

/** Is none of its scope open to its client any more? A deleted client is another fault. */
async function isClosed(deps: Needs, token: Parameters<typeof scopeOf>[0]): Promise<boolean> {
  const client = await deps.directory.client(token.client_id);
  return client !== undefined && token.scope.length > 0 && scopeOf(token, client, await rulesOf(deps)).length === 0;
}

const faultsOf = (found: Partial<Record<Fault, boolean>>): Fault[] =>
  (Object.keys(FAULTS) as Fault[]).filter((fault) => found[fault] === true);

/** `active` is what verification decided. The faults explain it, `otherwise` being the one where none was found. */
const withFaults = (active: boolean, faults: Fault[], otherwise: Fault): Pick<Inspection, 'active' | 'faults'> => ({
  active,
  faults: active ? [] : faults.length > 0 ? faults : [otherwise],
});
