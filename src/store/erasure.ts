/** Erasure: what is left of an account that its person wanted gone. */
import { sql } from 'kysely';
import { isAbout, type Addressee } from './addressee.ts';
import type { Db, Trx } from './postgres/db.ts';

/**
 * Tables that keep a `sub` all the same: `subjects`, so that none is given out twice (OpenID Connect Core §2), `users` and the
 * log, which have verbs of their own, and tokens of minutes, which no index finds by person and which go with their day.
 */
const LEFT = ['subjects', 'users', 'audit_events', 'access_tokens'];

/** Columns that name whose a row is. */
const NAMES = ['sub', 'done_sub'];
/** Tables that name people by an address as long as there is no account, and the column that has it. */
const ADDRESSED = [
  ['mails', 'recipient'],
  ['person_links', 'email'],
] as const;

/** A table of people, and its column that names them. */
export interface TableOfPeople {
  name: string;
  column: string;
}

/** The tables that name people, whichever there are: one that is added later is not forgotten. */
export async function tablesOfPeople(db: Db): Promise<TableOfPeople[]> {
  const { rows } = await sql<TableOfPeople>`
    select c.relname as name, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = any(${NAMES}::text[]) and not a.attisdropped and c.relname <> all(${LEFT}::text[])
    order by c.relname <> 'sessions', c.relname`.execute(db);
  return rows;
}

/** Deletes every row that names a person in these tables, and what went to their address before they had an account. */
export async function eraseRowsOf(trx: Trx, whom: Addressee, tables: readonly TableOfPeople[]): Promise<void> {
  for (const { name, column } of tables) {
    await sql`delete from ${sql.table(name)} where ${sql.ref(column)} = ${whom.sub}`.execute(trx);
  }
  for (const [name, column] of ADDRESSED) {
    await sql`delete from ${sql.table(name)} where ${isAbout(whom, column)}`.execute(trx);
  }
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
