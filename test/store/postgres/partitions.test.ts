/** Partitions: made ahead, found by every lookup, dropped when the last of their days is over, and never missed. */
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../../src/cli/doctor/diagnosis.ts';
import * as accessTokens from '../../../src/store/access-tokens.ts';
import * as codes from '../../../src/store/authorization-codes.ts';
import { transact, type Db, type Trx } from '../../../src/store/postgres/db.ts';
import { bucketOf, readHandle, sha256 } from '../../../src/protocol/handle.ts';
import { estimateRows } from '../../../src/store/postgres/listing.ts';
import {
  around,
  defaultOf,
  dropPast,
  missingRanges,
  makeAhead,
  PARTITIONED,
  partitionsOf,
  withoutPartition,
  type Partitioned,
  type Range,
} from '../../../src/store/postgres/partitions.ts';
import * as refreshTokens from '../../../src/store/refresh-tokens.ts';
import * as replays from '../../../src/store/replays.ts';
import { overdueSince, sweep } from '../../../src/store/postgres/sweep.ts';
import { keepPartitions } from '../../../src/workers/keep-partitions.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  credentials,
  introspect,
  postForm,
  redeem,
  REDIRECT_URI,
  refresh,
  someTokens,
  userinfo,
} from '../../support/fixtures.ts';
import { recordStatements, stepsOf, type Plan, type Statement } from '../../support/lists.ts';
import { atOnce, overtaken } from '../../support/races.ts';

const DAY = 86_400;
const GRANT = 30;

let at: TestApp;
let db: Db;
beforeAll(async () => {
  at = await testApp();
  db = at.deps.db;
});
afterAll(() => at.close());

const today = (): number => bucketOf(at.clock.now());
const dayOf = (bucket: number): Date => new Date(bucket * DAY * 1000);
const rangesOf = async (table: Partitioned): Promise<Range[]> =>
  (await partitionsOf(db, [table])).map(({ from, to }) => ({ from, to }));
/** In which partition each of these identifiers lies. */
const placesOf = async (...identifiers: string[]): Promise<string[]> => {
  const hashes = identifiers.map((identifier) => sha256(identifier));
  const { rows } = await sql<{ place: string }>`
    select tableoid::regclass::text as place from replays where hash = any(${hashes}::bytea[]) order by expires_bucket`.execute(
    db,
  );
  return rows.map(({ place }) => place);
};

describe('which partitions there are to be', () => {
  const now = dayOf(20_780);

  test('for the longest life of a row, and the time of one partition more, in a handful of them', () => {
    for (const grant of [0.01, 1, 7, 14, 30, 90, 400]) {
      const ranges = missingRanges([], 'refresh_tokens', grant, now);
      expect(ranges.length).toBeLessThanOrEqual(9);
      expect(ranges[0]!.from).toBeLessThanOrEqual(20_780);
      expect(ranges.at(-1)!.to).toBeGreaterThan(20_780 + grant + 7);
      for (const [n, { from, to }] of ranges.entries()) {
        expect(from).toBe(n > 0 ? ranges[n - 1]!.to : from);
        // What `around` says of any day lies in one of them.
        expect([from % 7, to % 7]).toEqual([0, 0]);
      }
    }
    expect(missingRanges([], 'replays', GRANT, now).map(({ from }) => from)).toEqual([20_780, 20_781, 20_782]);
  });

  test('in between those that are there, however wide they were made', () => {
    const there = [
      { from: -Infinity, to: 20_783 },
      { from: 20_790, to: 20_797 },
    ];
    const [first, second, third] = missingRanges(there, 'refresh_tokens', 120, now);
    expect([first, second]).toEqual([
      { from: 20_783, to: 20_790 },
      { from: 20_797, to: 20_804 },
    ]);
    expect(third).toEqual({ from: 20_804, to: 20_832 });
    expect(
      missingRanges([...there, ...missingRanges(there, 'refresh_tokens', 120, now)], 'refresh_tokens', 120, now),
    ).toEqual([]);
  });
});

