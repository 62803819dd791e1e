/** Ballast: rows of people who are not here, so that every table is as large as after months. One statement a table. */
import { sql } from 'kysely';
import type { Db } from '../src/store/postgres/db.ts';
import { makeAhead } from '../src/store/postgres/partitions.ts';

/** Of these tokens of a grant all but the last were used. */
const TOKENS_A_GRANT = 5;
const TOKENS_A_PERSON = 10;
/** Grants end on one of so many days: a refresh token lives a month. */
const DAYS = 30;

/** How many rows of each kind. */
export interface Ballast {
  refresh_tokens: number;
  grants: number;
  users: number;
}

/** What `rows` refresh tokens bring with them. */
export function ballastOf(rows: number): Ballast {
  const grants = Math.ceil(rows / TOKENS_A_GRANT);
  return { refresh_tokens: grants * TOKENS_A_GRANT, grants, users: Math.ceil(rows / TOKENS_A_PERSON) };
}

/**
 * Fills a migrated database. `phc` is the hash of everybody's password, `client_id` a client that there is. Minutes for ten
 * million tokens.
 */
export async function fill(
  db: Db,
  { refresh_tokens, grants, users }: Ballast,
  { phc, client_id, say }: { phc: string; client_id: string; say: (line: string) => void },
): Promise<void> {
  const now = new Date();
  const sub = (n: string) => sql.raw(`'B' || lpad((${n})::text, 21, '0')`);
  const hash = (prefix: string, n: string) => sql.raw(`sha256(convert_to('${prefix}' || (${n})::text, 'UTF8'))`);
  // The day on which a grant ends is its bucket, and it was given a month before.
  const today = Math.floor(now.getTime() / 86_400_000);
  const bucket = (n: string) => sql.raw(`(${today} + 1 + (${n}) % ${DAYS})`);
  const ends = (n: string) =>
    sql.raw(`(to_timestamp((${today} + 1 + (${n}) % ${DAYS})::bigint * 86400) + interval '12 hours')`);
  const begun = (n: string) => sql`${ends(n)} - interval '30 days'`;
  const grant_id = (n: string) => sql.raw(`'ballast_' || lpad((${n})::text, 22, '0')`);
  const series = (count: number) => sql`generate_series(1, ${sql.raw(String(count))}) n`;
  const grantOfToken = `(n - 1) / ${TOKENS_A_GRANT} + 1`;
  const isLast = sql.raw(`(n % ${TOKENS_A_GRANT} = 0)`);
  const personOfGrant = `(n - 1) % ${users} + 1`;

  const statements = {
    subjects: sql`insert into subjects select ${sub('n')}, 'user' from ${series(users)}`,
    users: sql`
      insert into users (sub, username, username_folded, email, email_folded, email_verified, claims, created_at, updated_at)
      select ${sub('n')}, 'ballast' || n, 'ballast' || n, 'ballast' || n || '@bench.test', 'ballast' || n || '@bench.test',
        true, jsonb_build_object('name', 'Person ' || n, 'given_name', 'Person', 'family_name', n::text), ${now}, ${now}
      from ${series(users)}`,
    password_credentials: sql`
      insert into password_credentials (sub, phc, changed_at) select ${sub('n')}, ${phc}, ${now} from ${series(users)}`,
    sessions: sql`
      insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at)
      select ${bucket('n')}, ${hash('s', 'n')}, 'ballast' || n, 'browser', ${sub('n')}, ${begun('n')}, '{pwd}', '1',
        ${begun('n')}, ${begun('n')}, ${ends('n')}
      from ${series(users)}`,
    consents: sql`
      insert into consents (sub, client_id, resource, scope, updated_at)
      select ${sub('n')}, ${client_id}, '', '{openid,profile,offline_access}', ${now} from ${series(users)}`,
    grants: sql`
      insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
        created_at, expires_at)
      select ${bucket('n')}, ${grant_id('n')}, ${client_id}, ${sub(personOfGrant)}, 'ballast' || ${sql.raw(personOfGrant)},
        '{openid,profile,offline_access}', '{}', ${begun('n')}, '1', '{pwd}', true, ${begun('n')}, ${ends('n')}
      from ${series(grants)} order by 1, 2`,
    authorization_codes: sql`
      insert into authorization_codes (expires_bucket, hash, grant_id, client_id, redirect_uri, code_challenge, nonce,
        created_at, expires_at, used_at)
      select ${bucket('n')}, ${hash('c', 'n')}, ${grant_id('n')}, ${client_id}, 'https://app.bench.test/callback',
        encode(${hash('v', 'n')}, 'base64'), 'a nonce', ${begun('n')}, ${begun('n')} + interval '1 minute', ${begun('n')}
      from ${series(grants)} order by 1, 2`,
    refresh_tokens: sql`
      insert into refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at, used_at, successor_hash)
      select ${bucket(grantOfToken)}, ${hash('r', 'n')}, ${grant_id(grantOfToken)}, ${begun(grantOfToken)},
        ${ends(grantOfToken)}, case when not ${isLast} then ${begun(grantOfToken)} end,
        case when not ${isLast} then ${hash('r', 'n + 1')} end
      from ${series(refresh_tokens)} order by 1, 2`,
  };
  await makeAhead(db, DAYS, now);
  await db.connection().execute(async (connection) => {
    // Rows that are right by construction need no look at each other, and in the order of their index they go in fast.
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`set work_mem = '512MB'`.execute(connection);
    for (const [table, statement] of Object.entries(statements)) {
      const began = performance.now();
      await statement.execute(connection);
      // What autovacuum would do at some time, so that it does not do it while we measure.
      await sql`vacuum (analyze) ${sql.id(table)}`.execute(connection);
      say(`  ${table} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    }
    await sql`checkpoint`.execute(connection);
    await sql`reset all`.execute(connection);
  });
}
