/** Erasure: what is left of an account that its person wanted gone. */
import { sql } from 'kysely';
import type { Trx } from './postgres/db.ts';

/**
 * Tables that keep a `sub` all the same: `subjects`, so that none is given out twice (OpenID Connect Core §2), `users` and the
 * log, which have verbs of their own, and tokens of minutes, which no index finds by person and which go with their day.
 */
const LEFT = ['subjects', 'users', 'audit_events', 'access_tokens'];

/**
 * Deletes every row that names a person by `sub`, in whichever table: one that is added later is not forgotten. Those that
 * belong to the account go with it.
 */
export async function eraseRowsOf(trx: Trx, sub: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = 'sub' and not a.attisdropped and c.relname <> all(${LEFT}::text[])
    order by c.relname <> 'sessions', c.relname`.execute(trx);
  for (const { name } of rows) await sql`delete from ${sql.table(name)} where sub = ${sub}`.execute(trx);
}

/**
 * Takes a person out of the audit log: another name in place of `sub`, the same in all of their events, no address, and of the
 * details only these. Returns that name; undefined where the log had nothing. The account has to be gone by then.
 */
export async function pseudonymise(trx: Trx, sub: string, kept: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ pseudonym: string | null }>`
    select pseudonymise_audit_events(${sub}, ${kept}::text[]) as pseudonym`.execute(trx);
  return rows[0]?.pseudonym ?? undefined;
}