describe('making them', () => {
  const diagnosis = (): Promise<unknown> =>
    checks.partitions({ deps: at.deps } as Parameters<typeof checks.partitions>[0]);

  test('what lay in the default partition is moved where it belongs, and is claimed no second time', async () => {
    const [soon, far] = [dayOf(today() + 1), dayOf(today() + 99)];
    expect(await replays.claim(db, 'soon', soon)).toBe(true);
    expect(await replays.claim(db, 'far', far)).toBe(true);
    expect(await placesOf('soon', 'far')).toEqual(['replays_default', 'replays_default']);
    expect(await withoutPartition(db, at.clock.now())).toEqual(['replays']);
    expect(await diagnosis()).toEqual([
      expect.objectContaining({ level: 'warning', message: expect.stringMatching(/replays/) as string }),
    ]);

    expect(await makeAhead(db, GRANT, at.clock.now())).toEqual([]);
    expect(await placesOf('soon', 'far')).toEqual([
      expect.stringMatching(/^replays_\d{4}_\d\d_\d\d$/),
      'replays_default',
    ]);
    expect(await replays.claim(db, 'soon', soon)).toBe(false);
    expect(await replays.claim(db, 'far', far)).toBe(false);
    await sql`delete from replays`.execute(db);
    expect(await withoutPartition(db, at.clock.now())).toEqual([]);
    expect(await diagnosis()).toEqual([expect.objectContaining({ level: 'ok' })]);
  });

  test('each has the indexes of its table', async () => {
    const { rows } = await sql<{ table: string; indexes: number }>`
      select c.relname as table, (select count(*)::int from pg_index i where i.indrelid = c.oid) as indexes
      from pg_class c where c.oid = 'refresh_tokens'::regclass
        or c.oid in (select inhrelid from pg_inherits where inhparent = 'refresh_tokens'::regclass)`.execute(db);
    expect(rows.length).toBeGreaterThan(5);
    expect(new Set(rows.map(({ indexes }) => indexes))).toEqual(new Set([1]));
  });

  test('servers that make them at once make each once', async () => {
    const later = new Date(at.clock.now().getTime() + 60 * DAY * 1000);
    const left = await atOnce(3, () => makeAhead(db, GRANT, later));
    // Who had to wait for too long left it to the others.
    for (const table of Object.keys(PARTITIONED) as Partitioned[]) {
      if (left.every((tables) => tables.includes(table))) await makeAhead(db, GRANT, later);
      expect(missingRanges(await rangesOf(table), table, GRANT, later)).toEqual([]);
      const ranges = await rangesOf(table);
      for (const [n, { to }] of ranges.slice(0, -1).entries()) expect(to).toBeLessThanOrEqual(ranges[n + 1]!.from);
    }
  });

  test('an insert on its way into the default partition is waited for, and moved', async () => {
    const later = new Date(at.clock.now().getTime() + 120 * DAY * 1000);
    const expires_at = new Date(later.getTime() + DAY * 1000);
    // Held for longer than anyone waits: it is left for the next turn.
    await transact(db, async (trx) => {
      await replays.claim(trx, 'on its way', expires_at);
      const began = performance.now();
      expect(await makeAhead(db, GRANT, later)).toEqual(['replays']);
      expect(performance.now() - began).toBeLessThan(5000);
    });
    expect(await placesOf('on its way')).toEqual(['replays_default']);
    await makeAhead(db, GRANT, later);
    expect(await placesOf('on its way')).toEqual([expect.stringMatching(/^replays_\d/)]);
  });

  test('an insert that meets the making of its partition goes there', async () => {
    const later = new Date(at.clock.now().getTime() + 180 * DAY * 1000);
    const expires_at = dayOf(bucketOf(later) + 1);
    await overtaken(
      db,
      // As makeAhead does, but held open.
      async (trx) => {
        await sql`lock table only replays in access exclusive mode`.execute(trx);
        const [from, to] = [bucketOf(expires_at), bucketOf(expires_at) + 1].map((day) => sql.lit(day));
        await sql`create table replays_here partition of replays for values from (${from}) to (${to})`.execute(trx);
      },
      () => replays.claim(db, 'met', expires_at),
    );
    expect(await placesOf('met')).toEqual(['replays_here']);
  });

  test('too much to be moved while others wait stays where it is, and is found', async () => {
    const later = new Date(at.clock.now().getTime() + 240 * DAY * 1000);
    const bucket = bucketOf(later);
    await sql`
      insert into replays (expires_bucket, hash, expires_at)
      select ${bucket}, sha256(n::text::bytea), ${later} from generate_series(1, 5001) n`.execute(db);
    await makeAhead(db, GRANT, later);
    const ranges = await rangesOf('replays');
    expect(ranges.some(({ from }) => from === bucket)).toBe(false);
    expect(ranges.some(({ from }) => from === bucket + 1)).toBe(true);
    expect(await replays.claim(db, '7', later)).toBe(false);
    await sql`delete from replays`.execute(db);
  });
});

