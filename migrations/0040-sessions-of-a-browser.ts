import { sql, type Kysely } from 'kysely';

/**
 * Which browser a session began in, by the hash of its cookie, and the salt that its handle is derived with: of sign-ins at
 * once in one browser each can be given the same session, and what no cookie names any more can be found.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table sessions
      add column if not exists browser_hash bytea,
      add column if not exists salt bytea`.execute(db);
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass(${INDEX}) is not null as present`.execute(db);
  if (rows[0]!.present) return;
  await sql`create index ${sql.ref(INDEX)} on sessions (browser_hash) where ended_at is null`.execute(db);
}

export async function prepare(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table sessions
      add column if not exists browser_hash bytea,
      add column if not exists salt bytea`.execute(db);
  // One that was interrupted is there, and good for nothing.
  await sql`drop index concurrently if exists ${sql.ref(INDEX)}`.execute(db);
  await sql`
    create index concurrently ${sql.ref(INDEX)} on sessions (browser_hash) where ended_at is null`.execute(db);
}

const INDEX = 'sessions_of_a_browser';
