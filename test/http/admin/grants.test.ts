import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, refresh, signIn, someTokens, userinfo, type AClient } from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

type Json = Record<string, unknown>;

let at: TestApp;
let operator: Operator;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  client = await aClient(at);
});
afterAll(() => at.close());

const list = async (path: string): Promise<Json[]> => {
  const answer = await operator.send('GET', path);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ items: Json[] }>().items;
};

test('a grant is listed by person, client, state and time; DELETE ends it and nothing beside it', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const parameters = { scope: 'openid offline_access' };
  const first = await someTokens(at, { client, user, browser, parameters });
  at.clock.advance(10);
  const since = at.clock.now().toISOString();
  const second = await someTokens(at, { client, user, browser, parameters });
  await someTokens(at);

  const all = await list(`/grants?client_id=${client.client_id}`);
  expect(all).toHaveLength(2);
  expect(all[0]).toEqual({
    grant_id: expect.stringMatching(/^[0-9a-z]+_[\w-]{22}$/),
    client_id: client.client_id,
    sub: user.sub,
    sid: expect.any(String),
    live: true,
    scope: 'openid offline_access',
    resource: [],
    authorization_details: [],
    auth_time: expect.any(String),
    acr: expect.any(String),
    amr: ['pwd'],
    offline: true,
    created_at: since,
    expires_at: expect.any(String),
    revoked_at: null,
    revoked_for: null,
  });
  expect(await list(`/users/${user.sub}/grants`)).toEqual(all);
  expect(await list(`/grants?sub=${user.sub}&created_after=${since}`)).toEqual([all[0]]);
  expect(await list(`/grants?sub=${user.sub}&created_before=${since}&sort=created_at`)).toEqual([all[1]]);
  expect(await list(`/grants?sub=${user.sub}&client_id=other`)).toEqual([]);

  const path = `/grants/${String(all[0]!['grant_id'])}`;
  expect((await operator.send('GET', `/users/somebody-else${path}`)).statusCode).toBe(404);
  expect((await operator.send('DELETE', `/users/somebody-else${path}`)).statusCode).toBe(204);
  expect((await userinfo(at, second.tokens.access_token)).statusCode).toBe(200);
  const { etag } = (await operator.send('GET', path)).headers;
  expect((await operator.send('DELETE', path, undefined, { 'if-match': '"another"' })).statusCode).toBe(412);
  expect((await operator.send('DELETE', path, undefined, { 'if-match': String(etag) })).statusCode).toBe(204);
  expect((await operator.send('DELETE', path)).statusCode).toBe(204);
  expect((await userinfo(at, second.tokens.access_token)).statusCode).toBe(401);
  expect((await refresh(at, client, second.tokens.refresh_token)).statusCode).toBe(400);
  expect((await userinfo(at, first.tokens.access_token)).statusCode).toBe(200);
  const revoked = { ...all[0], live: false, revoked_at: since, revoked_for: 'operator' };
  expect((await operator.send('GET', path)).json()).toEqual(revoked);
  expect(await list(`/grants?client_id=${client.client_id}&state=revoked`)).toEqual([revoked]);
  expect(await list(`/grants?sub=${user.sub}`)).toEqual([all[1]]);
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .select(['actor', 'client_id', 'detail'])
    .where('event', '=', 'authorization_revoked')
    .where('sub', '=', user.sub)
    .execute();
  const { client_id } = client;
  expect(rows).toEqual([{ actor: operator.client.client_id, client_id, detail: { gid: all[0]!['grant_id'] } }]);
});

test('an id that no grant can have is not found, in any spelling', async () => {
  for (const id of ['none', 'zzzzzz_AAAAAAAAAAAAAAAAAAAAAA', '0_%00', '..', 'A_AAAAAAAAAAAAAAAAAAAAAA']) {
    expect([id, (await operator.send('GET', `/grants/${encodeURIComponent(id)}`)).statusCode]).toEqual([id, 404]);
  }
  expect((await operator.send('GET', '/grants?created_after=yesterday')).statusCode).toBe(400);
  for (const moment of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '2026-01-01T00:00:00.123456789Z']) {
    for (const path of ['/grants', '/users']) {
      const answer = await operator.send('GET', `${path}?created_after=${moment}&created_before=${moment}`);
      expect([path, moment, answer.statusCode]).toEqual([path, moment, 200]);
    }
  }
});
