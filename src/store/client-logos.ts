/**
 * The logos of clients as we fetched them, and what is still to be fetched: a row for each client that names one. Only
 * an image that is here is ever shown. Whoever needs the client's row too takes that first, so that none waits in a circle.
 */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a client with a logo: what there is of it, and when it is fetched again. */
export interface ClientLogosTable {
  client_id: string;
  attempts: number;
  next_at: Nullable<Date>;
  last_failure: Nullable<string>;
  fetched_at: Nullable<Date>;
  hash: Nullable<string>;
  media_type: Nullable<string>;
  image: Nullable<Buffer>;
}

export type ClientLogo = Selectable<ClientLogosTable>;

/** An image, named by its SHA-256 in base64url. */
export interface Image {
  hash: string;
  media_type: string;
  image: Buffer;
}

/** Has the logo fetched, unless it is there or on its way. */
export async function requestFetch(trx: Trx, client_id: string, now: Date): Promise<void> {
  await sql`
    insert into client_logos (client_id, next_at) values (${client_id}, ${now}::timestamptz)
    on conflict (client_id) do update set attempts = 0, next_at = excluded.next_at
    where client_logos.next_at is null`.execute(trx);
}

/** Forgets the logo: the client has none, or names another. */
export async function forget(trx: Trx, client_id: string): Promise<void> {
  await trx.deleteFrom('client_logos').where('client_id', '=', client_id).execute();
}

/** A logo to fetch, its address, and who registered that. */
export interface Due {
  client_id: string;
  attempts: number;
  logo_uri: string;
  registered_by: 'operator' | 'self';
}

/** Takes up to `limit` that are due, and puts them off until `lease_until`: a process that dies with one loses nothing. */
export async function take(db: Db, limit: number, lease_until: Date, now: Date): Promise<Due[]> {
  const { rows } = await sql<Due>`
    update client_logos l set attempts = l.attempts + 1, next_at = ${lease_until}
    from clients c
    where c.client_id = l.client_id and c.logo_uri is not null and l.client_id in (
      select client_id from client_logos where next_at <= ${now}
      order by next_at limit ${limit} for update skip locked)
    returning l.client_id, l.attempts, c.logo_uri, c.registered_by`.execute(db);
  return rows;
}

/** Keeps what was fetched, unless the client names another logo by now. */
export async function keep(
  db: Db,
  { client_id, logo_uri }: Due,
  { hash, media_type, image }: Image,
  next_at: Date,
  now: Date,
): Promise<void> {
  await sql`
    with client as (
      update clients set logo_hash = ${hash} where client_id = ${client_id} and logo_uri = ${logo_uri} returning client_id)
    update client_logos l set
      attempts = 0, next_at = ${next_at}, last_failure = null, fetched_at = ${now},
      hash = ${hash}, media_type = ${media_type}, image = ${image}
    from client where l.client_id = client.client_id`.execute(db);
}

/** Puts the next try off. What was fetched before stays. */
export async function postpone(
  db: Db,
  { client_id, logo_uri }: Due,
  last_failure: string,
  next_at: Date,
): Promise<void> {
  await sql`
    update client_logos l set next_at = ${next_at}, last_failure = ${last_failure}
    from clients c
    where l.client_id = ${client_id} and c.client_id = l.client_id and c.logo_uri = ${logo_uri}`.execute(db);
}

/** Gives up: no logo, also none of before, until somebody saves the client again. */
export async function drop(db: Db, { client_id, logo_uri }: Due, last_failure: string): Promise<void> {
  await sql`
    with client as (
      update clients set logo_hash = null where client_id = ${client_id} and logo_uri = ${logo_uri} returning client_id)
    update client_logos l set
      next_at = null, last_failure = ${last_failure}, fetched_at = null, hash = null, media_type = null, image = null
    from client where l.client_id = client.client_id`.execute(db);
}

/** The image of this name, if any client shows it. */
export const find = (db: Db, hash: string): Promise<Pick<ClientLogo, 'media_type' | 'image'> | undefined> =>
  db.selectFrom('client_logos').select(['media_type', 'image']).where('hash', '=', hash).limit(1).executeTakeFirst();

/** How it stands with a client's logo. */
export const stateOf = (
  db: Db,
  client_id: string,
): Promise<Pick<ClientLogo, 'next_at' | 'last_failure' | 'fetched_at' | 'media_type'> | undefined> =>
  db
    .selectFrom('client_logos')
    .select(['next_at', 'last_failure', 'fetched_at', 'media_type'])
    .where('client_id', '=', client_id)
    .executeTakeFirst();
