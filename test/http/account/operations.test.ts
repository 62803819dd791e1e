/** The account API: everything in its table, and who is refused. */
import { Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../src/http/account/operations.ts';
import { describeAccountApi, statusOf } from '../../../src/http/account/describe.ts';
import * as passkeys from '../../../src/store/passkeys.ts';
import { transact } from '../../../src/store/postgres/db.ts';
import * as users from '../../../src/store/users.ts';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { decode } from '../../support/oauth.ts';
import {
  aClient,
  aService,
  aUser,
  authorizationUrl,
  aVerifier,
  credentials,
  PASSWORD,
  postForm,
  signIn,
  someTokens,
  type AClient,
} from '../../support/fixtures.ts';
import { mailTo } from '../../support/mailbox.ts';
import { codeOf, withTotp } from '../../support/second-factor.ts';

const BASE = '/account/api';

let at: TestApp;
let ada: User;
beforeAll(async () => {
  at = await testApp();
  ada = await aUser(at, { claims: { name: 'Ada' } });
});
afterAll(() => at.close());

const loginToken = async (user: User, more: Record<string, string> = {}): Promise<string> => {
  const payload = { username: user.username, password: PASSWORD, ...more };
  const answer = await at.app.inject({ method: 'POST', url: '/login', payload });
  return answer.json<{ access_token: string }>().access_token;
};

interface Sent {
  method: string;
  path: string;
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}
const send = ({ method, path, token, body, headers = {} }: Sent) =>
  at.app.inject({
    method: method as 'GET',
    url: `${BASE}${path === '/' ? '' : path}`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  });

/** What each wants for a body. */
const bodies: Record<string, unknown> = {
  profile_update: { nickname: 'Countess' },
  passkeys_rename: { name: 'Laptop' },
  authenticator_add: { setup: 'made-up', otp: '000000' },
  password_set: { password: 'another horse battery staple', current_password: PASSWORD },
};
/** Every operation, with a path and a body that could be meant. */
const requests = operations.map((operation) => ({
  ...operation,
  path: operation.path.replaceAll(/\{\w+\}/g, 'of-nobody'),
  body: bodies[operation.name],
}));

async function aPasskey({ sub }: User, name: string): Promise<string> {
  const { random, clock, db } = at.deps;
  const passkey_id = random(9).toString('base64url');
  const row = { credential_id: random(16), passkey_id, sub, public_key: random(32), sign_count: 0, name };
  const flags = { backup_eligible: true, backed_up: true, user_verified: true, transports: [] };
  await passkeys.userHandle(db, sub, random(32));
  const aaguid = '00000000-0000-0000-0000-000000000000';
  await transact(db, (trx) =>
    passkeys.insert(trx, { ...row, ...flags, aaguid, created_at: clock(), last_used_at: null }),
  );
  return passkey_id;
}

test('nobody but a person with a whole sign-in is let in: every operation refuses every other token, with a challenge', async () => {
  const client = await aClient(at);
  const { user, tokens } = await someTokens(at, { client });
  const service = await aService(at);
  const machine = await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) });
  const spent = await loginToken(ada);
  const { sid } = (await at.deps.db
    .selectFrom('sessions')
    .select('sid')
    .where('sub', '=', ada.sub)
    .executeTakeFirst())!;
  await send({ method: 'DELETE', path: `/sessions/${sid}`, token: spent });
  const gone = await aUser(at);
  const disabled = await loginToken(gone);
  await transact(at.deps.db, (trx) => users.update(trx, gone.sub, { disabled_at: at.clock.now() }));
  const careful = await aUser(at);
  const passwordOnly = await loginToken(careful);
  await withTotp(at, careful);
  const others: Array<[what: string, token: string | undefined, challenge: string]> = [
    ['none', undefined, 'Bearer realm="https://id.example.test"'],
    ['made up', 'made-up', 'error="invalid_token"'],
    ["a client's, for a person", tokens.access_token, 'error="invalid_token"'],
    ['an ID token', tokens.id_token, 'error="invalid_token"'],
    ["a machine's", machine.json<{ access_token: string }>().access_token, 'error="invalid_token"'],
    ['of a session that ended', spent, 'error="invalid_token"'],
    ['of a disabled person', disabled, 'error="invalid_token"'],
    ['of a password alone', passwordOnly, 'error="insufficient_user_authentication"'],
  ];
  for (const [what, token, challenge] of others) {
    for (const { name, method, path, body } of requests) {
      const answer = await send({ method, path, token, body });
      expect([answer.statusCode, answer.headers['content-type']], `${name}: ${what}`).toEqual([
        401,
        'application/problem+json; charset=utf-8',
      ]);
      expect(answer.headers['www-authenticate'], `${name}: ${what}`).toContain(challenge);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  }
  const refused = await send({ method: 'GET', path: '/', token: passwordOnly });
  expect(refused.headers['www-authenticate']).toContain('acr_values="2"');
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ erase_after: null });
});

