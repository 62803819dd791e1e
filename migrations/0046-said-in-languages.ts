import { sql, type Kysely } from 'kysely';

/** What clients are called, and what scopes are for, in several languages: each by its tag. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table clients add column localized jsonb not null default '{}'`.execute(db);
  await sql`alter table scopes add column descriptions jsonb not null default '{}'`.execute(db);
}
