import { sql, type Kysely } from 'kysely';

/**
 * One-time codes of an authenticator app: its secret, sealed under SECRET_KEYS, and the last time step that a code was taken of:
 * none of that step or one before counts again. Recovery codes by their hash: what is used stays, so that it is known as used.
 * Interactions remember that somebody went on without the second factor that a client only wished for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table totp_credentials (
      sub text primary key references users on delete cascade,
      sealed bytea not null,
      last_step integer not null,
      created_at timestamptz not null,
      used_at timestamptz
    )`.execute(db);
  await sql`
    create table recovery_codes (
      sub text not null references users on delete cascade,
      hash bytea not null,
      created_at timestamptz not null,
      used_at timestamptz,
      primary key (sub, hash)
    )`.execute(db);
  await sql`alter table interactions add column second_factor_later_sid text`.execute(db);
  await sql`alter table clients add column require_second_factor boolean not null default false`.execute(db);
}
