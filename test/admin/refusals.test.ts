/** What operators are refused, kept for `postern explain`; and what they send in confidence, kept nowhere. */
import { sql } from 'kysely';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHECKS, type Check } from '../../src/protocol/check.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aPublicClient, credentials, postForm, someTokens } from '../support/fixtures.ts';
import { anOperator, type Operator } from '../support/operator.ts';
import { refusalOf } from '../support/refusals.ts';

/** Recognised wherever it turns up. */
const MARKER = 'kryptonite-7f3a9c5e1b8d2f6a4c0e';

let at: TestApp;
let operator: Operator;
let reader: Operator;
let public_client: string;
beforeAll(async () => {
  at = await testApp();
  [operator, reader] = [await anOperator(at), await anOperator(at, ['clients:read'])];
  public_client = (await aPublicClient(at)).client_id;
});
afterAll(() => at.close());

type Explained = { check: Check; expected?: unknown; received?: unknown; client_id?: unknown };
const client = { client_name: 'Shop', redirect_uris: ['https://shop.example.test/cb'] };
let addresses = 0;
const raw = (method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, payload?: string) =>
  at.app.inject({
    method,
    url: `/admin/v1${path}`,
    remoteAddress: `10.9.${(addresses += 1)}.1`,
    headers: { authorization: `Bearer ${operator.access_token}`, ...headers },
    ...(payload !== undefined && { payload }),
  });

const REFUSALS: Record<string, [refuse: () => Promise<LightMyRequestResponse>, explained: Explained]> = {
  'no token': [() => at.app.inject('/admin/v1/clients'), { check: 'bearer', received: 'none', client_id: null }],
  'a token of nobody': [
    () => raw('GET', '/clients', { authorization: `Bearer ${MARKER}` }),
    { check: 'access_token', received: expect.stringMatching(/no token of ours$/) },
  ],
  'a token for another audience': [
    async () => {
      const { tokens } = await someTokens(at);
      return raw('GET', '/clients', { authorization: `Bearer ${tokens.access_token}` });
    },
    { check: 'access_token_audience', expected: 'https://id.example.test/admin/v1' },
  ],
  'a token without the scope': [
    () => reader.send('POST', '/clients', client),
    { check: 'access_token_scope', expected: 'clients:write', received: 'clients:read' },
  ],
  'a body that does not fit': [
    () => operator.send('POST', '/clients', { ...client, client_secret: { [MARKER]: MARKER }, redirect_uris: 7 }),
    { check: 'content', received: expect.stringContaining('/redirect_uris') },
  ],
  'an address with a password in it': [
    () => operator.send('POST', '/clients', { ...client, redirect_uris: [`https://ada:${MARKER}@app.example.test/`] }),
    { check: 'content', expected: expect.stringContaining('must not hold user information') },
  ],
  'a client that there is not': [
    () => operator.send('PUT', '/resources/https%3A%2F%2Fapi.example.test', { client_id: MARKER }),
    { check: 'content', expected: expect.stringContaining('there is no client') },
  ],
  'a member that is not known': [
    () => operator.send('POST', '/clients', { ...client, password: MARKER }),
    { check: 'content', received: '/password unrecognized_keys' },
  ],
  'a body that is no JSON': [
    () => raw('POST', '/clients', { 'content-type': 'application/json' }, `{"client_secret":"${MARKER}`),
    { check: 'content', expected: 'JSON' },
  ],
  'a query that is not known': [() => operator.send('GET', `/clients?password=${MARKER}`), { check: 'content' }],
  'a query that is empty': [() => operator.send('GET', '/clients?limit='), { check: 'content' }],
  'another media type': [
    () => raw('POST', '/clients', { 'content-type': 'text/plain' }, MARKER),
    { check: 'media_type' },
  ],
  'a body too large': [
    () => raw('POST', '/clients', { 'content-type': 'application/json' }, `"${MARKER.repeat(10_000)}"`),
    { check: 'body_size' },
  ],
  'an answer that cannot be made': [() => raw('GET', '/clients', { accept: 'text/html' }), { check: 'accept' }],
  'another method': [
    () => operator.send('PUT', '/clients', {}),
    { check: 'method', expected: 'GET HEAD POST', received: 'PUT' },
  ],
  'an address with nothing at it': [() => raw('GET', `/${MARKER}`), { check: 'address' }],
  'an address that cannot be read': [() => raw('GET', '/clients/%zz'), { check: 'address' }],
  'something that is not there': [() => raw('GET', '/clients/nobody'), { check: 'present' }],
  'a name that is taken': [
    () => operator.send('POST', '/clients', { ...client, client_id: public_client }),
    { check: 'conflict' },
  ],
  'a version that has passed': [
    () => operator.send('PATCH', `/clients/${public_client}`, {}, { 'if-match': '"x"' }),
    { check: 'if_match' },
  ],
  'a key of another request': [
    async () => {
      await operator.send('POST', '/clients', client, { 'idempotency-key': 'k' });
      return operator.send('POST', '/clients', { ...client, client_name: 'Other' }, { 'idempotency-key': 'k' });
    },
    { check: 'idempotency_key' },
  ],
};

