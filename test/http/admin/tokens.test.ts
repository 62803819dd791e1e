import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aPublicClient,
  aService,
  aUser,
  credentials,
  introspect as asClient,
  PASSWORD,
  postForm,
  refresh,
  signIn,
  someTokens,
  userinfo,
} from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

type Json = Record<string, unknown>;

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

const introspect = async (token: string): Promise<Json> => {
  const answer = await operator.send('POST', '/tokens/introspect', { token });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};
const revoke = async (token: string): Promise<Json> =>
  (await operator.send('POST', '/tokens/revoke', { token })).json();

test("an operator is told of any token what it is and whose, a pairwise client's by the real sub", async () => {
  const client = await aClient(at, { subject_type: 'pairwise' });
  const user = await aUser(at);
  const { tokens } = await someTokens(at, { client, user });
  const common = { active: true, faults: [], client_id: client.client_id, sub: user.sub };
  const grant = expect.objectContaining({ sub: user.sub, live: true, revoked_at: null }) as unknown;
  expect(await introspect(tokens.access_token)).toMatchObject({
    ...common,
    kind: 'access_token',
    format: 'jwt',
    scope: 'openid profile email',
    grant,
  });
  expect(await introspect(tokens.refresh_token)).toMatchObject({ ...common, kind: 'refresh_token', grant });
  const open = await aPublicClient(at, { access_token_format: 'opaque' });
  const opaque = (await someTokens(at, { client: open, user })).tokens.access_token;
  expect(await introspect(opaque)).toMatchObject({ ...common, client_id: open.client_id, format: 'opaque', grant });
  const script = await at.app.inject({
    method: 'POST',
    url: '/login',
    payload: { username: user.username, password: PASSWORD },
  });
  const { access_token } = script.json<{ access_token: string }>();
  expect(await introspect(access_token)).toMatchObject({ ...common, client_id: 'postern', sid: expect.any(String) });
});

test('of a token that is not accepted, everything that is wrong with it', async () => {
  const client = await aClient(at);
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const { tokens } = await someTokens(at, { client, user, browser });
  const faults = async (token: string): Promise<unknown> => {
    const { active, faults: found } = await introspect(token);
    return active ? 'active' : found;
  };
  const [header, payload] = tokens.access_token.split('.');
  expect(await faults(`${header}.${payload}.${'A'.repeat(342)}`)).toEqual(['unknown']);
  expect(await faults('not-a-token')).toEqual(['unknown']);
  expect(await faults(tokens.id_token)).toEqual(['unknown']);

  const next = (await refresh(at, client, tokens.refresh_token)).json<{ refresh_token: string }>();
  expect(await faults(tokens.refresh_token)).toEqual(['used']);
  expect(await faults(next.refresh_token)).toBe('active');
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
  await refresh(at, client, tokens.refresh_token);
  expect(await faults(tokens.refresh_token)).toEqual(['used', 'grant_revoked']);
  expect(await introspect(next.refresh_token)).toMatchObject({
    faults: ['grant_revoked'],
    grant: { revoked_for: 'refresh_token_reuse' },
  });
  const other = await aClient(at);
  const orphan = (await someTokens(at, { client: other, user, browser })).tokens.access_token;
  await operator.send('DELETE', `/clients/${other.client_id}`);
  expect(await faults(orphan)).toEqual(['grant_revoked', 'client_deleted']);
  at.clock.advance(at.deps.config.ACCESS_TOKEN_TTL);
  operator = await anOperator(at);
  expect(await faults(tokens.access_token)).toEqual(['expired', 'grant_revoked']);
});

test("revoking ends the token's whole grant; a machine's token ends alone", async () => {
  const client = await aClient(at);
  const { tokens } = await someTokens(at, { client });
  expect(await revoke(tokens.refresh_token)).toMatchObject({ ended: 'grant', client_id: client.client_id });
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expect(await introspect(tokens.access_token)).toMatchObject({ grant: { revoked_for: 'operator' } });

  const service = await aService(at);
  const fields = { grant_type: 'client_credentials', ...credentials(service) };
  const machine = async (): Promise<string> =>
    (await postForm(at, '/token', fields)).json<{ access_token: string }>().access_token;
  const [one, two] = [await machine(), await machine()];
  expect(await revoke(one)).toEqual({ ended: 'token', client_id: service.client_id });
  expect(await introspect(one)).toMatchObject({ active: false, faults: ['revoked'] });
  expect((await asClient(at, service, one)).active).toBe(false);
  expect((await asClient(at, service, two)).active).toBe(true);
  expect(await revoke('nobody-knows-it')).toEqual({ ended: 'nothing' });
});

test('a token is nowhere in the log or the audit log, and reading one needs no scope to write', async () => {
  const { tokens } = await someTokens(at, { client: await aClient(at) });
  const reader = await anOperator(at, ['tokens:read']);
  const { access_token: token } = tokens;
  expect((await reader.send('POST', '/tokens/introspect', { token })).statusCode).toBe(200);
  expect((await reader.send('POST', '/tokens/revoke', { token })).statusCode).toBe(403);
  expect((await operator.send('POST', '/tokens/revoke', { token }, { 'idempotency-key': 'k' })).statusCode).toBe(200);
  expect((await operator.send('POST', '/tokens/introspect', { token: '' })).statusCode).toBe(400);
  expect((await operator.send('POST', '/tokens/introspect')).statusCode).toBe(400);
  const audit = await at.deps.db.selectFrom('audit_events').selectAll().execute();
  const answers = await at.deps.db.selectFrom('idempotency_keys').selectAll().execute();
  const signature = token.split('.')[2]!;
  expect(JSON.stringify([audit, answers, at.logged])).not.toContain(signature);
});
