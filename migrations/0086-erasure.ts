import { sql, type Kysely } from 'kysely';

/**
 * Accounts that their people asked to be erased: after a time in which they may change their mind. What the audit log keeps of
 * them names nobody: a function of the owner of the tables does that, since a server's role only adds to the log.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column erase_after timestamptz`.execute(db);
  await sql`create index users_to_erase on users (erase_after) where erase_after is not null`.execute(db);

  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const options = sql`language plpgsql security definer set search_path = ${sql.id(rows[0]!.schema)}, pg_temp`;
  await sql`
    create function pseudonymise_audit_events(person text, kept text[]) returns text ${options} as $$
    declare pseudonym text := 'erased:' || replace(gen_random_uuid()::text, '-', '');
    begin
      -- Only of somebody who was, and is no more: it cannot be used to hide what an account did.
      if exists (select from users where sub = person)
        or not exists (select from subjects where sub = person and kind = 'user') then
        raise exception 'not an account that was erased' using errcode = 'invalid_parameter_value';
      end if;
      update audit_events set sub = pseudonym, ip = null, request_id = null,
        detail = coalesce((
          select jsonb_object_agg(key, value) from jsonb_each(detail) where key = any(kept)), '{}')
      where sub = person;
      return case when found then pseudonym end;
    end $$`.execute(db);
  await sql`revoke all on function pseudonymise_audit_events(text, text[]) from public`.execute(db);
}
