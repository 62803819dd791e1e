import { sql, type Kysely } from 'kysely';

/**
 * Passkeys (WebAuthn). A person is known to authenticators by a handle of its own, which is random: a `sub` may have been
 * given by an operator, and authenticators show and synchronise what they are told.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table passkey_people (
      sub text primary key references users on delete cascade,
      user_handle bytea not null unique,
      -- When the person said "not now" to the offer of a passkey.
      declined_at timestamptz
    )`.execute(db);

  // The credential's id is drawn by the authenticator, and unique over all people; ours is what pages and operators name it by.
  await sql`
    create table passkeys (
      credential_id bytea primary key,
      passkey_id text not null unique,
      sub text not null references users on delete cascade,
      public_key bytea not null,
      sign_count bigint not null,
      backup_eligible boolean not null,
      backed_up boolean not null,
      user_verified boolean not null,
      aaguid text not null,
      transports text[] not null,
      name text not null,
      created_at timestamptz not null,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create index on passkeys (sub)`.execute(db);
}
