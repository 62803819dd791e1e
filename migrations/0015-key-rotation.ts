import { sql, type Kysely } from 'kysely';

/**
 * Keys that come and go by themselves. The private half of one that has done its work is erased; one whose algorithm
 * nobody wants any more stops signing at `withdrawn_at`, without a successor. Signing or encryption: the algorithm says.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table signing_keys
      alter column sealed_private_key drop not null,
      add column withdrawn_at timestamptz`.execute(db);
}
