/** What a request spends, it spends with all that it gives: one that fails for a reason we know can be made again. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aDevice,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aService,
  aUser,
  credentials,
  introspect,
  PASSWORD,
  postForm,
  redeem,
  refresh,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { aResource } from '../support/oauth.ts';

type Answer = Awaited<ReturnType<typeof redeem>>;

const HIDDEN = 'https://hidden.example.test';
let at: TestApp;
/** Another process on the same database. */
let other: TestApp;
let opaque: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
  opaque = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
  user = await aUser(at);
  browser = await signIn(at, user);
  await aResource(at, HIDDEN, { access_token_format: 'opaque' });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

const alarms = async (): Promise<number> => {
  const names = ['code_replay', 'code_repeated', 'refresh_token_reuse'];
  return (await at.deps.db.selectFrom('audit_events').select('event').where('event', 'in', names).execute()).length;
};

const code = () => anAuthorizationCode(at, { client: opaque, user, browser });

/** Each way to an opaque access token, as often as one likes. */
const ways: Record<string, () => Promise<(by: TestApp) => Promise<Answer>>> = {
  'a code': async () => {
    const given = await code();
    return (by) => redeem(by, given);
  },
  'a code for a resource that wants opaque tokens, which the request does not name': async () => {
    const client = await aClient(at, { skip_consent: true });
    const given = await anAuthorizationCode(at, { client, user, browser, parameters: { resource: HIDDEN } });
    return (by) => redeem(by, given);
  },
  'a refresh token': async () => {
    const { refresh_token } = (await redeem(at, await code())).json<Tokens>();
    return (by) => refresh(by, opaque, refresh_token);
  },
  'a device code': async () => {
    const client = await aDevice(at, { access_token_format: 'opaque' });
    const { device_code } = await anApprovedDeviceCode(at, { client, user, browser });
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    return (by) => postForm(by, '/token', { grant_type, ...credentials(client), device_code });
  },
  'a secret': async () => {
    const client = await aService(at, { access_token_format: 'opaque' });
    other.deps.directory.clear();
    return (by) => postForm(by, '/token', { grant_type: 'client_credentials', ...credentials(client) });
  },
};

describe.each(Object.entries(ways))('%s', (_name, prepare) => {
  test('is not spent while its access token cannot be written: the same again gives tokens, and is no alarm', async () => {
    const ask = await prepare();
    const before = await alarms();
    await transact(at.deps.db, async (trx) => {
      await sql`lock table access_tokens in exclusive mode`.execute(trx);
      for (const by of [at, other]) {
        const answer = await ask(by);
        expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, expect.any(String)]);
      }
    });
    const answer = await ask(other);
    expect(answer.statusCode).toBe(200);
    const { access_token } = answer.json<Tokens>();
    expect(access_token).not.toContain('.');
    expect(await introspect(at, opaque, access_token)).toBeDefined();
    expect(await alarms()).toBe(before);
  });
});

test('the token of POST /login is there with its session, or neither is', async () => {
  const sessions = async (): Promise<number> =>
    (await at.deps.db.selectFrom('sessions').select('sid').where('sub', '=', user.sub).execute()).length;
  const before = await sessions();
  const ask = (): Promise<Answer> =>
    at.app.inject({
      method: 'POST',
      url: '/login',
      headers: { host: 'id.example.test', 'content-type': 'application/json' },
      payload: JSON.stringify({ username: user.username, password: PASSWORD }),
    });
  await transact(at.deps.db, async (trx) => {
    await sql`lock table access_tokens in exclusive mode`.execute(trx);
    expect((await ask()).statusCode).toBe(503);
  });
  expect(await sessions()).toBe(before);
  const answer = await ask();
  expect(answer.statusCode).toBe(200);
  expect((await userinfo(at, answer.json<Tokens>().access_token)).statusCode).toBe(200);
});

test('a key that cannot sign is noticed before: nothing is spent, and with it the same code gives tokens', async () => {
  const client = await aClient(at, { skip_consent: true, id_token_signed_response_alg: 'ES256' });
  const given = await anAuthorizationCode(at, { client, user, browser });
  const { sign, canSign } = at.deps.keys;
  at.deps.keys.canSign = () => false;
  at.deps.keys.sign = () => Promise.reject(new Error('there is no active ES256 key'));
  expect((await redeem(at, given)).statusCode).toBe(500);
  Object.assign(at.deps.keys, { sign, canSign });
  expect((await redeem(at, given)).statusCode).toBe(200);
});

test('an answer that was lost is given again by another process, also with an opaque access token, and is no alarm', async () => {
  const { refresh_token } = (await redeem(at, await code())).json<Tokens>();
  const before = await alarms();
  // Spring and oauth2-proxy refresh several times at once, at whichever server.
  const many = await Promise.all([at, other, at, other, at].map((by) => refresh(by, opaque, refresh_token)));
  const later = await refresh(other, opaque, refresh_token);
  const given = [...many, later].map((answer) => answer.json<Tokens>());
  expect(new Set(given.map((tokens) => tokens.refresh_token)).size).toBe(1);
  expect(new Set(given.map(({ access_token }) => access_token)).size).toBe(6);
  for (const { access_token } of given) expect((await userinfo(at, access_token)).statusCode).toBe(200);
  expect(await alarms()).toBe(before);
});
