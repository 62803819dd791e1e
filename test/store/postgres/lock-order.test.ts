/** Two servers whose transactions want the same rows: neither waits for the other. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as codes from '../../../src/store/authorization-codes.ts';
import { transact, type Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import * as grants from '../../../src/store/grants.ts';
import { sha256 } from '../../../src/protocol/handle.ts';
import { inOrder, NO_ROW, type Locked } from '../../../src/store/postgres/lock-order.ts';
import * as refreshTokens from '../../../src/store/refresh-tokens.ts';
import * as sessions from '../../../src/store/sessions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const BUCKET = 30_000;
const NOW = new Date();
const LATER = new Date(NOW.getTime() + 86_400_000);
const NOBODY = { scope: [], resource: [] };
const QUICK = { room: null, opaque: [], made: null };
const SOME = 40;

let of: TestDatabase;
/** Two servers. */
let both: [Db, Db];
const numbers = Array.from({ length: SOME }, (_, n) => n);
const hashOf = (kind: string, n: number): Buffer => sha256(`${kind}${n}`);
const grantOf = (n: number): string => `${BUCKET.toString(36)}_${String(n).padStart(22, 'g')}`;
/** Hashes in the order of bytes, or against it. */
const hostile = (n: number): Buffer => Buffer.from(String(n).padStart(32, '0'));

beforeAll(async () => {
  of = await createTestDatabase({ max: 8 });
  both = [of.db, openDb(of.connection, { max: 8 })];
  await sql`
    insert into users (sub, username, username_folded, email_verified, claims, created_at, updated_at)
    values ('sub', 'name', 'name', false, '{}', ${NOW}, ${NOW})`.execute(of.db);
  await sql`
    insert into clients (client_id, contacts, application_type, token_endpoint_auth_method, redirect_uris,
      post_logout_redirect_uris, grant_types, scope, allowed_origins, id_token_signed_response_alg, require_pkce,
      skip_consent, may_introspect, registered_by, created_at, updated_at)
    values ('client', '{}', 'web', 'none', '{https://app.example.test}', '{}', '{authorization_code}', '{openid}', '{}',
      'RS256', true, false, false, 'operator', ${NOW}, ${NOW})`.execute(of.db);
  for (const n of numbers) {
    await sql`
      insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at)
      values (${BUCKET}, ${hashOf('session', n)}, ${`sid${n}`}, 'browser', 'sub', ${NOW}, '{pwd}', '1', ${NOW}, ${NOW},
        ${LATER})`.execute(of.db);
    await sql`
      insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
        created_at, expires_at)
      values (${BUCKET}, ${grantOf(n)}, 'client', 'sub', ${`sid${n}`}, '{openid}', '{}', ${NOW}, '1', '{pwd}', true, ${NOW},
        ${LATER})`.execute(of.db);
    await sql`
      insert into refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at)
      values (${BUCKET}, ${hostile(n)}, ${grantOf(n)}, ${NOW}, ${LATER})`.execute(of.db);
  }
});
afterAll(async () => {
  await both[1].destroy();
  await of.close();
});

/** How often two transactions waited for each other. */
async function deadlocks(): Promise<number> {
  await sql`select pg_stat_force_next_flush(), pg_stat_clear_snapshot()`.execute(of.db);
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::int from pg_stat_database where datname = current_database()`.execute(of.db);
  return rows[0]!.deadlocks;
}

test('two servers rotate the same tokens at once, whose successors sort against them: nobody waits for the other', async () => {
  const rotate = (db: Db, n: number, successor: Buffer): Promise<unknown> =>
    refreshTokens.rotate(
      db,
      {
        token: { expires_bucket: BUCKET, hash: hostile(n) },
        client_id: 'client',
        scope: [],
        resource: [],
        open_scopes: ['openid'],
        proven: true,
        cnf: null,
        successor: { hash: successor, expires_at: LATER },
        retry: null,
        retried_after: NOW,
        memberships: NOBODY,
      },
      QUICK,
      NOW,
    );
  // The first value that is bytes is the successor: of one server these ascend with the tokens, of the other they descend.
  const successor = [(n: number) => hostile(1000 + n), (n: number) => hostile(3000 - n)] as const;
  const before = await deadlocks();
  // Each row is slow to be written, so that the transactions of both last.
  await sql`
    create function tardy() returns trigger language plpgsql as $$ begin perform pg_sleep(0.005); return new; end $$`.execute(
    of.db,
  );
  await sql`create trigger tardy before update on refresh_tokens for each row execute function tardy()`.execute(of.db);
  const answers = await Promise.allSettled(
    both.flatMap((db, server) => numbers.map((n) => rotate(db, n, successor[server]!(n)))),
  );
  expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(answers.filter((one) => one.status === 'fulfilled' && one.value !== undefined)).toHaveLength(SOME);
  expect(await deadlocks()).toBe(before);
});

test('a batch of answers and of revocations, a password change and the end of a client: nobody waits for the other', async () => {
  const issue = (db: Db, n: number, round: number): Promise<unknown> =>
    codes.issue(
      db,
      {
        code: { expires_bucket: BUCKET, hash: hashOf(`code${round}`, n) },
        grant: {
          grant_id: `${grantOf(n).slice(0, -4)}${String(round * 100 + n).padStart(4, 'n')}`,
          expires_at: LATER,
          client_id: 'client',
          scope: ['openid'],
          resource: [],
          acr: '1',
          offline: false,
          requested_claims: null,
          authorization_details: null,
          sector: '',
          confidential: true,
        },
        redirect_uri: 'https://app.example.test',
        registered_uri: 'https://app.example.test',
        registered_resources: [],
        code_challenge: null,
        dpop_jkt: null,
        nonce: null,
        expires_at: LATER,
        session: { expires_bucket: BUCKET, hash: hashOf('session', n) },
        interaction: null,
        pushed: null,
      },
      NOW,
    );
  const before = await deadlocks();
  for (let round = 0; round < 3; round += 1) {
    const work = both.flatMap((db) => [
      ...numbers.map((n) => grants.revoke(db, grantOf(SOME - 1 - n), {}, 'revocation', NOW)),
      ...numbers.map((n) => issue(db, n, round)),
      transact(db, async (trx) => {
        await sessions.lockAllOf(trx, 'sub');
        await grants.revokeAllOf(trx, { sub: 'sub' }, 'password_change', NOW);
      }),
      transact(db, (trx) => grants.revokeAllOf(trx, { client_id: 'client' }, 'client_disabled', NOW)),
    ]);
    const answers = await Promise.allSettled(work);
    expect(answers.filter((one) => one.status === 'rejected' && /deadlock/.test(String(one.reason)))).toEqual([]);
  }
  expect(await deadlocks()).toBe(before);
});

test('rows are locked table by table, and within each by their key', () => {
  const row = (table: 'sessions' | 'grants', key: string): Locked => ({
    table,
    row: table === 'grants' ? { expires_bucket: 1, grant_id: key } : { expires_bucket: 1, hash: Buffer.from(key) },
  });
  const sorted: Locked[] = [NO_ROW, row('sessions', 'a'), row('sessions', 'b'), row('grants', 'B'), row('grants', 'a')];
  expect(sorted.toReversed().toSorted(inOrder)).toEqual(sorted);
});
