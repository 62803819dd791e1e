/** Idempotency-Key: a request that is sent again, for whatever reason, is done once. */
import { sql } from 'kysely';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/admin/index.ts';
import { openDb } from '../../src/store/postgres/open.ts';
import { sha256 } from '../../src/protocol/handle.ts';
import { aBodyFor, seedAdminData, fillIn, parametersOf, type AdminData } from '../support/admin-data.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../support/app.ts';
import { credentials, postForm } from '../support/fixtures.ts';
import { anOperator, type Operator } from '../support/operator.ts';

let at: TestApp;
let data: AdminData;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  data = await seedAdminData(at);
  operator = data.operator;
});
afterAll(() => at.close());

let keys = 0;
const aKey = (): string => `key-${(keys += 1)}`;
const make = (key: string, client_name: string, by = operator): Promise<LightMyRequestResponse> =>
  by.send(
    'POST',
    '/clients',
    { client_name, redirect_uris: ['https://shop.example.test/cb'] },
    { 'idempotency-key': key },
  );

async function named(client_name: string): Promise<number> {
  const { rows } = await sql<{ made: number }>`
    select count(*)::int as made from clients where client_name = ${client_name}`.execute(at.deps.db);
  return rows[0]!.made;
}

describe('an Idempotency-Key', () => {
  test('gives the stored answer, marked as such, without the secret that was shown once', async () => {
    const key = aKey();
    const [first, again] = [await make(key, 'Replayed'), await make(key, 'Replayed')];
    const { client_secret, client_secret_expires_at: _expiry, ...shown } = first.json<Record<string, unknown>>();
    expect([first.statusCode, client_secret, first.headers['idempotent-replayed']]).toEqual([
      201,
      expect.any(String),
      undefined,
    ]);
    expect([again.statusCode, again.json(), again.headers['idempotent-replayed']]).toEqual([201, shown, 'true']);
    for (const name of ['location', 'etag']) expect(again.headers[name], name).toBe(first.headers[name]);
    expect(await named('Replayed')).toBe(1);
  });

  test('leaves nothing of a password that words could be tried against: what is kept is a MAC under SECRET_KEYS', async () => {
    const key = aKey();
    const body = { username: 'kept.under.mac', password: 'a password worth guessing' };
    expect((await operator.send('POST', '/users', body, { 'idempotency-key': key })).statusCode).toBe(201);
    const { request_hash } = await at.deps.db
      .selectFrom('idempotency_keys')
      .select('request_hash')
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    const parts = ['POST', '/users', JSON.stringify(body)];
    const [bare, whole] = [parts.join(''), JSON.stringify(['POST', '/users', body])].map((text) => sha256(text));
    expect([bare!.equals(request_hash), whole!.equals(request_hash)]).toEqual([false, false]);
    expect(at.deps.secrets.verifyMac('request', parts, request_hash)).toBe(true);
  });

  test('is answered again after SECRET_KEYS has a new first key', async () => {
    const [key, body] = [aKey(), { client_name: 'Before the change', redirect_uris: ['https://a.example.test/cb'] }];
    const first = await operator.send('POST', '/clients', body, { 'idempotency-key': key });
    const next = await testApp({
      database: at.database,
      clock: at.clock,
      config: { SECRET_KEYS: ['the next secret key of tests, of forty too', TEST_SECRET_KEY] },
    });
    try {
      const again = await next.app.inject({
        method: 'POST',
        url: '/admin/v1/clients',
        headers: { authorization: `Bearer ${operator.access_token}`, 'idempotency-key': key },
        payload: body,
      });
      expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
      expect(again.json()).toMatchObject({ client_id: first.json<{ client_id: string }>().client_id });
    } finally {
      await next.close();
    }
  });

  test('of six requests at once, one is done; the others are told its answer, or to wait for it', async () => {
    const key = aKey();
    const answers = await Promise.all(Array.from({ length: 6 }, () => make(key, 'At once')));
    const done = answers.filter(
      ({ statusCode, headers }) => statusCode === 201 && headers['idempotent-replayed'] === undefined,
    );
    expect(done).toHaveLength(1);
    for (const answer of answers.filter((each) => each !== done[0])) {
      const told =
        answer.statusCode === 409 ? answer.json<{ type: string }>().type : answer.headers['idempotent-replayed'];
      expect(['true', 'urn:postern:problem:in-progress'], answer.body).toContain(told);
    }
    expect(await named('At once')).toBe(1);
    expect((await make(key, 'At once')).json()).toMatchObject({
      client_id: done[0]!.json<{ client_id: string }>().client_id,
    });
  });

  test('with another body, or at another address, is refused: 422', async () => {
    const key = aKey();
    const { client_id } = (await make(key, 'One')).json<{ client_id: string }>();
    const elsewhere = await operator.send('POST', `/clients/${client_id}/secrets`, {}, { 'idempotency-key': key });
    for (const answer of [await make(key, 'Two'), elsewhere]) {
      expect([answer.statusCode, answer.json<{ type: string }>().type]).toEqual([
        422,
        'urn:postern:problem:key-reused',
      ]);
    }
    expect(await named('Two')).toBe(0);
  });

  test('of another principal is another key', async () => {
    const key = aKey();
    const other = await anOperator(at);
    const answers = [await make(key, 'Shared'), await make(key, 'Shared', other), await make(key, 'Shared', other)];
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['idempotent-replayed']])).toEqual([
      [201, undefined],
      [201, undefined],
      [201, 'true'],
    ]);
    expect(await named('Shared')).toBe(2);
  });

  test('stays free when its request was refused', async () => {
    const key = aKey();
    const refused = await operator.send('POST', '/clients', { client_name: 7 }, { 'idempotency-key': key });
    expect([refused.statusCode, (await make(key, 'Better')).statusCode]).toEqual([400, 201]);
  });

  test('is forgotten after 24 hours', async () => {
    const key = aKey();
    await make(key, 'Daily');
    const later = async (seconds: number): Promise<LightMyRequestResponse> => {
      at.clock.advance(seconds);
      const token = await postForm(at, '/token', {
        grant_type: 'client_credentials',
        resource: `${at.deps.config.ISSUER}/admin/v1`,
        ...credentials(operator.client),
      });
      const { access_token } = token.json<{ access_token: string }>();
      const send: Operator['send'] = (method, path, body, headers) =>
        operator.send(method, path, body, { ...headers, authorization: `Bearer ${access_token}` });
      return make(key, 'Daily', { ...operator, access_token, send });
    };
    expect((await later(86_399)).headers['idempotent-replayed']).toBe('true');
    expect((await later(1)).headers['idempotent-replayed']).toBeUndefined();
    expect(await named('Daily')).toBe(2);
    operator = await anOperator(at);
  });

  test('survives a crash between the work and its answer: nothing of it is there, and the next one does it once', async () => {
    const key = aKey();
    const other = openDb(at.database.connection, { max: 2 });
    // Its work is done when it comes to keep its answer, and there it meets a lock, and its end.
    let answer: Promise<LightMyRequestResponse>;
    await other.transaction().execute(async (trx) => {
      await sql`lock table idempotency_keys in exclusive mode`.execute(trx);
      answer = make(key, 'Crashed');
      for (let killed = 0; killed === 0;) {
        // From outside: a transaction looks only once at who waits.
        const { rows } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%idempotency_keys%'`.execute(
          other,
        );
        killed = rows.length;
      }
    });
    await other.destroy();
    expect([(await answer!).statusCode, await named('Crashed')]).toEqual([503, 0]);
    const answers = [await make(key, 'Crashed'), await make(key, 'Crashed')];
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['idempotent-replayed']])).toEqual([
      [201, undefined],
      [201, 'true'],
    ]);
    expect(await named('Crashed')).toBe(1);
  });

  test.each(['', ' ', 'a b', 'ü', 'x'.repeat(256), '"', '\u0001'])('that cannot be one is refused: %j', async (key) => {
    const answer = await make(key, 'Never');
    expect(answer.statusCode).toBe(400);
    expect(await named('Never')).toBe(0);
  });
});

