/** Guessed secrets (counted in the database) and volume (counted in the process). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configWith } from '../../../src/config.ts';
import { shareOf } from '../../../src/http/rate-limit.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aDevice, aPublicClient, aService, credentials, type AClient } from '../../support/fixtures.ts';
import { basic, basicOf, expectRefusal, formOf, postRaw } from '../../support/oauth.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const FORM = { grant_type: 'client_credentials' };
const ask = (client: AClient, from = '192.0.2.1', test: TestApp = at) =>
  postRaw(test, '/token', formOf({ ...FORM, ...credentials(client) }), {}, from);
const wrong = (client: AClient): AClient => ({ ...client, client_secret: 'a wrong guess' });

async function fail(client: AClient, times: number, from?: string): Promise<void> {
  for (let count = 0; count < times; count += 1) expectRefusal(await ask(wrong(client), from), 401, 'invalid_client');
}

test('a library that probes with a first failure is not slowed down', async () => {
  const client = await aService(at);
  await fail(client, 19);
  expect((await ask(client)).statusCode).toBe(200);
});

test('ASVS 6.3.1: after twenty wrong secrets the next guess waits: 429 with Retry-After, then twice as long', async () => {
  const client = await aService(at);
  await fail(client, 20);
  const refused = await ask(wrong(client));
  expectRefusal(refused, 429, 'too_many_requests');
  expect(refused.headers['retry-after']).toBe('1');
  for (const wait of [1, 2, 4, 8, 16, 32, 60, 60]) {
    at.clock.advance(wait - 0.5);
    expectRefusal(await ask(wrong(client)), 429, 'too_many_requests');
    at.clock.advance(0.5);
    expectRefusal(await ask(wrong(client)), 401, 'invalid_client');
  }
  at.clock.advance(60);
  expect((await ask(client)).statusCode).toBe(200);
});

test('the delay is for this client from this network: others go on at once', async () => {
  const [client, other] = [await aService(at), await aService(at)];
  await fail(client, 20);
  expect((await ask(client, '192.0.2.200')).statusCode).toBe(429);
  expect((await ask(client, '192.0.3.1')).statusCode).toBe(200);
  expect((await ask(other)).statusCode).toBe(200);
  await fail(other, 20, '2001:db8:1:200::1');
  expect((await ask(other, '2001:db8:1:2ff::2')).statusCode).toBe(429);
  expect((await ask(other, '2001:db8:1:300::1')).statusCode).toBe(200);
});

test('OpenID Connect Core §16.12: an unknown client is throttled just so: a delay tells nobody whether a client exists', async () => {
  const nobody = { client_id: 'nobody', client_secret: 'a guess', redirect_uri: '' };
  await fail(nobody, 20);
  const refused = await ask(nobody);
  expectRefusal(refused, 429, 'too_many_requests');
  expect(refused.headers['retry-after']).toBe('1');
});

test('a neighbour who guesses cannot slow down a public client, which has no secret to guess', async () => {
  const spa = await aPublicClient(at);
  const attacked = { ...spa, client_secret: 'a wrong guess' };
  await fail(attacked, 20);
  expect((await ask(attacked)).statusCode).toBe(429);
  const fields = { grant_type: 'refresh_token', refresh_token: 'x', client_id: spa.client_id };
  expectRefusal(await postRaw(at, '/token', formOf(fields), {}, '192.0.2.1'), 400, 'invalid_grant');
});

test('ASVS 6.3.1: every door that takes a secret counts, whichever method carried it', async () => {
  const client = await aService(at);
  const guess = { authorization: basicOf(`${client.client_id}:guess`) };
  for (let count = 0; count < 5; count += 1) {
    for (const path of ['/token', '/introspect', '/revoke']) {
      expectRefusal(await postRaw(at, path, 'grant_type=client_credentials&token=x', guess), 401, 'invalid_client');
    }
    expectRefusal(await ask(wrong(client), '127.0.0.1'), 401, 'invalid_client');
  }
  for (const path of ['/token', '/introspect', '/revoke']) {
    const answer = await postRaw(at, path, 'grant_type=client_credentials&token=x', { authorization: basic(client) });
    expectRefusal(answer, 429, 'too_many_requests');
  }
});

test('ASVS 6.3.1: of 140 guesses at once no more are compared than are free, by two processes together', async () => {
  const other = await testApp({ database: at.database, clock: at.clock });
  const client = await aService(at);
  const processes = [at, other];
  for (const process of processes) expect((await ask(client, undefined, process)).statusCode).toBe(200);
  const answers = await Promise.all(
    Array.from({ length: 140 }, (_, n) => ask(wrong(client), undefined, processes[n % 2])),
  );
  const compared = answers.filter(({ statusCode }) => statusCode === 401);
  expect(compared).toHaveLength(20);
  expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(120);
  for (const process of processes) expect((await ask(client, undefined, process)).statusCode).toBe(429);
  await other.close();
});

test('ASVS 6.3.1: the right one among guesses at once is heard only as one of those that are free', async () => {
  const client = await aService(at);
  const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(n < 59 ? wrong(client) : client)));
  expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(20);
  expect(answers.at(-1)!.statusCode).toBe(429);
});

test('any number of right secrets at once are heard', async () => {
  const client = await aService(at);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(client)));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
});

test('failures are counted in the database: another process goes on from there', async () => {
  const other = await testApp({ database: at.database, clock: at.clock });
  const client = await aService(at);
  await fail(client, 19);
  expectRefusal(await ask(wrong(client), undefined, other), 401, 'invalid_client');
  expectRefusal(await ask(wrong(client), undefined, other), 429, 'too_many_requests');
  await other.close();
});

test('a success writes nothing', async () => {
  const client = await aService(at);
  const before = await at.deps.db.selectFrom('failures').selectAll().execute();
  expect((await ask(client, '198.51.100.1')).statusCode).toBe(200);
  expect(await at.deps.db.selectFrom('failures').selectAll().execute()).toEqual(before);
});

test('ASVS 15.3.4: an address in X-Forwarded-For counts only when a trusted proxy says so', async () => {
  const proxied = await testApp({ database: at.database, clock: at.clock, config: { TRUST_PROXY: ['10.0.0.0/8'] } });
  const client = await aService(at);
  const guess = (remote: string, claimed: string): ReturnType<typeof postRaw> =>
    postRaw(
      proxied,
      '/token',
      formOf({ ...FORM, ...credentials(wrong(client)) }),
      { 'x-forwarded-for': claimed },
      remote,
    );
  for (let count = 0; count < 20; count += 1) await guess('203.0.113.9', `198.18.${count}.1`);
  expect((await guess('203.0.113.9', '198.19.1.1')).statusCode).toBe(429);
  expect((await guess('10.1.2.3', '198.19.2.1')).statusCode).toBe(401);
  await proxied.close();
});

test('specification §Limits: TOKEN_RATE_LIMIT is communicated in response headers, and beyond it is 429 with Retry-After', async () => {
  const limited = await testApp({ database: at.database, clock: at.clock, config: { TOKEN_RATE_LIMIT: 3 } });
  const client = await aService(at);
  for (let count = 0; count < 3; count += 1) {
    const answer = await ask(client, '203.0.113.1', limited);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': String(2 - count) });
  }
  const refused = await ask(client, '203.0.113.1', limited);
  expectRefusal(refused, 429, 'too_many_requests');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await ask(client, '203.0.113.2', limited)).statusCode).toBe(200);
  const preflight = await limited.app.inject({ method: 'OPTIONS', url: '/token', remoteAddress: '203.0.113.1' });
  expect(preflight.statusCode).toBe(204);
  await limited.close();
});

test('several processes of a server count a share of each limit; no limit stays none, and a limit some', () => {
  const shares = (max: number, WORKERS: number): number =>
    shareOf(configWith(at.deps.config, { TOKEN_RATE_LIMIT: max, WORKERS }), 'TOKEN_RATE_LIMIT');
  expect([shares(60, 1), shares(60, 4), shares(10, 4), shares(1, 16), shares(0, 16)]).toEqual([60, 15, 3, 1, 0]);
});

test('TOKEN_RATE_LIMIT=0 is no limit', async () => {
  const client = await aClient(at, {
    grant_types: ['authorization_code', 'client_credentials'],
    scope: 'openid jobs:read',
  });
  for (let count = 0; count < 30; count += 1) {
    const answer = await ask(client, '203.0.113.77');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).not.toHaveProperty('ratelimit-limit');
  }
});

test('AUTHORIZE_RATE_LIMIT: strangers’ requests that leave a row are counted per door and address; a page or JSON says 429', async () => {
  const few = await testApp({ database: at.database, clock: at.clock, config: { AUTHORIZE_RATE_LIMIT: 2 } });
  const device = formOf(credentials(await aDevice(at)));
  const page = { headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' } };
  const doors = {
    '/par': (from: string) => postRaw(few, '/par', '', {}, from),
    '/device_authorization': (from: string) => postRaw(few, '/device_authorization', device, {}, from),
    '/authorize': (remoteAddress: string) =>
      few.app.inject({ method: 'GET', url: '/authorize', remoteAddress, ...page }),
  };
  for (const [path, knock] of Object.entries(doors)) {
    expect((await knock('203.0.113.5')).headers, path).toMatchObject({ 'ratelimit-limit': '2' });
    expect((await knock('203.0.113.5')).statusCode, path).not.toBe(429);
    const refused = await knock('203.0.113.5');
    expect(refused.statusCode, path).toBe(429);
    expect(Number(refused.headers['retry-after']), path).toBeGreaterThanOrEqual(1);
    expect(refused.headers['content-type'], path).toContain(path === '/authorize' ? 'text/html' : 'application/json');
    expect(refused.body, path).toContain('too_many_requests');
    expect((await knock('203.0.113.6')).statusCode, path).not.toBe(429);
  }
  // GET and POST /authorize are one door.
  const posted = await few.app.inject({ method: 'POST', url: '/authorize', remoteAddress: '203.0.113.5', ...page });
  expect(posted.statusCode).toBe(429);
  expect((await ask(await aService(at), '203.0.113.5', few)).statusCode).toBe(200);
  await few.close();
});
