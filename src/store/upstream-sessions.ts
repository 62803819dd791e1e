/** Our sessions that came of a sign-in with a provider, and what they are called there. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is one of our sessions and the provider's beside it. */
export interface UpstreamSessionsTable {
  expires_bucket: number;
  sid: string;
  sub: string;
  upstream: string;
  issuer: string;
  upstream_sub: string;
  upstream_sid: Nullable<string>;
}

export type UpstreamSession = Selectable<UpstreamSessionsTable>;

/** Notes where a session came from; of one that is carried on, the last counts. */
export async function put(trx: Trx, session: UpstreamSession): Promise<void> {
  const { sub, issuer, upstream_sub, upstream_sid } = session;
  await trx
    .insertInto('upstream_sessions')
    .values(session)
    .onConflict((conflict) =>
      conflict.columns(['expires_bucket', 'sid', 'upstream']).doUpdateSet({ sub, issuer, upstream_sub, upstream_sid }),
    )
    .execute();
}

/** Keeps what is known of a session as long as the row that carries it on: of a sign-out there it has to be found until then. */
export async function carryOn(trx: Trx, sid: string, from: number, to: number): Promise<void> {
  if (from === to) return;
  await sql`
    insert into upstream_sessions (expires_bucket, sid, sub, upstream, issuer, upstream_sub, upstream_sid)
    select ${to}::int, sid, sub, upstream, issuer, upstream_sub, upstream_sid from upstream_sessions
    where expires_bucket = ${from} and sid = ${sid} on conflict do nothing`.execute(trx);
}

/** Those that a provider ends (OpenID Connect Back-Channel Logout §2.4): one by its sid, or all of somebody. */
export async function named(
  db: Db,
  { upstream, issuer }: Pick<UpstreamSession, 'upstream' | 'issuer'>,
  { sub, sid }: { sub?: string | undefined; sid?: string | undefined },
): Promise<Array<Pick<UpstreamSession, 'sid' | 'sub'>>> {
  const { rows } = await sql<Pick<UpstreamSession, 'sid' | 'sub'>>`
    select distinct u.sid, u.sub from upstream_sessions u
    where u.upstream = ${upstream} and u.issuer = ${issuer}
      and (${sid ?? null}::text is null or u.upstream_sid = ${sid ?? null})
      and (${sub ?? null}::text is null or u.upstream_sub = ${sub ?? null})
    order by u.sid`.execute(db);
  return rows;
}
