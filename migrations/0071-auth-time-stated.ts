import { sql, type Kysely } from 'kysely';

/** Does anybody say when this sign-in was? Not a provider that tells no auth_time: then it may have asked nobody. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions add column auth_time_stated boolean not null default true`.execute(db);
}
