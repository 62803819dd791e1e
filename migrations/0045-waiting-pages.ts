import { sql, type Kysely } from 'kysely';

/**
 * Pages that wait until somebody read their mail: a registration whose address is not verified, a sign-in by mail. What was typed is
 * sealed; an account is made once the address is theirs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table waiting_pages (
      expires_bucket integer not null,
      hash bytea not null,
      purpose text not null,
      browser_hash bytea not null,
      sealed bytea not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      done_at timestamptz,
      done_sub text,
      primary key (expires_bucket, hash)
    )`.execute(db);
}
