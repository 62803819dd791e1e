import { sql, type Kysely } from 'kysely';

/** Providers that people may sign in with (OpenID Connect, or OAuth 2.0 alone), and what they are trusted with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table upstreams (
      upstream text primary key,
      kind text not null,
      label text not null,
      icon text,
      issuer text not null,
      authorization_endpoint text,
      token_endpoint text,
      userinfo_endpoint text,
      emails_endpoint text,
      client_id text not null,
      -- Sealed under SECRET_KEYS: it has to be shown to the provider.
      sealed_secret bytea,
      secret_team_id text,
      secret_key_id text,
      token_endpoint_auth_method text not null,
      response_mode text,
      scope text[] not null,
      claims jsonb not null,
      amr_values jsonb not null,
      acr_values jsonb not null,
      domains text[] not null,
      registration text not null,
      linking boolean not null,
      trust_email boolean not null,
      keep_tokens boolean not null,
      disabled boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`
    insert into scopes values
      ('upstreams:read', 'See upstreams of this service', '{}', false, true),
      ('upstreams:write', 'Change upstreams of this service', '{}', false, true)
    on conflict do nothing`.execute(db);
}
