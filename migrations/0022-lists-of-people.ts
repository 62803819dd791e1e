import { sql, type Kysely } from 'kysely';

/**
 * The indexes of the lists that operators read: people, their sessions and their grants. Each order of each list is an
 * index, and what a list leaves out is left out of its index, so that no page passes over rows it does not show.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index on users (created_at, sub)`.execute(db);
  await sql`create index on users (created_at, sub) where disabled_at is not null`.execute(db);
  await sql`create index on users (username_folded) where disabled_at is not null`.execute(db);

  // In place of those without an order, so that a grant is not written into more indexes than it has readers.
  await sql`create index grants_of_person on grants (sub, created_at, grant_id)`.execute(db);
  await sql`drop index grants_sub_idx`.execute(db);
  await sql`
    create index grants_of_client on grants (client_id, created_at, grant_id) where revoked_at is null`.execute(db);
  await sql`drop index grants_client_id_idx`.execute(db);
  await sql`
    create index grants_of_client_revoked on grants (client_id, created_at, grant_id)
    where revoked_at is not null`.execute(db);
  await sql`create index grants_newest on grants (created_at, grant_id) where revoked_at is null`.execute(db);
  await sql`create index grants_revoked on grants (created_at, grant_id) where revoked_at is not null`.execute(db);

  await sql`create index sessions_of_person on sessions (sub, created_at, sid)`.execute(db);
  await sql`drop index sessions_sub_idx`.execute(db);
  await sql`create index sessions_newest on sessions (created_at, sid) where ended_at is null`.execute(db);
  await sql`create index sessions_ended on sessions (created_at, sid) where ended_at is not null`.execute(db);
}
