/** Names of scopes and resources that were deleted, and since when tokens count for those that bear them anew. */
import { sql } from 'kysely';
import type { Trx } from './postgres/db.ts';

/** Each row is a name of something that was deleted. */
export interface EndedNamesTable {
  kind: NamedKind;
  name: string;
  since: Date;
}

export type NamedKind = 'scope' | 'resource';

/** Notes that one was deleted. */
export async function end(trx: Trx, kind: NamedKind, name: string, now: Date): Promise<void> {
  await sql`
    insert into ended_names (kind, name, since) values (${kind}, ${name}, ${now}::timestamptz)
    on conflict (kind, name) do update set since = excluded.since`.execute(trx);
}

/** One is made: if there was another of this name, what was issued for that, up to this very second, is not for it. */
export async function begin(trx: Trx, kind: NamedKind, name: string, now: Date): Promise<void> {
  // Tokens know whole seconds.
  await sql`
    update ended_names set since = date_trunc('second', ${now}::timestamptz) + interval '1 second'
    where kind = ${kind} and name = ${name}`.execute(trx);
}
