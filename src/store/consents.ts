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

/** The scope agreed to, or undefined when nothing was. */
export async function find(db: Db, key: ConsentKey): Promise<string[] | undefined> {
  const row = await db
    .selectFrom('consents')
    .select('scope')
    .where('sub', '=', key.sub)
    .where('client_id', '=', key.client_id)
    .where('resource', '=', key.resource)
    .executeTakeFirst();
  return row?.scope;
}

/** Adds to what was agreed. */
export async function remember(trx: Trx, key: ConsentKey, scope: readonly string[], now: Date): Promise<void> {
  await sql`
    insert into consents (sub, client_id, resource, scope, updated_at)
    values (${key.sub}, ${key.client_id}, ${key.resource}, ${scope}::text[], ${now})
    on conflict (sub, client_id, resource) do update set
      scope = array(select distinct unnest(consents.scope || excluded.scope)), updated_at = excluded.updated_at`.execute(
    trx,
  );
}
