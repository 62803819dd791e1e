import { sql, type Kysely } from 'kysely';

/**
 * What a caller calls its request stands beside our own id, no longer instead of it. Refusals that name a client that there is
 * not go: what was sent in place of a name may have been a secret.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table refusals add column caller_request_id text`.execute(db);
  await sql`
    create index refusals_caller_request_id_idx on refusals (caller_request_id)
    where caller_request_id is not null`.execute(db);
  await sql`
    delete from refusals r
    where r."check" = 'client_id'
      or (r.client_id is not null and not exists (select from clients c where c.client_id = r.client_id))`.execute(db);
}