describe('what operators are refused is kept with its check, as every refusal is', () => {
  test.each(Object.entries(REFUSALS))('%s', async (_what, [refuse, explained]) => {
    const answer = await refuse();
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    const refusal = await refusalOf(at, answer);
    expect(refusal).toMatchObject({ ...explained, clause: CHECKS[explained.check], status: answer.statusCode });
    expect(refusal.error).toBe(answer.json<{ type: string }>().type.replace('urn:postern:problem:', ''));
    expect(JSON.stringify(refusal)).not.toContain(MARKER);
  });

  test('a token for another audience is told which resource to ask for', async () => {
    const { tokens } = await someTokens(at);
    const answer = await raw('GET', '/clients', { authorization: `Bearer ${tokens.access_token}` });
    const detail =
      'the access token is for another audience: ask for one with resource=https://id.example.test/admin/v1';
    expect(answer.json()).toMatchObject({ status: 401, detail });
  });

  test('with the operator whose token it was', async () => {
    const answer = await raw('GET', '/clients/nobody');
    expect(await refusalOf(at, answer)).toMatchObject({
      client_id: operator.client.client_id,
      route: '/admin/v1/clients/:client_id',
      method: 'GET',
    });
  });
});

describe('what operators send in confidence is kept nowhere', () => {
  test('client secrets and passwords are in no log line and in no row, replayed or not', async () => {
    const secret = `${MARKER}-secret-of-a-client`;
    const password = `${MARKER}-password-of-a-person`;
    const key = (name: string): Record<string, string> => ({ 'idempotency-key': name });
    for (const repeat of ['first', 'again']) {
      const made = await operator.send('POST', '/clients', { ...client, client_secret: secret }, key('s1'));
      expect([made.statusCode, repeat === 'first']).toEqual([201, made.body.includes(secret)]);
      const added = await operator.send(
        'POST',
        `/clients/${made.json<{ client_id: string }>().client_id}/secrets`,
        {
          client_secret: `${secret}-2`,
        },
        key('s2'),
      );
      expect(added.statusCode, added.body).toBe(201);
      const person = await operator.send('POST', '/users', { username: 'linus', password }, key('s3'));
      expect([person.statusCode, person.body.includes(password)]).toEqual([201, false]);
    }
    // Refused, for every reason that there is, with the secret in hand.
    for (const body of [
      { username: 'linus', password },
      { username: 'x\0', password },
      { username: 7, password },
      { username: 'y', password: [password] },
      { username: 'y', [password]: 1 },
      { username: 'y', password: password.repeat(200) },
      { username: password, password },
    ])
      expect((await operator.send('POST', '/users', body)).statusCode).toBeGreaterThanOrEqual(400);
    await operator.send('POST', '/users', { username: 'other', password }, key('s3'));
    await operator.send('PATCH', '/users/nobody', { password });
    await operator.send('POST', '/clients', { ...client, client_id: public_client, client_secret: secret });
    await operator.send('PATCH', `/clients/${public_client}`, { client_secret: secret });
    await operator.send('POST', `/clients/${public_client}/secrets`, { client_secret: secret });
    await raw('POST', `/users?password=${password}`, {}, password);
    await raw('GET', `/users?${password}=1&cursor=${password}`);
    await raw('POST', '/tokens/introspect', { 'content-type': 'application/json' }, JSON.stringify({ token: MARKER }));
    await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(operator.client) });
    await at.deps.refusals.close(at.clock.now());
    expect(at.logged.join('')).not.toContain(MARKER);
    for (const table of await tables()) {
      const { rows } =
        await sql`select 1 from ${sql.table(table)} t where to_jsonb(t)::text like ${`%${MARKER}%`}`.execute(
          at.deps.db,
        );
      expect(rows, table).toEqual([]);
    }
    // The search finds what is there.
    expect(at.logged.join('')).toContain(operator.client.client_id);
  });
});

async function tables(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`.execute(
    at.deps.db,
  );
  return rows.map(({ name }) => name);
}
