import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aPublicClient,
  aService,
  aUser,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  type TestBrowser,
  type AClient,
  type Tokens,
} from '../../support/fixtures.ts';
import {
  aResource,
  aTokenRequest,
  basic,
  decode,
  expectPrivate,
  expectRefusal,
  postRaw,
  send,
} from '../../support/oauth.ts';

const NOTES = 'https://notes.example.test';
let at: TestApp;
let client: AClient;
let api: AClient;
let monitor: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  [client, user] = [await aClient(at), await aUser(at)];
  api = await aService(at);
  monitor = await aService(at, { may_introspect: true });
  await aResource(at, NOTES, { client_id: api.client_id });
  browser = await signIn(at, user);
});
afterAll(() => at.close());

const tokensOf = async (of: AClient = client, parameters: Record<string, string> = {}) =>
  someTokens(at, { client: of, user, browser, parameters });

test('RFC 7662 §2.2: an access token tells its own client what it means', async () => {
  const { tokens } = await tokensOf();
  const answer = await postForm(at, '/introspect', { token: tokens.access_token, ...credentials(client) });
  expect(answer.statusCode).toBe(200);
  expectPrivate(answer);
  const { payload } = decode(tokens.access_token);
  expect(answer.json()).toEqual({ active: true, token_type: 'Bearer', ...payload });
});

test('RFC 7662 §2.1: client authentication by HTTP Basic works here as at the token endpoint', async () => {
  const { tokens } = await tokensOf();
  const answer = await postRaw(at, '/introspect', `token=${tokens.access_token}`, { authorization: basic(client) });
  expect(answer.json()).toMatchObject({ active: true });
});

test.each(['access_token', 'refresh_token', 'nonsense'])(
  'RFC 7662 §2.1: token_type_hint=%s is never needed, and never misleads',
  async (token_type_hint) => {
    const { tokens } = await tokensOf();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const answer = await postForm(at, '/introspect', { token, token_type_hint, ...credentials(client) });
      expect(answer.json()).toMatchObject({ active: true, sub: user.sub });
    }
  },
);

test('RFC 7662 §2.2: a refresh token is told to its own client only', async () => {
  const { tokens } = await tokensOf();
  expect(await introspect(at, client, tokens.refresh_token)).toMatchObject({
    active: true,
    sub: user.sub,
    client_id: client.client_id,
    scope: 'openid profile email',
  });
  for (const other of [await aClient(at), api, monitor]) {
    expect(await introspect(at, other, tokens.refresh_token)).toEqual({ active: false });
  }
});

test('RFC 7662 §2.2: another’s token is {"active":false} and nothing else, byte for byte like an unknown one', async () => {
  const { tokens } = await tokensOf();
  const stranger = await aClient(at);
  const ask = (token: string) => postForm(at, '/introspect', { token, ...credentials(stranger) });
  for (const token of [tokens.access_token, tokens.refresh_token, 'unknown', 'a.b.c', `0_${'A'.repeat(43)}`]) {
    const answer = await ask(token);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe('{"active":false}');
    expectPrivate(answer);
  }
});

test('the owner of a resource may introspect tokens for it, and only those', async () => {
  const forNotes = await tokensOf(client, { resource: NOTES, prompt: 'consent' });
  const forUs = await tokensOf(client);
  expect(await introspect(at, api, forNotes.tokens.access_token)).toMatchObject({
    active: true,
    aud: NOTES,
    sub: user.sub,
  });
  expect(await introspect(at, api, forUs.tokens.access_token)).toEqual({ active: false });
  expect(await introspect(at, api, forNotes.tokens.refresh_token)).toEqual({ active: false });
});

test('may_introspect sees every access token', async () => {
  const { tokens } = await tokensOf();
  expect(await introspect(at, monitor, tokens.access_token)).toMatchObject({ active: true });
  const machine = (await send(at, await aTokenRequest(at, 'client_credentials'))).json<Tokens>();
  expect(await introspect(at, monitor, machine.access_token)).toMatchObject({ active: true, scope: 'jobs:read' });
});

test('RFC 7662 §2.1: a public client, no client and a wrong secret are 401 invalid_client', async () => {
  const { tokens } = await tokensOf();
  const spa = await aPublicClient(at);
  const { tokens: own } = await tokensOf(spa);
  for (const fields of [
    { ...credentials(spa), token: own.access_token },
    { token: tokens.access_token },
    { ...credentials({ ...client, client_secret: 'wrong' }), token: tokens.access_token },
    { client_id: client.client_id, token: tokens.access_token },
    { client_id: 'nobody', client_secret: 'x', token: tokens.access_token },
  ]) {
    expectRefusal(await postForm(at, '/introspect', fields), 401, 'invalid_client');
  }
  const basicRefused = await postRaw(at, '/introspect', 'token=x', { authorization: 'Basic bm9ib2R5Ong=' });
  expectRefusal(basicRefused, 401, 'invalid_client');
  expect(basicRefused.headers['www-authenticate']).toMatch(/^Basic /);
});

test('RFC 7662 §4: a caller’s own access token does not stand in for client authentication', async () => {
  const { tokens } = await tokensOf();
  const answer = await postRaw(at, '/introspect', `token=${tokens.access_token}`, {
    authorization: `Bearer ${tokens.access_token}`,
  });
  expectRefusal(answer, 401, 'invalid_client');
});

test('RFC 7662 §2.2: what was used, revoked or has expired is inactive', async () => {
  const { tokens, ...code } = await tokensOf();
  const next = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
  expect(await introspect(at, client, tokens.refresh_token)).toEqual({ active: false });
  expect(await introspect(at, client, tokens.access_token)).toMatchObject({ active: true });
  at.clock.advance(600);
  expect(await introspect(at, client, next.access_token)).toEqual({ active: false });
  expect(await introspect(at, client, next.refresh_token)).toMatchObject({ active: true });
  await redeem(at, code);
  expect(await introspect(at, client, next.refresh_token)).toEqual({ active: false });
});

test('RFC 9068 §4: an ID token is not introspected as an access token, nor is a code', async () => {
  const { tokens, code } = await tokensOf();
  for (const token of [tokens.id_token, code]) {
    expect(await introspect(at, monitor, token)).toEqual({ active: false });
  }
});

test('RFC 7662 §2: the token is taken from the body, never from the query', async () => {
  const { tokens } = await tokensOf();
  const answer = await postForm(at, `/introspect?token=${tokens.access_token}`, credentials(client));
  expectRefusal(answer, 400, 'invalid_request');
});

test('the token of POST /login is a token of ours, told only to who may introspect', async () => {
  const answer = await at.app.inject({
    method: 'POST',
    url: '/login',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    payload: JSON.stringify({ username: user.username, password: 'correct horse battery staple' }),
  });
  expect(answer.statusCode).toBe(200);
  const { access_token } = answer.json<Tokens>();
  expect(await introspect(at, client, access_token)).toEqual({ active: false });
  expect(await introspect(at, monitor, access_token)).toMatchObject({
    active: true,
    sub: user.sub,
    client_id: 'postern',
  });
});