test('a token with the second factor is let in, and one that expired is not', async () => {
  const user = await aUser(at);
  const { secret } = await withTotp(at, user);
  const token = await loginToken(user, { otp: codeOf(at, secret) });
  const answer = await send({ method: 'GET', path: '/', token });
  expect(answer.json()).toMatchObject({ sub: user.sub, signed_in: { amr: ['pwd', 'otp', 'mfa'] } });
  const { items } = (await send({ method: 'GET', path: '/factors', token })).json<{ items: object[] }>();
  expect(items).toMatchObject([{ factor: 'password' }, { factor: 'totp' }, { factor: 'recovery_code', left: 3 }]);
  const elsewhere = await loginToken(user, { otp: codeOf(at, secret, 1) });
  const made = await send({ method: 'POST', path: '/recovery-codes', token });
  expect([made.statusCode, made.json()]).toEqual([200, { recovery_codes: expect.any(Array) }]);
  expect(new Set(made.json<{ recovery_codes: string[] }>().recovery_codes).size).toBe(10);
  expect((await send({ method: 'DELETE', path: '/authenticator', token })).statusCode).toBe(204);
  expect((await send({ method: 'DELETE', path: '/authenticator', token })).statusCode).toBe(404);
  expect((await send({ method: 'POST', path: '/recovery-codes', token })).statusCode).toBe(409);
  expect((await send({ method: 'GET', path: '/', token: elsewhere })).statusCode).toBe(401);
  at.clock.advance(at.deps.config.ACCESS_TOKEN_TTL);
  for (const { name, method, path, body } of requests) {
    expect((await send({ method, path, token, body })).statusCode, name).toBe(401);
  }
});

test('an authenticator app is set up by a right code of it, in the same sign-in, and every token of a password alone ends', async () => {
  const user = await aUser(at);
  const [token, other] = [await loginToken(user), await loginToken(user)];
  const begin = (by: string) => send({ method: 'POST', path: '/authenticator', token: by });
  const begun = await begin(token);
  const { secret, otpauth_uri, setup } = begun.json<Record<'secret' | 'otpauth_uri' | 'setup', string>>();
  expect([begun.statusCode, new URL(otpauth_uri).searchParams.get('secret')]).toEqual([200, secret]);
  const code = codeOf(at, Buffer.from(Secret.fromBase32(secret).buffer));
  const put = (body: object, by = token) => send({ method: 'PUT', path: '/authenticator', token: by, body });
  const wrong = code === '000000' ? '000001' : '000000';
  for (const [sent, by, pointer] of [
    [{ setup, otp: wrong }, token, '/otp'],
    [{ setup, otp: code }, other, '/setup'],
    [{ setup: 'made-up', otp: code }, token, '/setup'],
  ] as const)
    expect((await put(sent, by)).json(), pointer).toMatchObject({ status: 400, errors: [{ pointer }] });
  const done = await put({ setup, otp: code });
  expect([done.statusCode, done.json<{ recovery_codes: string[] }>().recovery_codes]).toEqual([200, expect.any(Array)]);
  for (const by of [token, other]) expect((await send({ method: 'GET', path: '/', token: by })).statusCode).toBe(401);
  at.clock.advance(30);
  const next = await loginToken(user, { otp: codeOf(at, Buffer.from(Secret.fromBase32(secret).buffer)) });
  expect((await begin(next)).statusCode).toBe(409);
  const { items } = (await send({ method: 'GET', path: '/activity', token: next })).json<{ items: object[] }>();
  expect(items).toContainEqual(expect.objectContaining({ event: 'factor_added' }));
  expect((await mailTo(at, user.email!)).map(({ template }) => template)).toContain('notice');
});

