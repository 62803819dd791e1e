/** Consents: what a person has agreed to, once per client and resource. They outlive the grants made under them. */
import { sql } from 'kysely';
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
