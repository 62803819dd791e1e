import { sql, type Kysely } from 'kysely';

/**
 * People of another system whom an operator sent to be imported: a worker carries it out. They have hashes of passwords, so that
 * they are sealed, and erased once they were carried out; what became of them is known for some days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table user_imports (
      expires_bucket integer not null,
      import_id text not null,
      actor text not null,
      state text not null check (state in ('waiting', 'done', 'refused', 'failed')),
      skip_refused boolean not null,
      sealed bytea,
      people integer not null,
      created integer not null default 0,
      present integer not null default 0,
      refused jsonb not null default '[]',
      failure text,
      attempts integer not null default 0,
      next_at timestamptz not null,
      created_at timestamptz not null,
      done_at timestamptz,
      primary key (expires_bucket, import_id)
    )`.execute(db);
  await sql`create index user_imports_due on user_imports (next_at) where state = 'waiting'`.execute(db);
  await sql`create index user_imports_created on user_imports (created_at, import_id)`.execute(db);
  await sql`create index user_imports_state on user_imports (state, created_at, import_id)`.execute(db);
  await sql`
    create trigger announce_row after insert on user_imports
      for each statement execute function announce_change('user_imports')`.execute(db);
}
