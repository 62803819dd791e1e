import { sql, type Kysely } from 'kysely';

/** OpenID Connect Core §5.4, §11, and groups as most clients know it: name, sentence on the consent page, claims it opens. */
const STANDARD_SCOPES: ReadonlyArray<readonly [name: string, description: string, claims: string]> = [
  ['openid', 'Know who you are in this service', ''],
  [
    'profile',
    'See your name and profile',
    'name family_name given_name middle_name nickname preferred_username profile picture website gender birthdate zoneinfo locale updated_at',
  ],
  ['email', 'See your e-mail address', 'email email_verified'],
  ['address', 'See your postal address', 'address'],
  ['phone', 'See your phone number', 'phone_number phone_number_verified'],
  ['groups', 'See the groups you belong to', 'groups'],
  ['offline_access', 'Keep this access when you are signed out', ''],
];

/** Who may ask (clients and their secrets), and for what (scopes, resources). */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Every `sub` there ever was, of people and of clients: none is given out twice, and no client can be taken for a person.
  await sql`
    create table subjects (
      sub text primary key,
      kind text not null check (kind in ('user', 'client', 'server'))
    )`.execute(db);

  // The name under which POST /login issues tokens: no client may have it.
  await sql`insert into subjects values ('postern', 'server')`.execute(db);

  await sql`
    create table clients (
      client_id text primary key,
      client_name text,
      client_uri text,
      logo_uri text,
      policy_uri text,
      tos_uri text,
      contacts text[] not null,
      application_type text not null check (application_type in ('web', 'native')),
      token_endpoint_auth_method text not null,
      redirect_uris text[] not null,
      post_logout_redirect_uris text[] not null,
      grant_types text[] not null,
      scope text[] not null,
      allowed_origins text[] not null,
      id_token_signed_response_alg text not null,
      access_token_format text check (access_token_format in ('jwt', 'opaque')),
      access_token_ttl integer,
      id_token_ttl integer,
      refresh_token_ttl integer,
      refresh_token_idle_ttl integer,
      id_token_claims text check (id_token_claims in ('scope', 'minimal')),
      require_pkce boolean not null,
      skip_consent boolean not null,
      may_introspect boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);

  await sql`
    create table client_secrets (
      secret_id text primary key,
      client_id text not null references clients on delete cascade,
      hash bytea not null,
      created_at timestamptz not null,
      expires_at timestamptz
    )`.execute(db);
  await sql`create index on client_secrets (client_id)`.execute(db);

  await sql`
    create table scopes (
      name text primary key,
      description text,
      claims text[] not null,
      for_people boolean not null,
      for_machines boolean not null
    )`.execute(db);
  for (const [name, description, claims] of STANDARD_SCOPES) {
    const list = claims.split(' ').filter((claim) => claim !== '');
    await sql`insert into scopes values (${name}, ${description}, ${list}, true, false)`.execute(db);
  }

  await sql`
    create table resources (
      resource text primary key,
      name text,
      client_id text references clients on delete set null,
      scope text[] not null,
      access_token_format text check (access_token_format in ('jwt', 'opaque')),
      access_token_ttl integer,
      access_token_signing_alg text
    )`.execute(db);
}
