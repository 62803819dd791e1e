import { sql, type Kysely } from 'kysely';

/**
 * Authorizations and what they gave. Every table here is keyed by (expires_bucket, …) with the bucket readable in the
 * handle, so that it can be partitioned by expiry without a new token format; no foreign key points at one of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A request on its way through sign-in and consent: one per browser tab.
  await sql`
    create table interactions (
      expires_bucket integer not null,
      hash bytea not null,
      browser_hash bytea,
      client_id text not null,
      request jsonb not null,
      sign_in_after timestamptz,
      selected_sub text,
      consented_sid text,
      refused_error text,
      answered_at timestamptz,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, hash)
    )`.execute(db);

  await sql`
    create table consents (
      sub text not null references users on delete cascade,
      client_id text not null references clients on delete cascade,
      resource text not null,
      scope text[] not null,
      updated_at timestamptz not null,
      primary key (sub, client_id, resource)
    )`.execute(db);

  // The root row of one authorization; its codes, refresh tokens and access tokens carry its id and die with it.
  await sql`
    create table grants (
      expires_bucket integer not null,
      grant_id text not null,
      client_id text not null,
      sub text not null,
      sid text not null,
      scope text[] not null,
      resource text[] not null,
      auth_time timestamptz not null,
      acr text not null,
      amr text[] not null,
      offline boolean not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz,
      revoked_for text,
      primary key (expires_bucket, grant_id)
    )`.execute(db);
  await sql`create index on grants (sub)`.execute(db);
  await sql`create index on grants (sid)`.execute(db);
  await sql`create index on grants (client_id)`.execute(db);

  // In these two the bucket is that of the grant: a replay is recognised as long as the grant can live.
  await sql`
    create table authorization_codes (
      expires_bucket integer not null,
      hash bytea not null,
      grant_id text not null,
      client_id text not null,
      redirect_uri text not null,
      code_challenge text,
      nonce text,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      primary key (expires_bucket, hash)
    )`.execute(db);

  await sql`
    create table refresh_tokens (
      expires_bucket integer not null,
      hash bytea not null,
      grant_id text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      successor_hash bytea,
      retry_key text,
      retry_salt bytea,
      primary key (expires_bucket, hash)
    )`.execute(db);

  await sql`
    create table access_tokens (
      expires_bucket integer not null,
      hash bytea not null,
      jti text not null,
      client_id text not null,
      sub text not null,
      scope text[] not null,
      aud text[] not null,
      grant_bucket integer,
      grant_id text,
      sid text,
      auth_time timestamptz,
      acr text,
      amr text[],
      created_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz,
      primary key (expires_bucket, hash)
    )`.execute(db);

  // JWT access tokens without a grant that were revoked before they expired.
  await sql`
    create table revoked_tokens (
      expires_bucket integer not null,
      jti text not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, jti)
    )`.execute(db);

  // Single-use identifiers of others (assertions, proofs), seen once.
  await sql`
    create table replays (
      expires_bucket integer not null,
      hash bytea not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, hash)
    )`.execute(db);
}
