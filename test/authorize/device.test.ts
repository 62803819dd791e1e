import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presets } from '../../src/protocol/client-metadata.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  credentials,
  formTokenOf,
  introspect,
  PASSWORD,
  postForm,
  refresh,
  signIn,
  TestBrowser,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, {
    ...presets.device,
    token_endpoint_auth_method: 'client_secret_basic',
    application_type: 'web',
    redirect_uris: [],
  });
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(() => at.close());

interface Started {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

const start = async (by = client, fields: Record<string, string> = { scope: 'openid email' }): Promise<Started> =>
  (await postForm(at, '/device_authorization', { ...credentials(by), ...fields })).json();

const poll = (device_code: string, by = client) =>
  postForm(at, '/token', { grant_type: DEVICE_GRANT, device_code, ...credentials(by) });

/** Types a code at /device; returns the answer. */
async function enter(user_code: string, who = browser) {
  const page = await who.get('/device');
  return who.post('/device', { user_code, form_token: formTokenOf(page) });
}

/** Brings the code to its consent page and presses a button there. */
async function decide(user_code: string, action: 'approve' | 'deny', who = browser): Promise<string> {
  const hub = (await enter(user_code, who)).headers.location!;
  const page = (await who.get(hub)).headers.location!;
  expect(page).toMatch(/\/consent$/);
  const consent = await who.get(page);
  expect(consent.body).toContain(user_code);
  await who.post(page, { action, form_token: formTokenOf(consent) });
  return (await who.get(hub)).headers.location!;
}

describe('RFC 8628 §3.1: device authorization', () => {
  test('RFC 8628 §3.2: answers with codes, where to bring them, and how often to ask', async () => {
    const started = await start();
    expect(started).toEqual({
      device_code: expect.stringMatching(/^[0-9a-z]+_[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'https://id.example.test/device',
      verification_uri_complete: `https://id.example.test/device?user_code=${started.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  test('is for clients that are registered for it, authenticated like everywhere', async () => {
    const other = await aClient(at);
    const refused = await postForm(at, '/device_authorization', { ...credentials(other) });
    expect(refused.json()).toMatchObject({ error: 'unauthorized_client' });
    const wrong = await postForm(at, '/device_authorization', {
      ...credentials(client),
      client_secret: 'not the secret',
    });
    expect(wrong.statusCode).toBe(401);
    const scope = await postForm(at, '/device_authorization', { ...credentials(client), scope: 'admin' });
    expect(scope.json()).toMatchObject({ error: 'invalid_scope' });
  });
});

describe('RFC 8628 §3.3: the person decides', () => {
  test('approves in their own browser, and the device gets tokens, once', async () => {
    const { device_code, user_code } = await start();
    expect((await poll(device_code)).json()).toMatchObject({ error: 'authorization_pending' });
    expect(await decide(user_code, 'approve')).toBe('https://id.example.test/device/done?outcome=approved');
    const answer = await poll(device_code);
    expect(answer.statusCode).toBe(200);
    const tokens = answer.json<Tokens>();
    expect(tokens).toMatchObject({ scope: 'openid email', token_type: 'Bearer' });
    expect(tokens.id_token).toBeDefined();
    expect(await introspect(at, client, tokens.access_token)).toMatchObject({ active: true, sub: user.sub });
    expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(200);
    expect((await poll(device_code)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  test('is asked every time, by a page that names the client, the code and the danger', async () => {
    const { user_code } = await start();
    const hub = (await enter(user_code)).headers.location!;
    const page = await browser.get((await browser.get(hub)).headers.location!);
    expect(page.body).toContain('Test App');
    expect(page.body).toContain('on a device you own');
  });

  test('RFC 8628 §3.5: a denial is told to the device', async () => {
    const { device_code, user_code } = await start();
    expect(await decide(user_code, 'deny')).toContain('outcome=denied');
    expect((await poll(device_code)).json()).toMatchObject({ error: 'access_denied' });
  });

  test('signs in first when nobody is signed in', async () => {
    const stranger = new TestBrowser(at);
    const { device_code, user_code } = await start();
    const hub = (await enter(user_code, stranger)).headers.location!;
    const login = (await stranger.get(hub)).headers.location!;
    expect(login).toMatch(/\/login$/);
    const form_token = formTokenOf(await stranger.get(login));
    await stranger.post(login, { username: user.username, password: PASSWORD, form_token });
    expect((await stranger.get(hub)).headers.location).toMatch(/\/consent$/);
    expect((await poll(device_code)).json()).toMatchObject({ error: 'authorization_pending' });
  });

  test.each([
    (code: string) => code.toLowerCase(),
    (code: string) => code.replace('-', ''),
    (code: string) => ` ${code} `,
  ])('reads a code in any case, without dashes, with spaces', async (typed) => {
    const { user_code } = await start();
    expect((await enter(typed(user_code))).statusCode).toBe(303);
  });

  test('RFC 8628 §3.3.1: verification_uri_complete fills the code in and decides nothing', async () => {
    const { device_code, user_code, verification_uri_complete } = await start();
    const page = await browser.get(verification_uri_complete);
    expect(page.body).toContain(`value="${user_code}"`);
    expect((await poll(device_code)).json()).toMatchObject({ error: 'authorization_pending' });
  });

  test('of an approval and a denial at the same time, one wins', async () => {
    const { device_code, user_code } = await start();
    const other = await signIn(at, user);
    await Promise.allSettled([decide(user_code, 'approve'), decide(user_code, 'deny', other)]);
    const answer = (await poll(device_code)).json<{ error?: string; access_token?: string }>();
    expect(answer.access_token !== undefined || answer.error === 'access_denied').toBe(true);
  });

  test('needs a form of ours', async () => {
    const { user_code } = await start();
    expect((await browser.post('/device', { user_code })).statusCode).toBe(400);
    const page = await browser.get('/device');
    const forged = await browser.post(
      '/device',
      { user_code, form_token: formTokenOf(page) },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    );
    expect(forged.statusCode).toBe(400);
  });
});

describe('RFC 8628 §3.5: polling', () => {
  test('too early is answered slow_down, and lengthens the interval', async () => {
    const { device_code } = await start();
    const error = async (): Promise<string> => (await poll(device_code)).json<{ error: string }>().error;
    expect(await error()).toBe('authorization_pending');
    at.clock.advance(1);
    expect(await error()).toBe('slow_down');
    at.clock.advance(6);
    expect(await error()).toBe('slow_down');
    at.clock.advance(16);
    expect(await error()).toBe('authorization_pending');
  });

  test('of twenty polls after the approval one gets tokens', async () => {
    const { device_code, user_code } = await start();
    await decide(user_code, 'approve');
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(device_code)));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => statusCode === 400)).toHaveLength(19);
  });

  test('a device code is its client’s, and ends after ten minutes', async () => {
    const other = await aClient(at, {
      ...presets.device,
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [],
    });
    const { device_code, user_code } = await start();
    expect((await poll(device_code, other)).json()).toMatchObject({ error: 'invalid_grant' });
    at.clock.advance(601);
    expect((await poll(device_code)).json()).toMatchObject({ error: 'expired_token' });
    expect((await enter(user_code)).statusCode).toBe(400);
  });

  test('what a device got dies with the session that approved it', async () => {
    const own = await signIn(at, user);
    const { device_code, user_code } = await start();
    await decide(user_code, 'approve', own);
    const { access_token } = (await poll(device_code)).json<Tokens>();
    const page = await own.get('/logout');
    await own.post('/logout', { action: 'logout', form_token: formTokenOf(page) });
    expect(await introspect(at, client, access_token)).toEqual({ active: false });
  });
});

test('a device’s request that an older server stored, with an empty redirect_uri, goes on', async () => {
  const { device_code, user_code } = await start();
  const hub = (await enter(user_code)).headers.location!;
  const stored = await at.deps.db
    .selectFrom('interactions')
    .select(['hash', 'request'])
    .orderBy('created_at', 'desc')
    .where('device_hash', 'is not', null)
    .execute();
  const { hash, request } = stored.find((row) => row.request.user_code === user_code)!;
  expect(request).not.toHaveProperty('redirect_uri');
  const older = JSON.stringify({ ...request, redirect_uri: '', response_mode: 'query' });
  await at.deps.db.updateTable('interactions').set({ request: older }).where('hash', '=', hash).execute();
  const page = (await browser.get(hub)).headers.location!;
  const consent = await browser.get(page);
  await browser.post(page, { action: 'approve', form_token: formTokenOf(consent) });
  expect((await browser.get(hub)).headers.location).toContain('outcome=approved');
  expect((await poll(device_code)).statusCode).toBe(200);
});

test('RFC 8628 §5.1: guessing user codes is slowed down, and ends', async () => {
  const guesser = await signIn(at, await aUser(at));
  for (let tries = 0; tries < 5; tries += 1) expect((await enter('BBBB-BBBB', guesser)).statusCode).toBe(400);
  const throttled = await enter('BBBB-BBBB', guesser);
  expect(throttled.statusCode).toBe(429);
  expect(Number(throttled.headers['retry-after'])).toBeGreaterThan(0);
  at.clock.advance(5);
  const { user_code } = await start();
  expect((await enter(user_code, guesser)).statusCode).toBe(303);
});

describe('RFC 8628 §5.1: of sixty user codes at once no more are compared than are free', () => {
  /** Sends codes at once; how many were compared, and how many refused. */
  async function guess(codes: readonly string[], from: (n: number) => TestBrowser): Promise<number[]> {
    const tokens = await Promise.all(codes.map(async (_, n) => formTokenOf(await from(n).get('/device'))));
    const answers = await Promise.all(
      codes.map((user_code, n) => from(n).post('/device', { user_code, form_token: tokens[n]! })),
    );
    return [303, 400, 429].map((status) => answers.filter(({ statusCode }) => statusCode === status).length);
  }
  const WRONG = Array.from({ length: 60 }, (_, n) => `BBBB-BB${'BCDFGHJKLMNPQRSTVWXZ'[n % 20]}B`);

  test('of one browser, and what is right leaves the count as it was', async () => {
    at.clock.advance(86_401);
    const guesser = new TestBrowser(at);
    await guesser.get('/device');
    const { user_code } = await start();
    for (let n = 0; n < 4; n += 1) expect((await enter('BBBB-BBBB', guesser)).statusCode).toBe(400);
    // With a code of their own nobody starts to count again.
    for (let n = 0; n < 3; n += 1) expect((await enter(user_code, guesser)).statusCode).toBe(303);
    expect(await guess(WRONG, () => guesser)).toEqual([0, 1, 59]);
  });

  test('of one network, by browsers that throw their cookies away', async () => {
    at.clock.advance(86_401);
    const browsers = WRONG.map(() => new TestBrowser(at));
    expect(await guess(WRONG, (n) => browsers[n]!)).toEqual([0, 30, 30]);
  });
});

test('RFC 8628 §4: discovery names the endpoint and the grant', async () => {
  const metadata = (await at.app.inject('/.well-known/openid-configuration')).json<{
    grant_types_supported: string[];
  }>();
  expect(metadata).toMatchObject({ device_authorization_endpoint: 'https://id.example.test/device_authorization' });
  expect(metadata.grant_types_supported).toContain(DEVICE_GRANT);
});
