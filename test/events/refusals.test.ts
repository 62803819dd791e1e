/** The store of refusals cannot be flooded, costs no request anything, and holds no secret. */
import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRefusals, findRefusals, listRefusals, type RefusedRequest } from '../../src/events/refusals.ts';
import { invalidRequest, type OAuthError } from '../../src/protocol/error.ts';
import { list, trim } from '../../src/store/refusals.ts';
import { sweep } from '../../src/store/postgres/sweep.ts';
import { sweepExpired } from '../../src/workers/sweep-expired.ts';
import { keepRefusals } from '../../src/workers/keep-refusals.ts';
import { configWith } from '../../src/config.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, credentials } from '../support/fixtures.ts';
import { formOf, postRaw } from '../support/oauth.ts';
import { atOnce } from '../support/races.ts';

let at: TestApp;
beforeEach(async () => {
  at = await testApp();
});
afterEach(() => at.close());

const WEEK = 604_800;
const NETWORK = '192.0.2.0/24';
const asked = (changes: Partial<RefusedRequest> = {}): RefusedRequest => ({
  ip: '192.0.2.7',
  network: NETWORK,
  request_id: 'a-request-of-mine',
  method: 'POST',
  route: '/token',
  status: 400,
  ...changes,
});
const refusal = (): OAuthError => invalidRequest('why', { check: 'form' });

interface KeptRow {
  kept: number;
  dropped: number;
}
const rows = async (): Promise<KeptRow> => {
  const {
    rows: [row],
  } = await sql<KeptRow>`
    select count(*) filter (where request_id is not null)::int as kept, coalesce(sum(dropped), 0)::int as dropped
    from refusals`.execute(at.deps.db);
  return row!;
};
/** Written as by somebody long before. */
const written = (network: string, n: number): Promise<unknown> =>
  sql`
  insert into refusals (expires_bucket, at, request_id, network, "check")
  select 99999, ${at.clock.now()}::timestamptz - make_interval(secs => i), ${network} || i, ${network}, 'form'
  from generate_series(1, ${n}::int) i`.execute(at.deps.db);

