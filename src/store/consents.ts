/** Consents: what a person has agreed to, once per client and resource. They outlive the grants made under them. */
import { sql, type RawBuilder } from 'kysely';
import type { Db, Trx } from './db.ts';

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
export const find = (db: Db, key: ConsentKey): Promise<Agreed | undefined> =>
  db
    .selectFrom('consents')
    .select(['scope', 'claims'])
    .where('sub', '=', key.sub)
    .where('client_id', '=', key.client_id)
    .where('resource', '=', key.resource)
    .executeTakeFirst();

/** Adds to what was agreed. */
export async function remember(trx: Trx, key: ConsentKey, { scope, claims }: Agreed, now: Date): Promise<void> {
  await sql`
    insert into consents (sub, client_id, resource, scope, claims, updated_at)
    values (${key.sub}, ${key.client_id}, ${key.resource}, ${scope}::text[], ${claims}::text[], ${now})
    on conflict (sub, client_id, resource) do update set
      scope = array(select distinct unnest(consents.scope || excluded.scope)),
      claims = array(select distinct unnest(consents.claims || excluded.claims)),
      updated_at = excluded.updated_at`.execute(trx);
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
