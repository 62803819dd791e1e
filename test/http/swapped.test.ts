/** Ids and secrets are swapped: what was sent as a name, and is none of ours, is kept nowhere. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { base64url } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aTokenRequest, basicOf, FORM, formOf } from '../support/oauth.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser, authorizationUrl, credentials, signIn, someTokens } from '../support/fixtures.ts';
import type { AClient } from '../support/fixtures.ts';

let at: TestApp;
let client: AClient;
let tokens: Awaited<ReturnType<typeof someTokens>>['tokens'];
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
  client = await aClient(at);
  ({ tokens } = await someTokens(at, { client }));
});
afterAll(() => at.close());

/** All that is written down anywhere, but for the requests that wait for a person. */
async function everythingKept(): Promise<string> {
  await at.deps.refusals.close(at.clock.now());
  const tables = ['refusals', 'failures', 'audit_events', 'replays', 'idempotency_keys'] as const;
  const rows = await Promise.all(tables.map((table) => sql`select * from ${sql.table(table)}`.execute(at.deps.db)));
  return [...at.logged, ...rows.map((all) => JSON.stringify(all.rows)), (await at.deps.metrics.text()).body].join('\n');
}

const post = (url: string, fields: Record<string, string | undefined>, headers: Record<string, string> = {}) =>
  at.app.inject({ method: 'POST', url, headers: { 'content-type': FORM, ...headers }, payload: formOf(fields) });

/** Each a way to send a text where a name belongs. */
const ways: Record<string, (text: string) => unknown> = {
  'client_id and secret swapped, in the header': (text) =>
    post('/token', { grant_type: 'client_credentials' }, { authorization: basicOf(`${text}:${client.client_id}`) }),
  'swapped, in the body': (text) =>
    post('/token', { grant_type: 'client_credentials', client_id: text, client_secret: client.client_id }),
  'client_id of a public client': (text) =>
    post('/token', { grant_type: 'authorization_code', code: 'x', client_id: text }),
  'client_id beside another': (text) =>
    post(
      '/token',
      { grant_type: 'refresh_token', client_id: text },
      { authorization: basicOf(`${client.client_id}:x`) },
    ),
  'two methods': (text) =>
    post('/introspect', { token: 'x', client_id: text, client_secret: text }, { authorization: basicOf(`${text}:x`) }),
  'the sub of an assertion': (text) =>
    post('/token', {
      grant_type: 'client_credentials',
      client_assertion: `${base64url.encode('{"alg":"RS256"}')}.${base64url.encode(JSON.stringify({ sub: text }))}.AAAA`,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    }),
  client_assertion_type: (text) => post('/token', { client_assertion: 'x', client_assertion_type: text }),
  grant_type: (text) => post('/token', { ...credentials(client), grant_type: text }),
  'client_id at /authorize': (text) => at.app.inject({ url: `/authorize?client_id=${encodeURIComponent(text)}` }),
  'client_id at /par': (text) => post('/par', { client_id: text }),
  'client_id at /device_authorization': (text) => post('/device_authorization', { client_id: text }),
  'client_id at /initiate': (text) => at.app.inject({ url: `/initiate?client_id=${encodeURIComponent(text)}` }),
  'client_id at /logout, beside a hint': (text) =>
    at.app.inject({ url: `/logout?id_token_hint=${tokens.id_token}&client_id=${encodeURIComponent(text)}` }),
  'client_id in the path of /register': (text) =>
    at.app.inject({ url: `/register/${encodeURIComponent(text)}`, headers: { authorization: 'Bearer x' } }),
  'the query of a redirect_uri': (text) =>
    at.app.inject({
      url: authorizationUrl(at.deps.config.ISSUER, client, {
        redirect_uri: `https://app.example.test/elsewhere?pass=${encodeURIComponent(text)}`,
      }),
    }),
  'the query of a URI at /register': (text) =>
    at.app.inject({
      method: 'POST',
      url: '/register',
      payload: { redirect_uris: [`http://my.example/cb?pass=${encodeURIComponent(text)}`] },
    }),
  'X-Request-Id': (text) => post('/token', { grant_type: 'x' }, { 'x-request-id': text }),
  username: (text) => post('/login', { username: text, password: 'x' }),
  login_hint: (text) =>
    at.app.inject({ url: authorizationUrl(at.deps.config.ISSUER, client, { login_hint: text, prompt: 'none' }) }),
  id_token_hint: (text) =>
    at.app.inject({ url: authorizationUrl(at.deps.config.ISSUER, client, { id_token_hint: text }) }),
  token_type_hint: (text) => post('/revoke', { ...credentials(client), token: text, token_type_hint: text }),
  code: (text) =>
    post('/token', { ...credentials(client), grant_type: 'authorization_code', code: text, redirect_uri: text }),
  refresh_token: (text) => post('/token', { ...credentials(client), grant_type: 'refresh_token', refresh_token: text }),
  device_code: (text) =>
    post('/token', {
      ...credentials(client),
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: text,
    }),
  request_uri: (text) =>
    at.app.inject({ url: `/authorize?client_id=${client.client_id}&request_uri=${encodeURIComponent(text)}` }),
  state: (text) =>
    at.app.inject({ url: authorizationUrl(at.deps.config.ISSUER, client, { state: text, scope: 'none' }) }),
  'a bearer token': (text) => at.app.inject({ url: '/userinfo', headers: { authorization: `Bearer ${text}` } }),
};

