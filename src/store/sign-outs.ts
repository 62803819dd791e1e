/** Sign-outs whose page is still to be shown: the applications it notifies in frames, and where it leads afterwards. */
import type { Localized } from '../protocol/localized.ts';
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { HandleKey } from '../protocol/handle.ts';

/** Each row is a sign-out. */
export interface SignOutsTable {
  expires_bucket: number;
  hash: Buffer;
  browser_hash: Buffer;
  sids: string[];
  client_id: Nullable<string>;
  return_to: Nullable<string>;
  created_at: Date;
  expires_at: Date;
}

export type SignOut = Selectable<SignOutsTable>;

/** Most pairs of application and session on one page. */
const LIMIT = 50;

/**
 * Writes a sign-out down if there is something for its page to do: an application to be told in a frame, or, where the
 * page is the end of the way, one to be named. False when there is neither.
 */
export async function insert(trx: Trx, signOut: SignOut): Promise<boolean> {
  const { rows } = await sql`
    insert into sign_outs (expires_bucket, hash, browser_hash, sids, client_id, return_to, created_at, expires_at)
    select ${signOut.expires_bucket}::int, ${signOut.hash}::bytea, ${signOut.browser_hash}::bytea,
      ${signOut.sids}::text[], ${signOut.client_id}::text, ${signOut.return_to}::text,
      ${signOut.created_at}::timestamptz, ${signOut.expires_at}::timestamptz
    where exists (
      select from grants g join clients c using (client_id)
      where g.sid = any(${signOut.sids}::text[]) and g.expires_at > ${signOut.created_at}::timestamptz and c.disabled_at is null
        and (c.frontchannel_logout_uri is not null
          or ${signOut.return_to === null}::boolean and c.backchannel_logout_uri is not null))
    returning 1`.execute(trx);
  return rows.length > 0;
}

/** The sign-out behind a handle, in the browser it was done in. */
export const find = (
  db: Db,
  { expires_bucket, hash }: HandleKey,
  browser_hash: Buffer,
  now: Date,
): Promise<SignOut | undefined> =>
  db
    .selectFrom('sign_outs')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('browser_hash', '=', browser_hash)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** An application that is notified of the end of a session, in a frame or from server to server. */
export interface NotifiedClient {
  client_id: string;
  client_name: string | null;
  localized: Localized;
  frontchannel_logout_uri: string | null;
  sid: string;
  sector: string | null;
}

/** Every client that was granted something under these sessions and registered a logout URI. */
export async function notifiedClients(db: Db, { sids, created_at }: SignOut): Promise<NotifiedClient[]> {
  const { rows } = await sql<NotifiedClient>`
    select distinct c.client_id, c.client_name, c.localized, c.frontchannel_logout_uri, g.sid, g.sector
    from grants g join clients c using (client_id)
    where g.sid = any(${sids}::text[]) and g.expires_at > ${created_at} and c.disabled_at is null
      and (c.frontchannel_logout_uri is not null or c.backchannel_logout_uri is not null)
    order by c.client_id, g.sid, g.sector limit ${LIMIT}`.execute(db);
  return rows;
}
