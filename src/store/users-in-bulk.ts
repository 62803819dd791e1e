/** Many accounts in few statements: for imports. */
import { sql } from 'kysely';
import type { AuditRow } from './audit-log.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { FoldedNames, User } from './users.ts';

/** An account to be written, with the hash of its password if it has one. */
export type NewRow = Pick<
  User,
  'sub' | 'username' | 'email' | 'email_verified' | 'claims' | 'disabled_at' | 'created_at' | 'updated_at'
> &
  FoldedNames & { phc: string | undefined };

/** Imports are written one part after the other, whoever runs them: two of the same people would wait for each other. */
export async function lock(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('postern user imports'))`.execute(trx);
}

/** Accounts that have one of these subs or names, as they are. */
export async function findAny(
  db: Db,
  subs: readonly string[],
  names: readonly FoldedNames[],
): Promise<Array<{ sub: string } & FoldedNames>> {
  const usernames = names.flatMap(({ username_folded, username_casefold }) => [username_folded, username_casefold]);
  const emails = names.flatMap(({ email_folded, email_casefold }) => [email_folded, email_casefold]);
  // Each by its own index: of conditions that are joined by "or" Postgres reads the whole table.
  const { rows } = await sql<{ sub: string } & FoldedNames>`
    with named as (
      select sub from users where sub = any(${subs})
      union select sub from users where username_folded = any(${usernames})
      union select sub from users where username_casefold = any(${usernames})
      union select sub from users where email_folded = any(${emails})
      union select sub from users where email_casefold = any(${emails}))
    select sub, username_folded, username_casefold, email_folded, email_casefold
    from users join named using (sub)`.execute(db);
  return rows;
}

/** Which of these subs were ever given out. */
export async function givenOut(db: Db, subs: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('subjects')
    .select('sub')
    .where('sub', '=', sql<string>`any(${subs})`)
    .execute();
  return new Set(rows.map(({ sub }) => sub));
}

/** Writes those whose sub and names are free at this moment, and returns their subs. */
export async function insertMany(trx: Trx, rows: readonly NewRow[]): Promise<Set<string>> {
  const documents = (members: readonly object[]): string => JSON.stringify(members);
  const claimed = await sql<{ sub: string }>`
    insert into subjects (sub, kind) select sub, 'user' from unnest(${rows.map(({ sub }) => sub)}::text[]) as given (sub)
    on conflict do nothing returning sub`.execute(trx);
  const free = new Set(claimed.rows.map(({ sub }) => sub));
  const { rows: made } = await sql<{ sub: string }>`
    insert into users (sub, username, username_folded, username_casefold, email, email_folded, email_casefold,
      email_verified, claims, disabled_at, created_at, updated_at)
    select sub, username, username_folded, username_casefold, email, email_folded, email_casefold,
      email_verified, claims, disabled_at, created_at, updated_at
    from jsonb_to_recordset(${documents(rows.filter(({ sub }) => free.has(sub)))}::jsonb) as given (
      sub text, username text, username_folded text, username_casefold text, email text, email_folded text,
      email_casefold text, email_verified boolean, claims jsonb, disabled_at timestamptz, created_at timestamptz,
      updated_at timestamptz)
    on conflict do nothing returning sub`.execute(trx);
  const written = new Set(made.map(({ sub }) => sub));
  const lost = [...free].filter((sub) => !written.has(sub));
  if (lost.length > 0)
    await trx
      .deleteFrom('subjects')
      .where('sub', '=', sql<string>`any(${lost})`)
      .execute();
  const passwords = rows.filter(({ sub, phc }) => phc !== undefined && written.has(sub));
  if (passwords.length > 0) {
    const members = passwords.map(({ sub, phc, created_at }) => ({ sub, phc, changed_at: created_at }));
    await sql`
      insert into password_credentials (sub, phc, changed_at)
      select sub, phc, changed_at
      from jsonb_to_recordset(${documents(members)}::jsonb) as given (sub text, phc text, changed_at timestamptz)`.execute(
      trx,
    );
  }
  return written;
}

/** Adds many events to the audit log. */
export async function appendMany(trx: Trx, rows: readonly AuditRow[]): Promise<void> {
  await sql`
    insert into audit_events (at, event, sub, client_id, actor, ip, request_id, detail)
    select at, event, sub, client_id, actor, ip, request_id, coalesce(detail, '{}')
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (
      at timestamptz, event text, sub text, client_id text, actor text, ip text, request_id text, detail jsonb)`.execute(
    trx,
  );
}
