/** Access tokens that have rows: opaque ones while they live, and JWTs without a grant that were revoked. */
import type { Selectable } from 'kysely';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import { cnfColumn, type Confirmation } from '../protocol/confirmation.ts';
import type { PersonClaims } from '../protocol/claims.ts';
import { detailsColumn, type Json, type Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { bucketOfId, type HandleKey } from '../protocol/handle.ts';
import { isLive, type Grant } from './grants.ts';
import type { Memberships } from './memberships.ts';
import { around } from './postgres/partitions.ts';
import { read, write } from './postgres/pipeline.ts';
import { prepared } from './postgres/prepared.ts';

/** Each row is an opaque access token. */
export interface AccessTokensTable {
  expires_bucket: number;
  hash: Buffer;
  jti: string;
  client_id: string;
  sub: string;
  scope: string[];
  aud: string[];
  grant_bucket: Nullable<number>;
  grant_id: Nullable<string>;
  sid: Nullable<string>;
  auth_time: Nullable<Date>;
  acr: Nullable<string>;
  amr: Nullable<string[]>;
  cnf: Json<Nullable<Confirmation>>;
  authorization_details: Json<Nullable<readonly AuthorizationDetail[]>>;
  created_at: Date;
  expires_at: Date;
  revoked_at: Nullable<Date>;
}

/** Each row is a JWT without a grant that was revoked. */
export interface RevokedTokensTable {
  expires_bucket: number;
  jti: string;
  expires_at: Date;
}

/** The claims and memberships of a token's person, for a resource that registered for them. */
interface Member {
  claims: PersonClaims;
  memberships: Memberships;
}

export type OpaqueToken = Omit<Selectable<AccessTokensTable>, 'revoked_at'>;

/** Writes an opaque access token for which nothing is spent. */
export async function insert(db: Db | Trx, t: OpaqueToken): Promise<void> {
  await write(
    db,
    prepared`
      insert into access_tokens (expires_bucket, hash, jti, client_id, sub, scope, aud, grant_bucket, grant_id, sid,
        auth_time, acr, amr, cnf, authorization_details, created_at, expires_at)
      values (${t.expires_bucket}, ${t.hash}, ${t.jti}, ${t.client_id}, ${t.sub}, ${t.scope}, ${t.aud}, ${t.grant_bucket},
        ${t.grant_id}, ${t.sid}, ${t.auth_time}, ${t.acr}, ${t.amr},
        ${cnfColumn(t.cnf)}::jsonb, ${detailsColumn(t.authorization_details)}::jsonb, ${t.created_at}, ${t.expires_at})`,
    'no row',
  );
}

/** With what its grant still has, null for one without a grant; and with its person, where that was asked for. */
export type LiveToken = Omit<OpaqueToken, 'expires_bucket' | 'hash' | 'grant_bucket' | 'sid'> &
  Pick<Grant, 'requested_claims'> & {
    granted: Pick<Grant, 'scope' | 'resource' | 'sector'> | null;
    member: Member | null;
  };

/**
 * An opaque token that works now: not revoked, and neither its grant nor its session has ended. What its person belongs to
 * is read where all its audiences are among those that ask for it.
 */
export async function findLive(
  db: Db,
  key: HandleKey,
  now: Date,
  asking: readonly string[] = [],
): Promise<LiveToken | undefined> {
  const [token] = await read(
    db,
    prepared<LiveToken>`
    select t.jti, t.client_id, t.sub, t.scope, t.aud, t.grant_id, t.auth_time, t.acr, t.amr, t.cnf, t.authorization_details,
      t.created_at, t.expires_at,
      g.requested_claims,
      case when t.grant_id is not null then json_build_object('scope', g.scope, 'resource', g.resource, 'sector', g.sector) end as granted,
      case when t.grant_id is not null and ${asking}::text[] <> '{}' and t.aud <@ ${asking}::text[] then (
        select json_build_object('claims', u.claims, 'memberships', memberships_of(u.sub))
        from users u where u.sub = t.sub) end as member
    from access_tokens t
    left join grants g on g.expires_bucket = t.grant_bucket and g.grant_id = t.grant_id
    where t.expires_bucket = ${key.expires_bucket} and t.hash = ${key.hash}
      and ${around('access_tokens', 't.expires_bucket', key.expires_bucket, now)}
      and t.revoked_at is null and t.expires_at > ${now}
      and (t.grant_id is null or (${isLive(now)}))
      and (t.sid is null or t.grant_id is not null or exists (
        select from sessions s join users u on u.sub = s.sub
        where s.sid = t.sid and s.ended_at is null and s.expires_at > ${now} and u.disabled_at is null))`,
  );
  return token;
}

/** An opaque token in any state: for its revocation, and for operators. */
export const find = (db: Db, { expires_bucket, hash }: HandleKey): Promise<Selectable<AccessTokensTable> | undefined> =>
  db
    .selectFrom('access_tokens')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .executeTakeFirst();

/** Ends one opaque token, and nothing else. */
export async function revoke(db: Db, { expires_bucket, hash }: HandleKey, now: Date): Promise<void> {
  await db
    .updateTable('access_tokens')
    .set({ revoked_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .execute();
}

/** Remembers the jti of a JWT without a grant until the token would have expired. */
export async function revokeJti(db: Db, jti: string, expires_at: Date): Promise<void> {
  const expires_bucket = bucketOfId(jti);
  if (expires_bucket === undefined) return;
  await db
    .insertInto('revoked_tokens')
    .values({ expires_bucket, jti, expires_at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Was a JWT without a grant revoked? An id that we cannot have drawn counts as revoked. */
export async function isRevoked(db: Db, jti: string): Promise<boolean> {
  const expires_bucket = bucketOfId(jti);
  if (expires_bucket === undefined) return true;
  const rows = await read(
    db,
    prepared`select jti from revoked_tokens where expires_bucket = ${expires_bucket} and jti = ${jti}`,
  );
  return rows.length > 0;
}