describe('dropping them', () => {
  test('what a table has is counted over its partitions, once', async () => {
    await sql`
      insert into replays (expires_bucket, hash, expires_at)
      select ${today()} + n % 2, sha256(n::text::bytea), now() from generate_series(1, 100) n`.execute(db);
    await sql`analyze replays`.execute(db);
    expect(await estimateRows(db, 'replays')).toBe(100);
    await sql`delete from replays`.execute(db);
  });

  test('whoever reads a table for long keeps it, and makes nobody wait', async () => {
    const past = dayOf((await partitionsOf(db, ['replays']))[0]!.to);
    await transact(db, async (trx) => {
      await sql`select from replays limit 1`.execute(trx);
      expect(await dropPast(db, past)).toEqual([(await partitionsOf(db, ['replays']))[0]!.name]);
      expect(await replays.claim(db, 'meanwhile', past)).toBe(true);
    });
    const before = await partitionsOf(db, ['replays']);
    expect(await overdueSince(db, past)).toEqual(past);
    expect(await dropPast(db, past)).toEqual([]);
    expect(await partitionsOf(db, ['replays'])).toEqual(before.slice(1));
    expect(await overdueSince(db, past)).toBeUndefined();
    await sql`delete from replays`.execute(db);
  });
});

/** The partitions of each table that a statement reads. */
async function touched({ text, values = [] }: Statement): Promise<Array<[string, string[]]>> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    CompiledQuery.raw(`explain (format json) ${text}`, values),
  );
  const names = stepsOf(rows[0]!['QUERY PLAN'][0].Plan).flatMap((step) => step['Relation Name'] ?? []);
  const isOf = (table: string, name: string): boolean =>
    name.startsWith(table) && /^_(?:default|\d{4}_\d\d_\d\d)$/.test(name.slice(table.length));
  return Object.keys(PARTITIONED).map((table) => [table, [...new Set(names.filter((name) => isOf(table, name)))]]);
}

