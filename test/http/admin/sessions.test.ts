import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, introspect, PASSWORD, signIn, someTokens, type AClient } from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

type Json = Record<string, unknown>;

let at: TestApp;
let operator: Operator;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  client = await aClient(at, { backchannel_logout_uri: 'https://app.example.test/backchannel' });
});
afterAll(() => at.close());

const list = async (path: string): Promise<Json[]> => {
  const answer = await operator.send('GET', path);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ items: Json[] }>().items;
};

test('sessions are listed newest first, of everybody or of one person, and never show a cookie', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  at.clock.advance(1);
  await at.app.inject({
    method: 'POST',
    url: '/login',
    payload: { username: user.username, password: PASSWORD },
  });
  await signIn(at, await aUser(at));
  const own = await list(`/sessions?sub=${user.sub}`);
  expect(own.map(({ kind, live, ended_at }) => [kind, live, ended_at])).toEqual([
    ['login', true, null],
    ['browser', true, null],
  ]);
  expect(await list(`/users/${user.sub}/sessions`)).toEqual(own);
  expect(await list('/sessions?limit=2')).toHaveLength(2);
  const { sid } = own[1]!;
  expect((await operator.send('GET', `/sessions/${String(sid)}`)).json()).toEqual(own[1]);
  const handles = [...browser.cookies.values()].flatMap((value) => value.split('.'));
  expect(handles.filter((handle) => handle.length > 20 && JSON.stringify(own).includes(handle))).toEqual([]);
});

test('DELETE signs the person out of that session: its grants end, clients are told, and it is in the log by whom', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const { tokens } = await someTokens(at, { client, user, browser, parameters: { scope: 'openid' } });
  const second = await signIn(at, user);
  const [, first] = await list(`/sessions?sub=${user.sub}`);
  const sids = (await list(`/sessions?sub=${user.sub}`)).map(({ sid }) => sid);
  const { sid } = (await list(`/users/${user.sub}/grants`))[0]!;
  expect(sids).toContain(sid);
  const path = `/sessions/${String(sid)}`;
  expect((await operator.send('DELETE', `/users/somebody-else${path}`)).statusCode).toBe(204);
  expect((await introspect(at, client, tokens.access_token)).active).toBe(true);

  expect((await operator.send('DELETE', path)).statusCode).toBe(204);
  expect((await operator.send('DELETE', path)).statusCode).toBe(204);
  expect((await introspect(at, client, tokens.access_token)).active).toBe(false);
  expect((await browser.get(`${browser.issuer}/account`)).statusCode).toBe(302);
  expect((await second.get(`${second.issuer}/account`)).statusCode).toBe(200);
  expect(first).toBeDefined();
  const notices = await at.deps.db
    .selectFrom('logout_notices')
    .select('client_id')
    .where('sid', '=', String(sid))
    .execute();
  expect(notices).toEqual([{ client_id: client.client_id }]);
  const { items } = (await operator.send('GET', `/sessions?sub=${user.sub}&state=ended`)).json<{ items: Json[] }>();
  expect(items).toEqual([expect.objectContaining({ sid, live: false, ended_at: at.clock.now().toISOString() })]);
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .select(['actor', 'ip', 'detail'])
    .where('event', '=', 'sign_out')
    .where('sub', '=', user.sub)
    .execute();
  expect(rows).toEqual([{ actor: operator.client.client_id, ip: '127.0.0.1', detail: { sid, grants_revoked: 1 } }]);
});

test('a session that another sign-in carried on is one session, and an idle one is not live', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  at.clock.advance(1);
  const page = await browser.get(`${browser.issuer}/login`);
  const form_token = /name="form_token" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  await browser.post(`${browser.issuer}/login`, { username: user.username, password: PASSWORD, form_token });
  const rows = await at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).execute();
  expect(new Set(rows.map(({ sid }) => sid)).size).toBe(1);
  const { sid } = rows[0]!;
  expect(await list(`/sessions?sub=${user.sub}`)).toHaveLength(1);
  expect(await list(`/sessions?sub=${user.sub}&state=ended`)).toEqual([]);
  at.clock.advance(at.deps.config.SESSION_IDLE_TTL + 1);
  operator = await anOperator(at);
  expect(await list(`/sessions?sub=${user.sub}`)).toEqual([]);
  expect((await operator.send('GET', `/sessions/${sid}`)).json()).toMatchObject({ live: false, ended_at: null });
});

test('an unknown filter, a forged cursor and an unknown session', async () => {
  for (const query of ['client_id=x', 'state=dead', 'cursor=e30.AAAA', 'sort=sid']) {
    expect([query, (await operator.send('GET', `/sessions?${query}`)).statusCode]).toEqual([query, 400]);
  }
  expect((await operator.send('GET', '/sessions/none')).statusCode).toBe(404);
  expect((await operator.send('DELETE', '/sessions/none')).statusCode).toBe(204);
});
