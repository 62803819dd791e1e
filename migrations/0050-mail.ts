import { sql, type Kysely } from 'kysely';

/**
 * The outbox of mail: written with what it is about, emptied by a worker. What a mail says holds links, so that it is sealed,
 * and erased once it was sent; that it was sent is known for some days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table mails (
      expires_bucket integer not null,
      mail_id text not null,
      template text not null,
      recipient text not null,
      sub text,
      lang text not null,
      state text not null check (state in ('waiting', 'sent', 'dead')),
      sealed bytea,
      attempts integer not null default 0,
      next_at timestamptz not null,
      until timestamptz not null,
      last_failure text,
      created_at timestamptz not null,
      done_at timestamptz,
      primary key (expires_bucket, mail_id)
    )`.execute(db);
  await sql`create index mails_due on mails (next_at) where state = 'waiting'`.execute(db);
  await sql`create index mails_created on mails (created_at, mail_id)`.execute(db);
  await sql`create index mails_state on mails (state, created_at, mail_id)`.execute(db);
  await sql`create index mails_recipient on mails (recipient, created_at, mail_id)`.execute(db);
  await sql`create index mails_sub on mails (sub, created_at, mail_id) where sub is not null`.execute(db);

  // What a stranger asked for by a name: who that is, and whether anybody, is looked up by the worker.
  await sql`
    create table mail_requests (
      request_id text primary key,
      kind text not null,
      sealed bytea not null,
      next_at timestamptz not null,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index mail_requests_due on mail_requests (next_at)`.execute(db);

  for (const table of ['mails', 'mail_requests'])
    await sql`
      create trigger announce_row after insert on ${sql.table(table)}
        for each statement execute function announce_change('mails')`.execute(db);
}
