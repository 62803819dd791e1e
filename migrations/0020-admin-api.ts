import { sql, type Kysely } from 'kysely';

const SUBJECTS = 'clients users groups scopes resources grants sessions tokens keys audit settings'.split(' ');

/** What the admin API needs: its scopes, answers kept for their Idempotency-Key, and the indexes of its lists. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_keys (
      principal text not null,
      key text not null,
      request_hash bytea not null,
      status integer not null,
      location text,
      body jsonb,
      expires_at timestamptz not null,
      primary key (principal, key)
    )`.execute(db);
  await sql`create index on idempotency_keys (expires_at)`.execute(db);
  await sql`create index on clients (created_at, client_id)`.execute(db);
  await sql`create index on clients (client_name, created_at, client_id)`.execute(db);

  // For clients that act for themselves, with this API as resource.
  for (const subject of SUBJECTS) {
    for (const [verb, word] of [
      ['read', 'See'],
      ['write', 'Change'],
    ]) {
      await sql`
        insert into scopes values (${`${subject}:${verb}`}, ${`${word} ${subject} of this service`}, '{}', false, true)
        on conflict do nothing`.execute(db);
    }
  }
}
