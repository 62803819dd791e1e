import { sql, type Kysely } from 'kysely';

/** The `typ` that a resource wants its access tokens to have: null is that of RFC 9068. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table resources
      add column access_token_typ text check (access_token_typ in ('at+jwt', 'JWT'))`.execute(db);
}
