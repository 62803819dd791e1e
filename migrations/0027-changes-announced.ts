import { sql, type Kysely } from 'kysely';

/** Whoever changes what processes keep in memory tells them so, in the same transaction. They may not hear it. */
const TABLES = [
  ['clients', 'clients'],
  ['client_secrets', 'clients'],
  ['scopes', 'scopes'],
  ['resources', 'resources'],
  ['signing_keys', 'keys'],
] as const;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify('postern_changes', tg_argv[0]);
      return null;
    end $$`.execute(db);
  for (const [table, subject] of TABLES) {
    await sql`
      create trigger announce_row after insert or delete on ${sql.table(table)}
        for each row execute function announce_change(${sql.lit(subject)})`.execute(db);
    // That a client is in use is noted once a day, and concerns nobody.
    await sql`
      create trigger announce_update after update on ${sql.table(table)} for each row
        when (to_jsonb(old) - 'last_used_at' is distinct from to_jsonb(new) - 'last_used_at')
        execute function announce_change(${sql.lit(subject)})`.execute(db);
  }
}
