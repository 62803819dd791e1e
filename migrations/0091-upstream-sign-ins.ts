import { sql, type Kysely } from 'kysely';

/** Sign-ins with a provider: those under way, the accounts that are connected with somebody there, and the sessions that came of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table upstream_requests (
      expires_bucket integer not null,
      hash bytea not null,
      browser_hash bytea not null,
      upstream text not null,
      -- Sealed under SECRET_KEYS: what only this server may know, and what the answer is bound to.
      sealed bytea not null,
      answered_at timestamptz,
      -- Somebody who waits to be connected with an account; sealed as well.
      sealed_identity bytea,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, hash)
    )`.execute(db);
  await sql`
    create index on upstream_requests (browser_hash) where sealed_identity is not null`.execute(db);

  // By issuer, too: a provider that got another issuer knows other people by the same names.
  await sql`
    create table upstream_links (
      upstream text not null references upstreams on delete cascade,
      issuer text not null,
      upstream_sub text not null,
      sub text not null references users on delete cascade,
      name text,
      sealed_tokens bytea,
      created_at timestamptz not null,
      used_at timestamptz not null,
      primary key (upstream, issuer, upstream_sub)
    )`.execute(db);
  await sql`create index on upstream_links (sub)`.execute(db);

  await sql`
    create table upstream_sessions (
      expires_bucket integer not null,
      sid text not null,
      sub text not null,
      upstream text not null,
      issuer text not null,
      upstream_sub text not null,
      upstream_sid text,
      primary key (expires_bucket, sid, upstream)
    )`.execute(db);
  await sql`create index on upstream_sessions (upstream, upstream_sub)`.execute(db);
  await sql`
    create index on upstream_sessions (upstream, upstream_sid) where upstream_sid is not null`.execute(db);

  // Of the request that waits, who is to be asked whether to connect.
  await sql`
    alter table interactions
      add column upstream_bucket integer,
      add column upstream_hash bytea`.execute(db);
}
