/** A database whose clock is wrong for a while: no job deletes what is alive by it, and all of them go on afterwards. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { followDatabase, type FollowingClock } from '../../src/main/time.ts';
import { createMetrics } from '../../src/platform/prometheus.ts';
import { partitionsOf } from '../../src/store/postgres/partitions.ts';
import { keepPartitions } from '../../src/workers/keep-partitions.ts';
import { reapClients } from '../../src/workers/reap-clients.ts';
import { rotateKeys } from '../../src/workers/rotate-keys.ts';
import { sweepExpired } from '../../src/workers/sweep-expired.ts';
import { testApp, testClock, type TestApp } from '../support/app.ts';
import { aMachineAndADatabase, type Clocks } from '../support/clocks.ts';
import { introspect, refresh, someTokens } from '../support/fixtures.ts';
import { sample } from '../support/scrape.ts';

const DAYS = 86_400;
const JOBS = [keepPartitions, reapClients, rotateKeys, sweepExpired];

let at: TestApp;
let clocks: Clocks;
let clock: FollowingClock;
const said: Array<[object | string, string?]> = [];
const log = { info: () => {}, warn: note, error: note };
function note(...line: [object | string, string?]): void {
  said.push(line);
}
const metrics = createMetrics();

beforeEach(async () => {
  at = await testApp({ clock: testClock() });
  clocks = aMachineAndADatabase(at.clock.now());
  said.length = 0;
  clock = followDatabase(at.deps.db, metrics, log, clocks.readTime, clocks.sources);
});
afterEach(() => at.close());

/** Seconds go by, for the application, too. */
function pass(seconds: number): void {
  clocks.pass(seconds);
  at.clock.advance(seconds);
}

/** Each job has its turn; what those say that do nothing. */
async function turn(): Promise<string[]> {
  const deps = { ...at.deps, clock: clock.now, clockDoubt: clock.doubt, carefulTime: clock.careful };
  const failures: string[] = [];
  for (const make of JOBS)
    await make(deps)
      .run()
      .catch((error: Error) => failures.push(error.message));
  return failures;
}

/** Everything that a job could take. */
async function rows(): Promise<Record<string, number>> {
  const tables = [
    'grants',
    'sessions',
    'refresh_tokens',
    'audit_events',
    'signing_keys',
    'clients',
    'failures',
  ] as const;
  const counts = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await at.deps.db
        .selectFrom(table)
        .select((count) => count.fn.countAll<string>().as('rows'))
        .executeTakeFirstOrThrow();
      return [table, Number(rows)] as const;
    }),
  );
  return { ...Object.fromEntries(counts), partitions: (await partitionsOf(at.deps.db)).length };
}

const FAILURE = { key: 'somebody', count: 7, last_at: new Date() };

test.each([
  ['ahead', 45 * DAYS],
  ['behind', -45 * DAYS],
])('a database that is 45 days %s for a minute costs nobody anything', async (_way, by) => {
  await clock.compare();
  const { client, tokens } = await someTokens(at);
  await at.deps.db
    .insertInto('failures')
    .values({ ...FAILURE, last_at: at.clock.now() })
    .execute();
  expect(await turn()).toEqual([]);
  const before = await rows();
  clocks.move('database', by);
  const refused = await turn();
  expect(refused).toHaveLength(JOBS.length);
  for (const why of refused)
    expect(why).toMatch(/^the clock of the database is 3888000 s (?:ahead of|behind) ours: nothing is deleted/);
  expect(clock.now()).toEqual(clocks.truth());
  pass(60);
  await turn();
  clocks.move('database', -by);
  expect(await turn()).toEqual([]);
  expect(await rows()).toEqual(before);
  expect(clock.doubt()).toBeUndefined();
  expect(await introspect(at, client, tokens.refresh_token)).toMatchObject({ active: true });
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(200);
});

test('a server whose own clock is 45 days ahead deletes nothing, from its first turn on', async () => {
  await someTokens(at);
  const before = await rows();
  clocks.move('machine', 45 * DAYS);
  clock = followDatabase(at.deps.db, metrics, log, clocks.readTime, clocks.sources);
  await clock.compare();
  expect(await turn()).toHaveLength(JOBS.length);
  expect(await rows()).toEqual(before);
});

test('within the minute that is believed, what deletes goes by the earlier of the two', async () => {
  await clock.compare();
  clocks.move('database', -50);
  expect(await clock.careful()).toEqual(new Date(clocks.truth().getTime() - 50_000));
  clocks.move('database', 95);
  expect((await clock.careful()) <= clocks.truth()).toBe(true);
});

test('once they agree that 45 days have gone by, what is over is deleted', async () => {
  await clock.compare();
  await someTokens(at);
  const before = await rows();
  pass(45 * DAYS);
  expect(await turn()).toEqual([]);
  const after = await rows();
  expect([before['grants'], after['grants']]).toEqual([1, 0]);
});

test('it is said once in the log, not with every reading, and counted with each; that it is over is said, too', async () => {
  const count = async (outcome: string): Promise<number | undefined> =>
    sample((await metrics.text()).body)('postern_clock_readings_total', { outcome });
  await clock.compare();
  const before = (await count('doubted'))!;
  clocks.move('database', 3600);
  for (let readings = 0; readings < 5; readings += 1) await clock.compare();
  expect(said).toEqual([[{ seconds_ahead: 3600 }, expect.stringContaining('far apart')]]);
  expect((await count('doubted'))! - before).toBe(5);
  expect(sample((await metrics.text()).body)('postern_clock_offset_seconds')).toBe(3600);
  clocks.move('database', -3595);
  await clock.compare();
  expect(said.slice(1)).toEqual([
    [{ seconds_ahead: 5 }, expect.stringContaining('was moved')],
    [expect.stringContaining('agree again')],
  ]);
});
