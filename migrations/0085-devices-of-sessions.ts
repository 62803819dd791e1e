import { sql, type Kysely } from 'kysely';

/** Where a session began, as its person is shown it: the program and system in a few words, and the network. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions add column device text, add column network text`.execute(db);
}
