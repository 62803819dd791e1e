import { sql, type Kysely } from 'kysely';

/**
 * What was decided when a grant was given is kept with it: the sector in which its client is told who somebody is (empty for
 * the public subject), and whether its client had to prove who it is. Null is of a grant from before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table grants add column sector text, add column confidential boolean`.execute(db);
  await sql`alter table device_codes add column confidential boolean`.execute(db);
  await sql`alter table logout_notices add column sector text`.execute(db);
}
