import { sql, type Kysely } from 'kysely';

/** The scope of the account API. Where somebody has one of that name the doctor says what it has to be. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into scopes (name, description, claims, for_people, for_machines)
    values ('account', 'See and change your account here: profile, sessions and connected applications', '{}', true, false)
    on conflict do nothing`.execute(db);
}
