/** Consents: what a person has agreed to, once per client and resource. They outlive the grants made under them. */
import { sql, type RawBuilder } from 'kysely';
import type { Db, Trx } from './postgres/db.ts';
import { NOT_REVOKED } from './grants.ts';
import { IN_ORDER } from './postgres/lock-order.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';
import { read } from './postgres/pipeline.ts';
import { asSql, prepared } from './postgres/prepared.ts';

/** Each row is what a person agreed to with one client, for one set of resources. */
export interface ConsentsTable {
  sub: string;
  client_id: string;
  resource: string;
  scope: string[];
  claims: string[];
  updated_at: Date;
}

/** Whose consent, to whom, for what. */
export interface ConsentKey {
  sub: string;
  client_id: string;
  /** The resource indicators of the request, sorted and joined; empty for none. */
  resource: string;
}

/** The resources of a request as one text, in any order the same. */
export const resourceKey = (resource: readonly string[]): string => resource.toSorted().join(' ');

/** What was agreed to. */
export interface Agreed {
  scope: readonly string[];
  /** Claims beyond those that the scope opens. */
  claims: readonly string[];
}

/** What was agreed to, or undefined when nothing was. */
export async function find(db: Db, key: ConsentKey): Promise<Agreed | undefined> {
  const [agreed] = await read(
    db,
    prepared<Agreed>`
      select scope, claims from consents
      where sub = ${key.sub} and client_id = ${key.client_id} and resource = ${key.resource}`,
  );
  return agreed;
}

/** Is there a consent to this client from any of these people? */
export async function isFromAny(db: Db, client_id: string, subs: readonly string[]): Promise<boolean> {
  const [row] = await read(
    db,
    prepared`select 1 from consents where sub = any(${subs}::text[]) and client_id = ${client_id} limit 1`,
  );
  return row !== undefined;
}

/** Adds to what was agreed. */
export async function remember(trx: Trx, key: ConsentKey, { scope, claims }: Agreed, now: Date): Promise<void> {
  await sql`
    insert into consents (sub, client_id, resource, scope, claims, updated_at)
    select ${key.sub}, client_id, ${key.resource}, ${scope}::text[], ${claims}::text[], ${now}::timestamptz
    from clients where client_id = ${key.client_id}
    on conflict (sub, client_id, resource) do update set
      scope = array(select distinct unnest(consents.scope || excluded.scope)),
      claims = array(select distinct unnest(consents.claims || excluded.claims)),
      updated_at = excluded.updated_at`.execute(trx);
}

/** Everything that a person has agreed to with one client: an entry for each set of resources. */
export interface ConsentOf {
  client_id: string;
  client_name: string | null;
  agreed: Array<{ resource: string; scope: string[]; claims: string[]; updated_at: string }>;
}

const consentsOf = (db: Db, sub: string) =>
  db
    .selectFrom('consents')
    .select([
      'client_id',
      sql<string | null>`(select client_name from clients c where c.client_id = consents.client_id)`.as('client_name'),
      sql<ConsentOf['agreed']>`json_agg(json_build_object('resource', resource, 'scope', scope, 'claims', claims,
        'updated_at', updated_at))`.as('agreed'),
    ])
    .where('sub', '=', sub)
    .groupBy('client_id');

/** One page of a person's consents. */
export const page = (db: Db, sub: string, keyset: Keyset): Promise<KeysetPage<ConsentOf>> =>
  keysetPage(consentsOf(db, sub), keyset);

/** What a person has agreed to with a client. */
export const findOf = (db: Db, sub: string, client_id: string): Promise<ConsentOf | undefined> =>
  consentsOf(db, sub).where('client_id', '=', client_id).executeTakeFirst();

/** How much a withdrawal ended. */
export interface Withdrawn {
  consents: number;
  grants: number;
}

