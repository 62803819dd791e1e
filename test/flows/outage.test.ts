/** Postgres goes away, crashes and hangs under a server that stays up. */
import { fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aConsentedClient, stopServersAfterwards } from '../support/deployment.ts';
import { authorizationUrl, aVerifier, type AClient } from '../support/fixtures.ts';
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/postgres-process.ts';
import { freePort, pause, SECRET_KEY, startServer, type Server } from '../support/server.ts';
import { postTo, summary, type Answer, type Visitor } from '../support/visitor.ts';

let postgres: OwnPostgres;
let server: Server;
let local: TestApp;
let client: AClient;
let visitor: Visitor;
let tokens: Record<'access_token' | 'refresh_token', string>;
stopServersAfterwards();
beforeAll(async () => {
  postgres = await startOwnPostgres();
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  local = await testApp({ database: postgres, config: { ISSUER: issuer, SECRET_KEYS: [SECRET_KEY] } });
  server = await startServer({ port, env: { DATABASE_URL: postgres.url, ISSUER: issuer } });
  ({ client, visitor } = await aConsentedClient({ test: local, issuer }));
  tokens = (await post('/token', await redemption())).json as typeof tokens;
});
afterAll(async () => {
  await local?.close();
  await server?.stop();
  await postgres?.close();
});

const post = (path: string, fields: Record<string, string>): Promise<Answer> => {
  const { client_id, client_secret } = client;
  return postTo(server.issuer + path, { ...fields, client_id, client_secret });
};

async function redemption(): Promise<Record<string, string>> {
  const { code_verifier, code_challenge } = aVerifier();
  const code = await visitor.code(client, { code_challenge, code_challenge_method: 'S256' });
  return { grant_type: 'authorization_code', code, code_verifier, redirect_uri: client.redirect_uri };
}

const refreshing = (): Record<string, string> => ({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
const statusOf = async (path: string): Promise<number> => (await fetch(server.issuer + path)).status;

const AWAY = '503 temporarily_unavailable';

async function expectUnavailable(answer: Promise<Answer>): Promise<void> {
  const { headers, ...rest } = await answer;
  expect(summary({ headers, ...rest })).toBe(AWAY);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(headers['cache-control']).toBe('no-store');
}

test('without Postgres everything that needs it says 503 and when to come back, and nothing is lost by it', async () => {
  const unused = await redemption();
  expect((await local.app.inject('/.well-known/openid-configuration')).statusCode).toBe(200);
  await postgres.stop();

  await expectUnavailable(post('/token', unused));
  await expectUnavailable(post('/token', refreshing()));
  await expectUnavailable(post('/introspect', { token: tokens.access_token }));
  await expectUnavailable(post('/introspect', { token: tokens.refresh_token }));
  // RFC 7009 §2.2.1: a 200 would be a lie.
  await expectUnavailable(post('/revoke', { token: tokens.refresh_token }));
  const userinfo = await fetch(`${server.issuer}/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect([userinfo.status, userinfo.headers.get('retry-after')]).toEqual([503, '1']);
  expect(userinfo.headers.get('www-authenticate')).toBeNull();

  for (const url of [authorizationUrl(server.issuer, client), '/account']) {
    const page = await visitor.get(url);
    expect([page.status, page.headers.get('retry-after')], url).toEqual([503, '1']);
    expect(await page.text()).toMatch(/<title>Error: .*<code class="tag" id="error">temporarily_unavailable/s);
  }

  expect(await statusOf('/livez')).toBe(200);
  expect(await statusOf('/readyz')).toBe(503);
  expect(await statusOf('/jwks')).toBe(200);
  expect(await statusOf('/.well-known/openid-configuration')).toBe(200);
  // Long after what the document is made from has left the cache.
  const known = await local.app.inject('/.well-known/openid-configuration');
  local.clock.advance(3600);
  expect((await local.app.inject('/.well-known/openid-configuration')).body).toBe(known.body);

  await postgres.start();
  await until('it is ready again, without a restart', async () => (await statusOf('/readyz')) === 200, 2000);
  expect((await post('/token', unused)).status).toBe(200);
  expect((await post('/introspect', { token: tokens.access_token })).json['active']).toBe(true);
  tokens = (await post('/token', refreshing())).json as typeof tokens;
  expect(tokens.refresh_token).toBeTruthy();
});

test('Postgres crashes and restarts under load: no code is lost or doubled, no live token is called dead', async () => {
  const codes = await Promise.all(Array.from({ length: 40 }, redemption));
  const back = new AbortController();
  const said: Array<[number, unknown]> = [];
  const watching = (async () => {
    while (!back.signal.aborted) {
      const { status, json } = await post('/introspect', { token: tokens.access_token });
      said.push([status, json['active']]);
    }
  })();
  const first = codes.map(async (fields, index) => {
    await pause(index);
    return post('/token', fields);
  });
  await Promise.race(first);
  await postgres.crash();
  const answers = await Promise.all(first);
  await postgres.start();
  const accepts = Date.now();
  await until(
    'it answers again',
    async () => (await post('/introspect', { token: tokens.access_token })).status === 200,
    2000,
  );
  expect(Date.now() - accepts).toBeLessThan(2000);
  back.abort();
  await watching;

  expect(said.filter(([status, active]) => !(status === 503 || (status === 200 && active === true)))).toEqual([]);
  expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const outcomes = new Set<string>();
  for (const [index, fields] of codes.entries()) {
    const again = await post('/token', fields);
    outcomes.add(`${summary(answers[index]!)}, then ${summary(again)}`);
  }
  // Whether a redemption that was cut off was committed is not known; that it counts once is.
  const possible = ['200, then 400 invalid_grant', `${AWAY}, then 200`, `${AWAY}, then 400 invalid_grant`];
  expect(possible).toEqual(expect.arrayContaining([...outcomes]));
});

test('a Postgres that hangs is answered with 503 within 3 s, by all of many requests, and is used again afterwards', async () => {
  expect((await post('/introspect', { token: tokens.access_token })).json['active']).toBe(true);
  postgres.pause();
  try {
    const begun = Date.now();
    const many = Array.from({ length: 60 }, () =>
      expectUnavailable(post('/introspect', { token: tokens.access_token })),
    );
    await Promise.all([...many, expectUnavailable(post('/token', refreshing())), statusOf('/livez')]);
    expect(Date.now() - begun).toBeLessThan(3000);
    expect(await statusOf('/readyz')).toBe(503);
  } finally {
    postgres.resume();
  }
  await until(
    'it answers again',
    async () => (await post('/introspect', { token: tokens.access_token })).status === 200,
    2000,
  );
  // What hung was never answered, and so was not done behind our back either, or was: but then once.
  const refreshed = await post('/token', refreshing());
  expect([200, 400]).toContain(refreshed.status);
  expect(server.output()).not.toMatch(/"level":(50|60)/);
});