describe('refusals are kept in bounds', () => {
  test('of 10,000 from one network in a minute a handful is kept, the others are counted, and the next network is heard', async () => {
    const { refusals } = at.deps;
    for (let n = 0; n < 10_000; n += 1) {
      refusals.note(refusal(), asked({ request_id: `flood-${n}`, claimed: `made-up-${n}` }), at.clock.now());
    }
    refusals.note(refusal(), asked({ network: '198.51.100.0/24', request_id: 'somebody-else' }), at.clock.now());
    await refusals.close(at.clock.now());
    expect(await rows()).toEqual({ kept: 61, dropped: 9_940 });
    expect(await findRefusals(at.deps, 'somebody-else')).toHaveLength(1);
  });

  test('the same refusal again and again leaves room for others of the same network', async () => {
    const { refusals } = at.deps;
    for (let n = 0; n < 100; n += 1) refusals.note(refusal(), asked({ claimed: 'loop' }), at.clock.now());
    refusals.note(refusal(), asked({ claimed: 'other', request_id: 'the-other-one' }), at.clock.now());
    await refusals.close(at.clock.now());
    expect(await rows()).toEqual({ kept: 16, dropped: 85 });
    expect(await findRefusals(at.deps, 'the-other-one')).toHaveLength(1);
  });

  test('of 10,000 from as many networks no more than 600 are kept in a minute, and in the next as many again', async () => {
    const { refusals } = at.deps;
    const flood = () => {
      for (let n = 0; n < 10_000; n += 1) refusals.note(refusal(), asked({ network: `n${n}` }), at.clock.now());
    };
    flood();
    at.clock.advance(60);
    flood();
    await refusals.close(at.clock.now());
    // In memory there is room for 1000, the summary of the first minute among them.
    expect(await rows()).toEqual({ kept: 999, dropped: 19_001 });
    const summaries = (await listRefusals(at.deps, {}, 1000)).filter(({ dropped }) => dropped > 0);
    expect(summaries.map(({ dropped, request_id, check }) => [dropped, request_id, check])).toEqual([
      [9_601, null, null],
      [9_400, null, null],
    ]);
  });

  test('over HTTP, too: requests are refused as fast, and the heap holds what was kept', async () => {
    const client = await aClient(at);
    const body = formOf({ ...credentials(client), grant_type: 'x'.repeat(200) });
    for (let n = 0; n < 300; n += 1) expect((await postRaw(at, '/token', body)).statusCode).toBe(400);
    await at.deps.refusals.close(at.clock.now());
    expect(await rows()).toEqual({ kept: 15, dropped: 285 });
  });

  test('text that a caller sends is cut', async () => {
    const long = invalidRequest('x'.repeat(10_000), {
      check: 'form',
      expected: 'y '.repeat(5_000),
      received: 'z '.repeat(5_000),
    });
    at.deps.refusals.note(long, asked(), at.clock.now());
    await at.deps.refusals.close(at.clock.now());
    const [kept] = await findRefusals(at.deps, asked().request_id);
    for (const text of [kept!.error_description, kept!.expected, kept!.received]) {
      expect(text!.length).toBeLessThanOrEqual(501);
    }
  });

  test('and none steers a terminal, or is more than Postgres can hold', async () => {
    const hostile = invalidRequest('x', { check: 'form', received: 'a\u001b[31m\u0000\u202e\ud800b\r\nc' });
    at.deps.refusals.note(hostile, asked(), at.clock.now());
    await at.deps.refusals.close(at.clock.now());
    expect((await findRefusals(at.deps, asked().request_id))[0]!.received).toMatch(/^a\uFFFD\[31m[\uFFFD]+b\uFFFD+c$/);
  });
});

describe('refusals beside requests', () => {
  test('a database that is away costs the rows that do not fit into memory; the others are written when it is back', async () => {
    let isAway = true;
    const { db } = at.deps;
    const flaky = new Proxy(db, {
      get(target, name, receiver) {
        if (isAway) throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
        const value: unknown = Reflect.get(target, name, receiver);
        return typeof value === 'function' ? (value as (...all: unknown[]) => unknown).bind(target) : value;
      },
    });
    const refusals = createRefusals(flaky, { retention: WEEK, waiting: 5 });
    for (let n = 0; n < 20; n += 1) refusals.note(refusal(), asked({ network: `n${n}` }), at.clock.now());
    const worker = keepRefusals({ refusals, clock: at.clock.now });
    await expect(worker.run()).rejects.toThrow('gone');
    at.clock.advance(60);
    await expect(worker.run()).rejects.toThrow('gone');
    isAway = false;
    await worker.run();
    await refusals.close(at.clock.now());
    expect(await rows()).toEqual({ kept: 5, dropped: 15 });
  });

  test('many flushes at once write each row once', async () => {
    const { refusals } = at.deps;
    for (let n = 0; n < 500; n += 1) refusals.note(refusal(), asked({ network: `n${n}` }), at.clock.now());
    await atOnce(8, () => refusals.flush(at.clock.now()));
    expect(await rows()).toEqual({ kept: 500, dropped: 0 });
  });

  test('with REFUSAL_RETENTION=0 nothing is kept', async () => {
    const off = createRefusals(at.deps.db, { retention: 0 });
    off.note(refusal(), asked(), at.clock.now());
    await off.close(at.clock.now());
    expect(await rows()).toEqual({ kept: 0, dropped: 0 });
  });
});

describe('refusals are kept for a time, and so many of them', () => {
  test('for REFUSAL_RETENTION, to the end of its last day', async () => {
    at.deps.refusals.note(refusal(), asked(), at.clock.now());
    await at.deps.refusals.close(at.clock.now());
    at.clock.advance(WEEK);
    await sweep(at.deps.db, at.clock.now(), new Date(0));
    expect(await rows()).toMatchObject({ kept: 1 });
    at.clock.advance(86_400);
    await sweep(at.deps.db, at.clock.now(), new Date(0));
    expect(await rows()).toMatchObject({ kept: 0 });
  });

  test('beyond REFUSAL_MAX_ROWS those go first of whom there are most, and of them the oldest', async () => {
    await written('flood', 1500);
    await written('quiet', 30);
    const config = configWith(at.deps.config, { REFUSAL_MAX_ROWS: 1000 });
    await sweepExpired({ ...at.deps, config }).run();
    expect(await rows()).toEqual({ kept: 1000, dropped: 0 });
    expect(await findRefusals(at.deps, 'quiet30')).toHaveLength(1);
    expect(await findRefusals(at.deps, 'flood970')).toHaveLength(1);
    expect(await findRefusals(at.deps, 'flood971')).toHaveLength(0);
    expect(await trim(at.deps.db, 1000, 100)).toBe(0);
    expect(await trim(at.deps.db, 0, 100)).toBe(100);
  });
});

describe('refusals are found', () => {
  test('page by page, newest first, of a client or about a person', async () => {
    const { refusals } = at.deps;
    const [first, second] = [(await aClient(at)).client_id, (await aClient(at)).client_id];
    for (let n = 0; n < 5; n += 1) {
      const about = invalidRequest('why', { check: 'form', sub: n % 2 === 0 ? 'ada' : undefined });
      refusals.note(about, asked({ request_id: `number-${n}`, claimed: n < 3 ? first : second }), at.clock.now());
      if (n > 1) at.clock.advance(1);
    }
    await refusals.close(at.clock.now());
    const names = async (filter: Parameters<typeof listRefusals>[1], limit = 10): Promise<Array<string | null>> =>
      (await listRefusals(at.deps, filter, limit)).map(({ request_id }) => request_id);
    const all = ['number-4', 'number-3', 'number-2', 'number-1', 'number-0'];
    expect(await names({})).toEqual(all);
    const seen = [];
    for (let before; seen.length < 5;) {
      const page = await listRefusals(at.deps, { before }, 2);
      seen.push(...page.map(({ request_id }) => request_id));
      before = page.at(-1);
    }
    expect(seen).toEqual(all);
    expect(await names({ client_id: second })).toEqual(['number-4', 'number-3']);
    expect(await names({ sub: 'ada' })).toEqual(['number-4', 'number-2', 'number-0']);
    expect(await names({ client_id: first, sub: 'ada' }, 1)).toEqual(['number-2']);
  });

  test('by their indexes', async () => {
    await written('flood', 3000);
    await sql`analyze refusals`.execute(at.deps.db);
    const { now } = at.clock;
    for (const filter of [{}, { client_id: 'x' }, { sub: 'x' }, { before: { at: now(), refusal_id: '9' } }]) {
      const plan = await planOf(() => list(at.deps.db, filter, 20));
      expect(plan).toMatch(/Index/);
      expect(plan).not.toMatch(/Seq Scan|Sort/);
    }
  });

  test('a request id that was used before gives all of them, so that nobody hides a refusal behind another', async () => {
    at.deps.refusals.note(refusal(), asked(), at.clock.now());
    at.clock.advance(1);
    at.deps.refusals.note(invalidRequest('again', { check: 'scope' }), asked(), at.clock.now());
    await at.deps.refusals.close(at.clock.now());
    const found = await findRefusals(at.deps, asked().request_id);
    expect(found.map(({ check, clause }) => [check, clause])).toEqual([
      ['scope', 'RFC 6749 §3.3'],
      ['form', 'RFC 6749 §3.2'],
    ]);
  });
});

/** The plan of a statement, by its text and values where they pass. */
async function planOf(work: () => Promise<unknown>): Promise<string> {
  const { query } = pg.Client.prototype;
  let sent: { text: string; values: unknown[] } | undefined;
  pg.Client.prototype.query = function seen(this: pg.Client, ...given: unknown[]) {
    const [text, values] = given as [string | { text: string; values: unknown[] }, unknown[]];
    sent = typeof text === 'string' ? { text, values } : text;
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  const { text, values } = sent!;
  const { rows: lines } = await at.deps.db.executeQuery<Record<'QUERY PLAN', string>>(
    CompiledQuery.raw(`explain ${text}`, [...values]),
  );
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}