test.each(
  operations.filter(({ method }) => method === 'POST').map((operation) => [operation.path, operation] as const),
)('POST %s takes an Idempotency-Key, and keeps nothing that is shown once', async (_path, operation) => {
  const first = Object.fromEntries(parametersOf(operation.path).map((name) => [name, data.names[name]!.at(-1)!]));
  const body = aBodyFor(operation, data.names);
  const key = aKey();
  const ask = () => operator.send('POST', fillIn(operation.path, first), body, { 'idempotency-key': key });
  const [done, again] = [await ask(), await ask()];
  expect(done.statusCode, done.body).toBe(operation.status);
  expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([operation.status, 'true']);
  const once =
    (operation.kind === 'create' ? operation.create.once : operation.kind === 'action' && operation.action.once) || [];
  const shown = Object.entries(JSON.parse(done.body || '{}') as Record<string, unknown>).filter(
    ([name]) => !once.includes(name),
  );
  expect(JSON.parse(again.body || '{}')).toEqual(Object.fromEntries(shown));
  const secrets = once
    .map((name) => (JSON.parse(done.body || '{}') as Record<string, unknown>)[name])
    .filter((value) => typeof value === 'string');
  const { rows } = await sql<{ row: string }>`select to_jsonb(k)::text as row from idempotency_keys k`.execute(
    at.deps.db,
  );
  for (const secret of secrets) expect(rows.map(({ row }) => row).join('\n')).not.toContain(secret);
});
