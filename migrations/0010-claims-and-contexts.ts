import { sql, type Kysely } from 'kysely';

/** Claims asked for by name (OpenID Connect Core §5.5): agreed to, granted; and what clients say of their requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column response_modes text[],
      add column default_max_age integer,
      add column require_auth_time boolean not null default false,
      add column default_acr_values text[]`.execute(db);
  // Names of claims agreed to beyond those that the scope opens.
  await sql`alter table consents add column claims text[] not null default '{}'`.execute(db);
  await sql`alter table grants add column requested_claims jsonb`.execute(db);
}
