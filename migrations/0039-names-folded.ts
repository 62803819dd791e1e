import { sql, type Kysely } from 'kysely';

/**
 * Names are one in any case, also where lower case alone tells them apart (ΝΙΚΟΣ, νικοσ; STRASSE, straße). The old columns stay
 * what they are: servers of before look names up by them. The new ones hold the full case folding, of every name that is
 * given or changed from now on, and of those before where it differs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users
      add column username_casefold text,
      add column email_casefold text`.execute(db);
  // A server of before that changes a name knows nothing of the new column.
  await sql`
    create function forget_casefold() returns trigger language plpgsql as $$
    begin
      if new.username_folded is distinct from old.username_folded
        and new.username_casefold is not distinct from old.username_casefold then
        new.username_casefold := null;
      end if;
      if new.email_folded is distinct from old.email_folded
        and new.email_casefold is not distinct from old.email_casefold then
        new.email_casefold := null;
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger forget_casefold before update of username_folded, email_folded on users
      for each row execute function forget_casefold()`.execute(db);
}