describe('with partitions, from the code to the last day', () => {
  test('a statement of a hot path reads one partition of each table', async () => {
    await keepPartitions(at.deps).run();
    const client = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
    const { tokens, browser } = await someTokens(at, { client });
    const { code } = await anAuthorizationCode(at, { client, browser });
    const now = at.clock.now();
    const asked = {
      client_id: client.client_id,
      resource: [],
      open_scopes: ['openid'],
      proven: true,
      cnf: null,
      retried_after: now,
      memberships: { scope: [], resource: [] },
    };
    const given = { hash: sha256('given'), expires_at: now };
    const quick = { room: null, opaque: [], made: null };
    const verbs: Array<(trx: Trx) => Promise<unknown>> = [
      (trx) =>
        refreshTokens.rotate(
          trx,
          { ...asked, token: readHandle(tokens.refresh_token)!, scope: [], successor: given, retry: null },
          quick,
          now,
        ),
      (trx) => refreshTokens.findLive(trx, readHandle(tokens.refresh_token)!, now),
      (trx) => refreshTokens.grantOf(trx, readHandle(tokens.refresh_token)!, now),
      (trx) =>
        codes.redeem(
          trx,
          {
            ...asked,
            code: readHandle(code)!,
            redirect_uri: REDIRECT_URI,
            code_challenge: null,
            refresh_token: given,
            retried_after: now,
          },
          quick,
          now,
        ),
      (trx) => accessTokens.findLive(trx, readHandle(tokens.access_token)!, now),
    ];
    const statements = recordStatements();
    // In a transaction each is asked for by itself.
    for (const verb of verbs) await transact(db, verb);
    const hot = statements.take().filter(({ text }) => /expires_bucket/.test(text));
    statements.stop();
    expect(hot).toHaveLength(verbs.length);
    const seen = new Set<string>();
    for (const statement of hot) {
      for (const [table, partitions] of await touched(statement)) {
        if (partitions.length > 0) seen.add(table);
        expect(partitions.length, `${table} in ${statement.text}`).toBeLessThanOrEqual(1);
        expect(partitions).not.toContain(defaultOf(table as Partitioned));
      }
    }
    expect([...seen].toSorted()).toEqual(['access_tokens', 'authorization_codes', 'refresh_tokens']);
  });

  test('a plan that Postgres keeps has one partition, too, and made-up days make no statements', async () => {
    const now = at.clock.now();
    const shown = (bucket: number): Promise<string[]> =>
      db.connection().execute(async (one) => {
        const { text } = around('refresh_tokens', 'expires_bucket', bucket, now);
        await sql`set plan_cache_mode = force_generic_plan`.execute(one);
        await sql
          .raw(`prepare kept (int) as select from refresh_tokens where expires_bucket = $1 and ${text}`)
          .execute(one);
        const { rows } = await sql.raw<{ 'QUERY PLAN': string }>('explain execute kept (1)').execute(one);
        await sql`deallocate kept`.execute(one);
        await sql`reset all`.execute(one);
        return rows.map((row) => row['QUERY PLAN']).filter((line) => /on refresh_tokens_\w+ /.test(line));
      });
    for (const bucket of [today(), today() + 10, today() + 30]) {
      expect(await shown(bucket)).toEqual([expect.stringMatching(/refresh_tokens_\d{4}_\d\d_\d\d /)]);
    }
    const texts = Array.from({ length: 4000 }, (_, n) => around('refresh_tokens', 'c', today() - 2000 + n, now).text);
    expect(new Set(texts).size).toBeLessThanOrEqual(8);
  });

  test('RFC 6749 §4.1.2, RFC 9700 §4.14.2: what was used is known until its partition goes, and unknown from then on', async () => {
    const client = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
    const { tokens, ...code } = await someTokens(at, { client });
    const { rows } = await sql<{ bucket: number }>`select max(expires_bucket) as bucket from grants`.execute(db);
    const { bucket } = rows[0]!;
    const { to } = (await rangesOf('refresh_tokens')).find(({ from, to: end }) => from <= bucket && bucket < end)!;
    const rowsOf = async (table: string): Promise<number> =>
      Number((await sql<{ n: string }>`select count(*) as n from ${sql.table(table)}`.execute(db)).rows[0]!.n);
    const turn = async (): Promise<void> => {
      await keepPartitions(at.deps).run();
      while ((await sweep(db, at.clock.now(), new Date(0))) > 0);
    };
    const reused = await refresh(at, client, tokens.refresh_token);
    const { refresh_token: second } = reused.json<{ refresh_token: string }>();
    expect((await refresh(at, client, second)).statusCode).toBe(200);

    const advanceTo = async (day: number): Promise<void> => {
      while (today() < day - 1) {
        at.clock.advance(Math.min(4, day - 1 - today()) * DAY);
        await turn();
      }
      at.clock.advance((dayOf(day).getTime() - at.clock.now().getTime()) / 1000 - 1);
      await turn();
    };
    const revokedFor = async (): Promise<Array<string | null>> =>
      (await db.selectFrom('grants').select('revoked_for').execute()).map(({ revoked_for }) => revoked_for);

    // To the last second of the day on which the grant ends: who comes with a used token then ends it for the other.
    await advanceTo(bucket + 1);
    expect(await rowsOf('access_tokens')).toBe(0);
    expect(new Set(await revokedFor())).toEqual(new Set([null]));
    expect((await refresh(at, client, tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
    expect(await revokedFor()).toContain('refresh_token_reuse');

    // The codes and tokens of its week go together.
    await advanceTo(to);
    for (const table of ['authorization_codes', 'refresh_tokens']) expect(await rowsOf(table)).toBeGreaterThan(0);
    expect((await rowsOf('grants')) > 0).toBe(bucket + 1 === to);
    const refused = { error: 'invalid_grant' };
    for (const token of [tokens.refresh_token, second])
      expect((await refresh(at, client, token)).json()).toMatchObject(refused);
    at.clock.advance(1);
    await turn();
    for (const table of ['authorization_codes', 'refresh_tokens']) expect(await rowsOf(table)).toBe(0);
    expect((await partitionsOf(db)).filter((partition) => partition.to <= today())).toEqual([]);
    expect((await redeem(at, { ...code, client })).json()).toMatchObject({ error: 'invalid_grant' });
    for (const token of [tokens.refresh_token, second])
      expect((await refresh(at, client, token)).json()).toMatchObject({ error: 'invalid_grant' });
    for (const token of [tokens.refresh_token, tokens.access_token]) {
      expect(await introspect(at, client, token)).toEqual({ active: false });
      expect((await postForm(at, '/revoke', { token, ...credentials(client) })).statusCode).toBe(200);
    }
    expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  });
});