test('RFC 9470 §3: what needs a fresh sign-in is refused after five minutes, and says how old it may be', async () => {
  const token = await loginToken(ada);
  at.clock.advance(301);
  const stale: string[] = [];
  for (const { name, method, path, body, fresh } of requests) {
    if (name === 'password_set') continue;
    const answer = await send({ method, path, token, body });
    // Everything else is let in: it is done, or finds nothing by that id.
    const challenge = answer.headers['www-authenticate'] ?? '';
    expect([answer.statusCode === 401, challenge.includes('max_age="300"')], name).toEqual([
      fresh === true,
      fresh === true,
    ]);
    if (fresh) stale.push(name);
  }
  expect(stale).toEqual([
    'sessions_end',
    'sessions_end_others',
    'data_download',
    'deletion_request',
    'passkeys_rename',
    'passkeys_remove',
    'authenticator_begin',
    'authenticator_add',
    'authenticator_remove',
    'recovery_codes_make',
  ]);
});

test('the ids of other people are nobody’s', async () => {
  const [mallory, victim] = [await aUser(at), await aUser(at)];
  const [token, theirs] = [await loginToken(mallory), await loginToken(victim)];
  const passkey_id = await aPasskey(victim, 'Phone');
  const client = await aClient(at);
  await someTokens(at, { client, user: victim });
  const { items } = (await send({ method: 'GET', path: '/sessions', token: theirs })).json<{
    items: Array<{ sid: string }>;
  }>();
  const named: Array<[string, string, unknown]> = [
    ...items.map(({ sid }): [string, string, unknown] => ['DELETE', `/sessions/${sid}`, undefined]),
    ['DELETE', `/applications/${client.client_id}`, undefined],
    ['PATCH', `/passkeys/${passkey_id}`, { name: 'Mine' }],
  ];
  for (const [method, path, body] of named) {
    expect((await send({ method, path, token, body })).statusCode, path).toBe(404);
  }
  // A passkey that is not theirs, and a way in that is their last: either way nothing is removed.
  expect([404, 409]).toContain((await send({ method: 'DELETE', path: `/passkeys/${passkey_id}`, token })).statusCode);
  const left = await send({ method: 'GET', path: '/passkeys', token: theirs });
  expect(left.json()).toMatchObject({ items: [{ passkey_id, name: 'Phone' }] });
});

test('the table does what the pages do, and answers what its description says', async () => {
  const user = await aUser(at, { claims: { name: 'Grace' } });
  const token = await loginToken(user);
  await signIn(at, user);
  const passkey_id = await aPasskey(user, 'Phone');
  const asked: Record<string, string> = { passkeys_rename: passkey_id, passkeys_remove: passkey_id };
  // Each has a test of its own.
  const last = ['password_set', 'deletion_request', 'recovery_codes_make'];
  const rows = operations.filter(
    ({ name, path }) => !last.includes(name) && path !== '/authenticator' && (!path.includes('{') || name in asked),
  );
  const told: Record<string, Record<string, never>> = {};
  for (const operation of rows) {
    const { name, method, answer } = operation;
    const path = operation.path.replaceAll(/\{\w+\}/g, asked[name] ?? '');
    const done = await send({ method, path, token, body: bodies[name] });
    expect(done.statusCode, `${name}: ${done.body}`).toBe(statusOf(operation));
    expect(answer === null ? undefined : answer.safeParse(done.json()).error, name).toBeUndefined();
    if (answer !== null) told[name] = done.json();
  }
  expect(told).toMatchObject({
    account_get: { username: user.username, claims: { name: 'Grace' } },
    profile_update: { claims: { name: 'Grace', nickname: 'Countess' } },
    sessions_end_others: { sessions_ended: 1 },
    data_download: { sub: user.sub },
    passkeys_list: { items: [{ name: 'Phone' }] },
  });
  const refused = await send({
    method: 'PATCH',
    path: '/profile',
    token,
    body: { zoneinfo: 'Mars/Olympus', gender: 'x' },
  });
  expect([
    refused.statusCode,
    refused.json<{ errors: Array<{ pointer: string }> }>().errors.map(({ pointer }) => pointer),
  ]).toEqual([400, ['/gender', '/zoneinfo']]);
  expect((await send({ method: 'GET', path: '/activity?colour=red', token })).statusCode).toBe(400);
  expect((await send({ method: 'GET', path: '/sessions?limit=1', token })).statusCode).toBe(400);
  const page = (await send({ method: 'GET', path: '/activity?limit=1', token })).json<{
    next: string;
    items: object[];
  }>();
  const next = await send({ method: 'GET', path: `/activity?limit=1&before=${encodeURIComponent(page.next)}`, token });
  expect([page.items, next.json()]).toEqual([
    [expect.anything()],
    { items: [expect.not.objectContaining(page.items[0]!)], next: expect.anything() },
  ]);
});

