import { sql, type Kysely } from 'kysely';

/**
 * Why requests were refused, by request id, for a while. The caller chooses its request id if it likes, so that it is no key.
 * A row without one stands for as many refusals as `dropped` says, which were too many to be kept.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table refusals (
      expires_bucket integer not null,
      refusal_id bigint generated always as identity,
      at timestamptz not null,
      request_id text,
      client_id text,
      sub text,
      ip text,
      network text not null,
      method text,
      route text,
      status integer,
      error text,
      error_description text,
      "check" text,
      expected text,
      received text,
      dropped integer not null default 0,
      primary key (expires_bucket, refusal_id)
    )`.execute(db);
  await sql`create index on refusals (request_id)`.execute(db);
  await sql`create index on refusals (at, refusal_id)`.execute(db);
  await sql`create index on refusals (client_id, at, refusal_id)`.execute(db);
  await sql`create index on refusals (sub, at, refusal_id) where sub is not null`.execute(db);
}
