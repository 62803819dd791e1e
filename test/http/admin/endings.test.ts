/** What hangs off a client, a scope or a resource ends with it: with tokens that were really given. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  anApprovedDeviceCode,
  aService,
  aUser,
  authorizationUrl,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
} from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

const NOTES = 'https://notes.example.test';
const MAIL = 'https://mail.example.test/v1?a=b';

let at: TestApp;
let operator: Operator;
let browser: TestBrowser;
let api: AClient;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  browser = await signIn(at, await aUser(at));
  api = await aClient(at, { may_introspect: true });
});
afterAll(() => at.close());

const put = async (path: string, body: object = {}): Promise<void> => {
  const answer = await operator.send('PUT', path, body);
  expect([200, 201], answer.body).toContain(answer.statusCode);
};
const remove = async (path: string): Promise<void> =>
  expect((await operator.send('DELETE', path)).statusCode).toBe(204);
const machineToken = async (client: AClient, fields: Record<string, string> = {}, from = at): Promise<string> => {
  const answer = await postForm(from, '/token', {
    grant_type: 'client_credentials',
    ...credentials(client),
    ...fields,
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ access_token: string }>().access_token;
};
const active = async (token: string): Promise<boolean> => (await introspect(at, api, token)).active;

describe.each(['jwt', 'opaque'] as const)('a client with %s tokens', (access_token_format) => {
  test('disabled: unknown everywhere, all it was given ends, and enabled again none of it comes back', async () => {
    const client = await aClient(at, { access_token_format });
    const service = await aService(at, { access_token_format });
    const { tokens } = await someTokens(at, { client, browser });
    const code = await anAuthorizationCode(at, { client, browser });
    const own = await machineToken(service);
    expect(await Promise.all([active(tokens.access_token), active(own)])).toEqual([true, true]);

    for (const { client_id } of [client, service]) {
      const answer = await operator.send('POST', `/clients/${client_id}/disable`);
      expect(answer.json()).toMatchObject({ client_id, disabled_at: expect.any(String) });
    }
    expect(await Promise.all([active(tokens.access_token), active(own)])).toEqual([false, false]);
    expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
    for (const path of ['/token', '/introspect', '/revoke', '/par']) {
      const fields = { grant_type: 'client_credentials', token: own, ...credentials(service) };
      const answer = await postForm(at, path, fields);
      expect([path, answer.statusCode, answer.json<{ error: string }>().error]).toEqual([path, 401, 'invalid_client']);
    }
    // An error page: nothing goes to a client that is not to be trusted.
    const page = await browser.get(authorizationUrl(browser.issuer, client));
    expect([page.statusCode, page.headers.location]).toEqual([400, undefined]);

    at.clock.advance(2);
    for (const { client_id } of [client, service]) {
      const answer = await operator.send('POST', `/clients/${client_id}/enable`);
      expect(answer.json()).toMatchObject({ client_id, disabled_at: null });
    }
    const again = { refreshed: await refresh(at, client, tokens.refresh_token), redeemed: await redeem(at, code) };
    expect([again.refreshed.statusCode, again.redeemed.statusCode]).toEqual([400, 400]);
    expect(await Promise.all([active(tokens.access_token), active(own)])).toEqual([false, false]);
    expect(await active(await machineToken(service))).toBe(true);
    expect((await someTokens(at, { client, browser })).tokens.access_token).toBeTruthy();
  });

  test('what another server, which had not noticed yet, gave a disabled client ends when it is enabled', async () => {
    const other = await testApp({ clock: at.clock, database: at.database });
    const service = await aService(other, { access_token_format });
    const client = await aClient(other, { access_token_format });
    const elsewhere = await signIn(other, await aUser(other));
    await machineToken(service, {}, other);
    await someTokens(other, { client, browser: elsewhere });
    for (const { client_id } of [service, client]) await operator.send('POST', `/clients/${client_id}/disable`);
    const late = await machineToken(service, {}, other);
    // For people, whose grants are written, it reads what is so now.
    await expect(someTokens(other, { client, browser: elsewhere })).rejects.toThrow('stuck at 400');
    at.clock.advance(30);
    for (const { client_id } of [service, client]) await operator.send('POST', `/clients/${client_id}/enable`);
    expect(await active(late)).toBe(false);
    await other.app.close();
  });

  test('deleted: its tokens end, and a client made again under its id does not have them', async () => {
    const service = await aService(at, { access_token_format });
    const own = await machineToken(service);
    await remove(`/clients/${service.client_id}`);
    expect(await active(own)).toBe(false);
    at.clock.advance(60);
    const metadata = { client_id: service.client_id, grant_types: ['client_credentials'], scope: 'jobs:read' };
    expect((await operator.send('POST', '/clients', { ...metadata, redirect_uris: [] })).statusCode).toBe(201);
    expect(await active(own)).toBe(false);
  });

  test('a scope deleted is in no token, grant or consent any more, and a grant that had no other ends', async () => {
    await put('/scopes/drafts:read');
    await put('/scopes/drafts:write');
    const client = await aClient(at, { access_token_format, scope: 'openid drafts:read drafts:write offline_access' });
    const service = await aService(at, { access_token_format, scope: 'drafts:read drafts:write' });
    const parameters = { scope: 'openid drafts:read drafts:write offline_access' };
    const whole = await someTokens(at, { client, browser, parameters });
    const only = await someTokens(at, { client, browser, parameters: { scope: 'drafts:write' } });
    const [own, part] = [await machineToken(service), await machineToken(service, { scope: 'drafts:write' })];
    await remove('/scopes/drafts:write');

    expect(await introspect(at, api, whole.tokens.access_token)).toMatchObject({
      scope: 'openid drafts:read offline_access',
    });
    expect(await introspect(at, api, own)).toMatchObject({ active: true, scope: 'drafts:read' });
    expect(await Promise.all([active(only.tokens.access_token), active(part)])).toEqual([false, false]);
    expect(await introspect(at, client, whole.tokens.refresh_token)).toMatchObject({
      scope: 'openid drafts:read offline_access',
    });
    const refused = await refresh(at, client, whole.tokens.refresh_token, { scope: 'drafts:write' });
    expect(refused.json()).toMatchObject({ error: 'invalid_scope' });
    const refreshed = await refresh(at, client, whole.tokens.refresh_token);
    expect(refreshed.json()).toMatchObject({ scope: 'openid drafts:read offline_access' });
    expect((await refresh(at, client, only.tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });

    // Made again, in the same second, it is another scope: neither client, grant nor token has it, and people are asked.
    await put('/scopes/drafts:write');
    expect(await introspect(at, api, own)).toMatchObject({ active: true, scope: 'drafts:read' });
    expect(await active(part)).toBe(false);
    const denied = await postForm(at, '/token', {
      grant_type: 'client_credentials',
      ...credentials(service),
      scope: 'drafts:write',
    });
    expect(denied.json()).toMatchObject({ error: 'invalid_scope' });
    for (const { client_id } of [service, client]) {
      const scope = client_id === client.client_id ? parameters.scope : 'drafts:read drafts:write';
      expect((await operator.send('PATCH', `/clients/${client_id}`, { scope })).statusCode).toBe(200);
    }
    expect(await active(part)).toBe(false);
    expect(await introspect(at, api, own)).toMatchObject({ active: true, scope: 'drafts:read' });
    const anew = await machineToken(service, { scope: 'drafts:write' });
    expect(await introspect(at, api, anew)).toMatchObject({ active: true, scope: 'drafts:write' });
    const { refresh_token } = refreshed.json<{ refresh_token: string }>();
    expect((await refresh(at, client, refresh_token)).json()).toMatchObject({
      scope: 'openid drafts:read offline_access',
    });
    const asked = await browser.get(authorizationUrl(browser.issuer, client, { ...parameters, prompt: 'none' }));
    expect(asked.headers.location).toContain('error=consent_required');
  });

  test('a scope made again is not in a grant that was being written while the other was deleted', async () => {
    await put('/scopes/papers:read');
    const client = await aClient(at, { access_token_format, scope: 'openid papers:read offline_access' });
    const scope = 'openid papers:read offline_access';
    const { tokens } = await someTokens(at, { client, browser, parameters: { scope } });
    at.clock.advance(2);
    await remove('/scopes/papers:read');
    await at.deps.db
      .updateTable('grants')
      .set({ scope: scope.split(' ') })
      .where('client_id', '=', client.client_id)
      .execute();
    await put('/scopes/papers:read');
    expect((await operator.send('PATCH', `/clients/${client.client_id}`, { scope })).statusCode).toBe(200);
    const refreshed = (await refresh(at, client, tokens.refresh_token)).json<Record<string, string>>();
    expect(refreshed['scope']).toBe('openid offline_access');
    const told = await introspect(at, api, refreshed['access_token']!);
    expect(told).toMatchObject({ active: true, scope: 'openid offline_access' });
  });

  test('a resource deleted takes tokens for it with it, and a grant that was for no other', async () => {
    for (const resource of [NOTES, MAIL]) {
      await put(`/resources/${encodeURIComponent(resource)}`, { scope: ['jobs:read', 'email'], access_token_format });
    }
    const client = await aClient(at, { scope: 'openid email offline_access' });
    const service = await aService(at);
    const url = `${authorizationUrl(browser.issuer, client)}&resource=${encodeURIComponent(NOTES)}`;
    const both = await someTokens(at, { client, browser, parameters: { resource: NOTES } });
    await at.deps.db
      .updateTable('grants')
      .set({ resource: [NOTES, MAIL] })
      .where('client_id', '=', client.client_id)
      .execute();
    const only = await someTokens(at, { client, browser, parameters: { resource: MAIL } });
    const forMail = (await refresh(at, client, both.tokens.refresh_token, { resource: MAIL })).json<{
      access_token: string;
      refresh_token: string;
    }>();
    const own = await machineToken(service, { resource: MAIL });
    const tokens = [only.tokens.access_token, forMail.access_token, own];
    expect(await Promise.all(tokens.map(active))).toEqual([true, true, true]);
    await remove(`/resources/${encodeURIComponent(MAIL)}`);
    expect(await Promise.all(tokens.map(active))).toEqual([false, false, false]);
    expect(await active(both.tokens.access_token)).toBe(true);
    expect((await refresh(at, client, only.tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
    const wrong = await refresh(at, client, forMail.refresh_token, { resource: MAIL });
    expect(wrong.json()).toMatchObject({ error: 'invalid_target' });
    const left = (await refresh(at, client, forMail.refresh_token)).json<{ access_token: string }>();
    expect(await introspect(at, api, left.access_token)).toMatchObject({ active: true, aud: NOTES });
    // Made again, in the same second, it is another one: no token is for it, and it is asked for again.
    await put(`/resources/${encodeURIComponent(MAIL)}`, { scope: ['jobs:read', 'email'], access_token_format });
    expect(await Promise.all(tokens.map(active))).toEqual([false, false, false]);
    expect(await active(await machineToken(service, { resource: MAIL }))).toBe(true);
    const asked = await browser.get(`${url}&prompt=none&resource=${encodeURIComponent(MAIL)}`);
    expect(asked.headers.location).toContain('error=consent_required');
  });
});

test('a device that waits is refused when its client is disabled, though a person approved it', async () => {
  const { device_code, client } = await anApprovedDeviceCode(at, { browser });
  await operator.send('POST', `/clients/${client.client_id}/disable`);
  await operator.send('POST', `/clients/${client.client_id}/enable`);
  const fields = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, ...credentials(client) };
  expect((await postForm(at, '/token', fields)).json()).toMatchObject({
    error: expect.stringMatching(/invalid_grant|expired/),
  });
});

test('a client that registered itself and was disabled cannot manage itself', async () => {
  const open = await testApp({ config: { REGISTRATION: 'open' } });
  const by = await anOperator(open);
  const made = await open.app.inject({
    method: 'POST',
    url: '/register',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ redirect_uris: ['https://self.example.test/cb'] }),
  });
  const { client_id, registration_access_token } = made.json<Record<string, string>>();
  const look = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${registration_access_token}` };
    return (await open.app.inject({ url: `/register/${client_id}`, headers })).statusCode;
  };
  expect(await look()).toBe(200);
  await by.send('POST', `/clients/${client_id}/disable`);
  expect(await look()).toBe(401);
  await open.close();
});