describe('RFC 8707 §2: an application comes by a token for this API alone, with the scope account', () => {
  const API = 'https://id.example.test/account/api';
  const scope = 'openid account offline_access';
  let client: AClient;
  beforeAll(async () => {
    client = await aClient(at, { scope });
  });
  const tokenOf = async (user: User, more: { client?: AClient; parameters?: Record<string, string> } = {}) => {
    const given = { client, user, parameters: { scope, resource: API }, ...more };
    return (await someTokens(at, given)).tokens;
  };
  const get = (path: string, token: string, headers = {}) => send({ method: 'GET', path, token, headers });

  test('it does what people let it, and what decides who comes to the account only if an operator vouches for it', async () => {
    const user = await aUser(at);
    const { access_token: token } = await tokenOf(user);
    expect((await get('/', token)).json()).toMatchObject({
      sub: user.sub,
      signed_in: { client_id: client.client_id, amr: ['pwd'] },
    });
    const elsewhere = await signIn(at, user);
    const others = await send({ method: 'POST', path: '/sessions/end-others', token });
    expect([others.statusCode, others.json()]).toMatchObject([200, { sessions_ended: 1 }]);
    expect((await elsewhere.get('/account')).statusCode).toBe(302);
    expect((await get('/', token)).statusCode).toBe(200);
    const refused: string[] = [];
    for (const { name, method, path, body, trusted } of requests) {
      if (!trusted) continue;
      expect((await send({ method, path, token, body })).statusCode, name).toBe(403);
      refused.push(name);
    }
    expect(refused).toContain('password_set');
    const trusted = await tokenOf(user, { client: await aClient(at, { scope, skip_consent: true }) });
    expect((await get('/data', trusted.access_token)).statusCode).toBe(200);
    // Signed in by a provider that does not say when it asked.
    const stated = (auth_time_stated: boolean) =>
      at.deps.db.updateTable('sessions').set({ auth_time_stated }).where('sub', '=', user.sub).execute();
    await stated(false);
    expect((await get('/data', trusted.access_token)).statusCode).toBe(401);
    await stated(true);
    at.clock.advance(301);
    const stale = await get('/data', trusted.access_token);
    expect(stale.headers['www-authenticate']).toContain('error="insufficient_user_authentication"');
    expect((await get('/', trusted.access_token)).statusCode).toBe(200);
  });

  test('RFC 9068 §4: any other token is refused, and so is one whose access was taken back', async () => {
    const user = await aUser(at);
    const good = (await tokenOf(user)).access_token;
    const forged = (claims: object) =>
      at.deps.keys.sign({ ...decode(good).payload, ...claims }, { typ: 'at+jwt', alg: 'RS256' }, at.clock.now());
    const elsewhere = await tokenOf(user, { parameters: { scope } });
    expect(decode(elsewhere.access_token).payload['scope']).not.toContain('account');
    for (const [token, status] of [
      [elsewhere.access_token, 401],
      [await forged({ aud: [API, 'https://id.example.test'] }), 401],
      [await forged({ scope: 'openid' }), 403],
    ] as const)
      expect((await get('/', token)).statusCode).toBe(status);
    // Its session is over, and so is what wants a sign-in; what was granted for longer goes on.
    await at.deps.db.updateTable('sessions').set({ ended_at: at.clock.now() }).where('sub', '=', user.sub).execute();
    expect((await get('/', good)).statusCode).toBe(200);
    expect((await send({ method: 'POST', path: '/sessions/end-others', token: good })).statusCode).toBe(401);
    const gone = await send({ method: 'DELETE', path: `/applications/${client.client_id}`, token: good });
    expect([gone.statusCode, (await get('/', good)).statusCode]).toEqual([204, 401]);
    const other = await aUser(at);
    const [disabled, leaving] = [(await tokenOf(other)).access_token, (await tokenOf(user)).access_token];
    expect([(await get('/', disabled)).statusCode, (await get('/', leaving)).statusCode]).toEqual([200, 200]);
    await transact(at.deps.db, (trx) => users.update(trx, other.sub, { disabled_at: at.clock.now() }));
    await transact(at.deps.db, (trx) => users.update(trx, user.sub, { erase_after: at.clock.now() }));
    for (const token of [disabled, leaving]) expect((await get('/', token)).statusCode).toBe(401);
    const expired = (await tokenOf(await aUser(at))).access_token;
    at.clock.advance(at.deps.config.ACCESS_TOKEN_TTL);
    const late = await get('/', expired);
    expect([late.statusCode, late.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('invalid_token'),
    ]);
    const machine = await aService(at, { scope: 'jobs:read account' });
    const fields = { grant_type: 'client_credentials', ...credentials(machine), scope: 'account', resource: API };
    expect((await postForm(at, '/token', fields)).json()).toMatchObject({ error: 'invalid_scope' });
  });

  test('pages of its own origins may call it, without cookies', async () => {
    const { access_token: token } = await tokenOf(await aUser(at));
    for (const [origin, allowed] of [
      ['https://app.example.test', 'https://app.example.test'],
      ['https://evil.example.test', undefined],
    ] as const) {
      const answer = await get('/', token, { origin });
      expect([answer.headers['access-control-allow-origin'], answer.headers['vary']]).toEqual([allowed, 'Origin']);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
    const refused = await get('/data', token, { origin: 'https://app.example.test' });
    expect(refused.headers['access-control-expose-headers']).toContain('www-authenticate');
    for (const [path, methods] of Map.groupBy(operations, (each) => each.path)) {
      const preflight = await send({ method: 'OPTIONS', path });
      expect(preflight.headers['access-control-allow-methods'], path).toBe(
        methods.map((each) => each.method).join(', '),
      );
      expect(preflight.headers['access-control-allow-headers'], path).toContain('authorization');
    }
  });

  test('the consent page says what it may do, in words', async () => {
    const browser = await signIn(at, await aUser(at));
    const url = authorizationUrl(browser.issuer, client, {
      scope,
      resource: API,
      code_challenge: aVerifier().code_challenge,
      code_challenge_method: 'S256',
    });
    const page = await browser.get((await browser.get(url)).headers.location!);
    const shown = page.headers.location === undefined ? page : await browser.get(page.headers.location);
    expect(shown.body).toContain('See and change your account here: profile, sessions and connected applications');
  });
});

test('a password is changed by the present one, unless the new one is no good', async () => {
  const user = await aUser(at);
  const token = await loginToken(user);
  const change = (body: object) => send({ method: 'PUT', path: '/password', token, body });
  const next = 'a quite different staple 17';
  const wrong = await change({ password: next, current_password: 'not it' });
  expect([wrong.statusCode, wrong.json()]).toMatchObject([400, { errors: [{ pointer: '/current_password' }] }]);
  const short = await change({ password: 'short', current_password: PASSWORD });
  expect([short.statusCode, short.json()]).toMatchObject([400, { errors: [{ pointer: '/password', code: 'short' }] }]);
  expect((await change({ password: next, current_password: PASSWORD })).statusCode).toBe(204);
});

test('whoever has their account erased is signed out of everything at once', async () => {
  const user = await aUser(at);
  const token = await loginToken(user);
  const asked = await send({ method: 'POST', path: '/deletion', token });
  expect([asked.statusCode, asked.json()]).toEqual([200, { erase_after: expect.any(String) }]);
  expect((await send({ method: 'GET', path: '/', token })).statusCode).toBe(401);
});

test('other methods and addresses are refused in the same form, and cookies count for nothing', async () => {
  const token = await loginToken(ada);
  for (const [method, path, status, allow] of [
    ['DELETE', '/sessions/end-others', 405, 'POST, OPTIONS'],
    ['POST', '/', 405, 'GET, OPTIONS'],
    ['HEAD', '/data', 405, 'GET, OPTIONS'],
    ['GET', '/nothing', 404, undefined],
  ] as const) {
    const answer = await send({ method, path, token });
    expect([answer.statusCode, answer.headers['allow']], path).toEqual([status, allow]);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  }
  const browser = await signIn(at, ada);
  expect((await browser.get(BASE)).statusCode).toBe(401);
  const preflight = await send({ method: 'OPTIONS', path: '/profile' });
  expect(preflight.headers['access-control-allow-methods']).toBe('PATCH');
  const form = await send({
    method: 'PATCH',
    path: '/profile',
    token,
    body: {},
    headers: { 'content-type': 'text/plain' },
  });
  expect(form.statusCode).toBe(415);
});

test('the description names every operation and is open to all', async () => {
  const answer = await send({ method: 'GET', path: '/openapi.json' });
  expect(answer.json()).toEqual(JSON.parse(JSON.stringify(describeAccountApi('https://id.example.test'))));
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  const { paths } = answer.json<{ paths: Record<string, Record<string, { operationId: string }>> }>();
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(ids.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
});