const drawn = (): string => randomBytes(32).toString('base64url');
test.each(Object.entries(ways))('ASVS 16.2.5: a secret sent as %s is kept nowhere', async (_what, send) => {
  const secrets = [drawn(), randomBytes(24).toString('hex'), client.client_secret, tokens.access_token];
  for (const secret of secrets) await send(secret);
  // An operator may choose one, and it need not look random.
  const chosen = `Correct-Horse~${randomBytes(3).toString('hex')}`;
  await send(chosen);
  const kept = await everythingKept();
  for (const secret of [...secrets, chosen]) expect(kept.includes(secret), secret).toBe(false);
});

test('a client that there is is named: in the log, in what is kept, wherever it can be read', async () => {
  const [known, fresh] = [await aClient(at), await aClient(at)];
  const ids: string[] = [];
  for (const { client_id } of [known, fresh]) {
    const fields = { grant_type: 'client_credentials', client_id, client_secret: 'not the secret' };
    ids.push(String((await post('/token', fields)).headers['x-request-id']));
    // Refused before anybody asks whether there is such a client.
    const two = await post('/token', fields, { authorization: basicOf(`${client_id}:x`) });
    ids.push(String(two.headers['x-request-id']));
  }
  await at.deps.refusals.close(at.clock.now());
  const rows = await at.deps.db
    .selectFrom('refusals')
    .select(['request_id', 'client_id'])
    .where('request_id', 'in', ids)
    .execute();
  const named = new Map(rows.map(({ request_id, client_id }) => [request_id, client_id]));
  expect(ids.map((id) => named.get(id))).toEqual([known, known, fresh, fresh].map(({ client_id }) => client_id));
  const lines = at.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.find((line) => line['request_id'] === ids[0] && line['event'] === 'refused')).toMatchObject({
    client_id: known.client_id,
  });
});

test('a client that came, or went, meanwhile: what counts is whether there is one when it is written down', async () => {
  const secret = 'Not-A-Client-4711';
  await post('/token', { grant_type: 'client_credentials', client_id: secret, client_secret: 'x' });
  const gone = await aClient(at);
  await post('/token', { grant_type: 'client_credentials', client_id: gone.client_id, client_secret: 'x' });
  await at.deps.db.deleteFrom('clients').where('client_id', '=', gone.client_id).execute();
  await at.deps.refusals.close(at.clock.now());
  const rows = await at.deps.db.selectFrom('refusals').select('client_id').execute();
  const named = rows.map(({ client_id }) => client_id);
  expect([named.includes(secret), named.includes(gone.client_id)]).toEqual([false, false]);
});

test('in the log of an issued token, and in the audit log, are only names that we gave', async () => {
  const user = await aUser(at);
  await signIn(at, user);
  const { fields, client: service } = await aTokenRequest(at, 'client_credentials');
  await post('/token', { ...fields, ...credentials(service) });
  const line = JSON.parse(at.logged.findLast((text) => text.includes('token_issued'))!) as { client_id: string };
  expect(line.client_id).toBe(service.client_id);
});