/** Withdraws what a person agreed to with a client, and revokes what it was granted, in one statement. */
export async function withdraw(trx: Trx, sub: string, client_id: string, now: Date): Promise<Withdrawn> {
  const { rows } = await sql<Withdrawn>`
    with withdrawn as (
      delete from consents where sub = ${sub} and client_id = ${client_id} returning 1
    ), held as (
      select expires_bucket, grant_id from grants g
      where sub = ${sub} and client_id = ${client_id} and ${asSql(NOT_REVOKED)} ${IN_ORDER}
    ), revoked as (
      update grants g set revoked_at = ${now}, revoked_for = 'consent_withdrawn' from held
      where g.expires_bucket = held.expires_bucket and g.grant_id = held.grant_id returning 1
    )
    select (select count(*) from withdrawn)::int as consents, (select count(*) from revoked)::int as grants`.execute(
    trx,
  );
  return rows[0]!;
}

/**
 * Takes one scope out of what a person agreed to with a client, and revokes the grants that have it, in one statement. Claims
 * that were agreed to by name go too: they may say what the scope would have said.
 */
export async function narrow(
  trx: Trx,
  { sub, client_id, scope }: { sub: string; client_id: string; scope: string },
  now: Date,
): Promise<Withdrawn> {
  const { rows } = await sql<Withdrawn>`
    with narrowed as (
      update consents set scope = array_remove(scope, ${scope}), claims = '{}'
      where sub = ${sub} and client_id = ${client_id} and scope @> array[${scope}::text] returning 1
    ), held as (
      select expires_bucket, grant_id from grants g
      where sub = ${sub} and client_id = ${client_id} and ${asSql(NOT_REVOKED)}
        and (g.scope @> array[${scope}::text] or g.requested_claims is not null) and exists (select from narrowed) ${IN_ORDER}
    ), revoked as (
      update grants g set revoked_at = ${now}, revoked_for = 'consent_withdrawn' from held
      where g.expires_bucket = held.expires_bucket and g.grant_id = held.grant_id returning 1
    )
    select (select count(*) from narrowed)::int as consents, (select count(*) from revoked)::int as grants`.execute(
    trx,
  );
  return rows[0]!;
}

/** Forgets everything that a person agreed to; returns with how many clients. Their grants end by their own verb. */
export async function removeAllOf(trx: Trx, sub: string): Promise<number> {
  const rows = await trx.deleteFrom('consents').where('sub', '=', sub).returning('client_id').execute();
  return new Set(rows.map(({ client_id }) => client_id)).size;
}

/** Takes a scope out of everything that was agreed: made again, it is asked for again. */
export const dropScope = (trx: Trx, name: string): Promise<void> =>
  pageByPage(
    trx,
    (page) => sql`
    update consents c set scope = array_remove(c.scope, ${name}) from (${page}) p
    where (c.sub, c.client_id, c.resource) = (p.sub, p.client_id, p.resource) and c.scope @> array[${name}::text]`,
  );

/** Forgets every consent that was for a resource, alone or with others. */
export const dropResource = (trx: Trx, resource: string): Promise<void> =>
  pageByPage(
    trx,
    (page) => sql`
    delete from consents c using (${page}) p
    where (c.sub, c.client_id, c.resource) = (p.sub, p.client_id, p.resource)
      and ${resource} = any(string_to_array(c.resource, ' '))`,
  );

const PAGE = 20_000;

/** Runs a change over every consent, so many at a time that each statement is short. */
async function pageByPage(trx: Trx, change: (page: RawBuilder<unknown>) => RawBuilder<unknown>): Promise<void> {
  for (let after: ConsentKey | undefined = { sub: '', client_id: '', resource: '' }; after;) {
    const beyond = sql`(sub, client_id, resource) > (${after.sub}, ${after.client_id}, ${after.resource})`;
    const page = sql`
      select sub, client_id, resource from consents where ${beyond} order by sub, client_id, resource limit ${PAGE}`;
    const last: { rows: ConsentKey[] } = await sql<ConsentKey>`
      select * from (${page}) page order by sub desc, client_id desc, resource desc limit 1`.execute(trx);
    await change(page).execute(trx);
    [after] = last.rows;
  }
}
