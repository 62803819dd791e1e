import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/store/postgres/db.ts';
import { setDisabled } from '../../../src/users/accounts.ts';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aService,
  aUser,
  BY,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
} from '../../support/fixtures.ts';
import { aTokenRequest, decode, expectPrivate, expectRefusal, formOf, postRaw, send } from '../../support/oauth.ts';

let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
let token: string;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { scope: 'openid profile email phone address groups' });
  user = await aUser(at, { claims: { name: 'Ada Lovelace', groups: ['poets'], address: { country: 'GB' } } });
  browser = await signIn(at, user);
  token = await tokenOf('openid profile email');
});
afterAll(() => at.close());

async function tokenOf(scope: string): Promise<string> {
  const { tokens } = await someTokens(at, { client, user, browser, parameters: { scope } });
  return tokens.access_token;
}
const get = (url: string, headers: Record<string, string> = {}) => at.app.inject({ method: 'GET', url, headers });

test('specification §Endpoints 3: GET /userinfo with Authorization: Bearer answers a JSON object of user claims', async () => {
  const answer = await userinfo(at, token);
  expect(answer.statusCode).toBe(200);
  expectPrivate(answer);
  expect(answer.json()).toEqual({
    sub: user.sub,
    name: 'Ada Lovelace',
    preferred_username: user.username,
    updated_at: expect.any(Number) as number,
    email: user.email,
    email_verified: true,
  });
});

test('specification §Authentication 4: the scheme is Bearer, in any case (RFC 9110 §11.1)', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    expect((await get('/userinfo', { authorization: `${scheme} ${token}` })).statusCode).toBe(200);
  }
});

test('OpenID Connect Core §5.3.1: POST with the header, or with the token in a form body', async () => {
  const inBody = await postRaw(at, '/userinfo', formOf({ access_token: token }));
  expect(inBody.json()).toMatchObject({ sub: user.sub });
  const headers = { authorization: `Bearer ${token}` };
  expect((await at.app.inject({ method: 'POST', url: '/userinfo', headers })).json()).toMatchObject({ sub: user.sub });
  expect((await postRaw(at, '/userinfo', '', headers)).json()).toMatchObject({ sub: user.sub });
});

test('OpenID Connect Core §5.4: each scope opens its claims and no others', async () => {
  const claims = async (scope: string): Promise<string[]> =>
    Object.keys((await userinfo(at, await tokenOf(scope))).json()).toSorted();
  expect(await claims('openid')).toEqual(['sub']);
  expect(await claims('openid email')).toEqual(['email', 'email_verified', 'sub']);
  expect(await claims('openid groups address')).toEqual(['address', 'groups', 'sub']);
  // No phone number is known, so nothing is said of it: no null, no empty string.
  expect(await claims('openid phone')).toEqual(['sub']);
});

test('OpenID Connect Core §5.3.2: sub is the one of the ID token', async () => {
  const { tokens } = await someTokens(at, { client, user, browser });
  const info = (await userinfo(at, tokens.access_token)).json<{ sub: string }>();
  expect(info.sub).toBe(decode(tokens.id_token).payload['sub']);
});

test('RFC 6750 §3.1: a request without a token is 401 with a plain challenge and no error', async () => {
  for (const method of ['GET', 'POST'] as const) {
    const answer = await at.app.inject({ method, url: '/userinfo' });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="https:\/\/id\.example\.test", DPoP algs="[\w ]+"$/,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
  }
});

test.each(['x', 'a.b.c', '..', '0_' + 'A'.repeat(43), 'zzzzzz_' + 'A'.repeat(43), 'x'.repeat(8000), "'or'1'='1"])(
  'RFC 6750 §3.1: %s is 401 invalid_token with WWW-Authenticate',
  async (garbage) => {
    const answer = await userinfo(at, garbage);
    expectRefusal(answer, 401, 'invalid_token');
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="https:\/\/id\.example\.test", error="invalid_token", error_description="[^"\\]+"$/,
    );
  },
);

test('RFC 6750 §3.1: a token without openid is 403 insufficient_scope, and told which scope would do', async () => {
  const service = await send(at, await aTokenRequest(at, 'client_credentials', { client: await aService(at) }));
  for (const bare of [service.json<{ access_token: string }>().access_token, await tokenOf('email')]) {
    const answer = await userinfo(at, bare);
    expectRefusal(answer, 403, 'insufficient_scope');
    expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope".*scope="openid"$/);
  }
});

test('RFC 9700 §4.3.2: a token in the query is refused, even beside a good header', async () => {
  const url = `/userinfo?${formOf({ access_token: token })}`;
  expectRefusal(await get(url), 400, 'invalid_request');
  expectRefusal(await get(url, { authorization: `Bearer ${token}` }), 400, 'invalid_request');
  expectRefusal(await postRaw(at, url, ''), 400, 'invalid_request');
});

test('RFC 6750 §2: two methods at once are invalid_request', async () => {
  const headers = { authorization: `Bearer ${token}` };
  expectRefusal(await postRaw(at, '/userinfo', formOf({ access_token: token }), headers), 400, 'invalid_request');
});

test('RFC 6750 §3: a request that carries no usable token is challenged, whatever its error', async () => {
  for (const answer of [
    await get(`/userinfo?${formOf({ access_token: token })}`),
    await get('/userinfo', { authorization: 'Basic YTpi' }),
    await get('/userinfo', { authorization: 'Bearer' }),
    await get('/userinfo', { authorization: `Bearer ${token} ${token}` }),
    await postRaw(at, '/userinfo', 'access_token=a&access_token=b'),
  ]) {
    expectRefusal(answer, 400, 'invalid_request');
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="https:\/\/id\.example\.test", error="invalid_request"/,
    );
  }
});

test('RFC 6750 §2.2: a body in another type than a form is no token', async () => {
  const json = JSON.stringify({ access_token: token });
  const answer = await postRaw(at, '/userinfo', json, { 'content-type': 'application/json' });
  expect([400, 415]).toContain(answer.statusCode);
  const typed = await postRaw(at, '/userinfo', formOf({ access_token: token }), {
    'content-type': 'application/x-www-form-urlencoded; charset=utf-16',
  });
  expectRefusal(typed, 400, 'invalid_request');
  // RFC 6750 §2.2: not with GET.
  const got = await at.app.inject({ method: 'GET', url: '/userinfo', payload: formOf({ access_token: token }) });
  expect(got.statusCode).toBe(401);
});

test('specification §Resources: a refresh token, an ID token or a code opens nothing here', async () => {
  const { tokens, code } = await someTokens(at, { client, user, browser });
  for (const other of [tokens.refresh_token, tokens.id_token, code]) {
    expectRefusal(await userinfo(at, other), 401, 'invalid_token');
  }
});

test('RFC 9110 §15.5.6: other methods are 405 with Allow', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await at.app.inject({ method, url: '/userinfo', headers: { authorization: `Bearer ${token}` } });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['allow']).toMatch(/^GET, (HEAD, )?POST$/);
  }
});

test('ASVS 7.4.2: disabling a person ends their tokens at once', async () => {
  const gone = await aUser(at);
  const { tokens } = await someTokens(at, { client, user: gone });
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  await transact(at.deps.db, (trx) => setDisabled(trx, gone.sub, true, BY, at.clock.now()));
  expectRefusal(await userinfo(at, tokens.access_token), 401, 'invalid_token');
});

test('specification §Resources: an access token is refused when it has expired', async () => {
  at.clock.advance(599);
  expect((await userinfo(at, token)).statusCode).toBe(200);
  at.clock.advance(1);
  expectRefusal(await userinfo(at, token), 401, 'invalid_token');
});
