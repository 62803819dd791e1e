/** A token for a resource carries the scope that means something there (RFC 8707 §2.2, RFC 9068 §2.2.3), whatever the grant. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/protocol/client.ts';
import { removeResource } from '../../src/clients/scopes.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  type ACode,
  aDevice,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aScope,
  aService,
  aUser,
  BY,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import {
  aResource,
  aTokenRequest,
  decode,
  expectRefusal,
  formOf,
  postRaw,
  send,
  type ATokenRequest,
} from '../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const NOTES = 'https://notes.example.test';
const MAIL = 'https://mail.example.test';
const OPEN = 'https://open.example.test';
const SCOPE = 'openid email notes:read notes:write mail:read other';

let at: TestApp;
let client: AClient;
let device: AClient;
let service: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  for (const name of ['notes:read', 'notes:write', 'mail:read', 'other']) await aScope(at, name);
  await aResource(at, NOTES, { scope: ['notes:read', 'notes:write'] });
  await aResource(at, MAIL, { scope: ['mail:read'], access_token_format: 'opaque' });
  await aResource(at, OPEN);
  client = await aClient(at, { scope: SCOPE, skip_consent: true });
  device = await aDevice(at, { scope: SCOPE });
  service = await aService(at, { scope: 'notes:read notes:write mail:read other' });
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(() => at.close());

/** A code for these resources, pushed: only a form can repeat a parameter in our fixtures. */
async function codeFor(scope: string, ...resource: string[]): Promise<ACode> {
  const { redirect_uri } = client;
  const form = formOf({ ...credentials(client), response_type: 'code', redirect_uri, scope });
  const pushed = await postRaw(at, '/par', [form, ...resource.map((uri) => formOf({ resource: uri }))].join('&'));
  expect(pushed.statusCode, pushed.body).toBe(201);
  const { request_uri } = pushed.json<{ request_uri: string }>();
  const code = await anAuthorizationCode(at, { client, user, browser, parameters: { request_uri } });
  return { ...code, code_verifier: undefined as unknown as string };
}

/** What a token answer gave: its own words, and the scope of the access token inside. */
async function given(tokens: Tokens, of = client): Promise<{ scope: string; inside: unknown; aud: unknown }> {
  const { scope: inside, aud } = await introspect(at, of, tokens.access_token);
  const jwt = tokens.access_token.includes('.') ? decode(tokens.access_token).payload['scope'] : inside;
  expect(jwt).toBe(inside);
  return { scope: tokens.scope, inside, aud };
}
const asked = (grant_type: 'client_credentials', fields: Record<string, string>, of = service) =>
  send(at, { client: of, fields: { grant_type, ...fields } });

const starts: Record<string, (fields: { scope: string; resource: string }) => Promise<[Tokens, AClient]>> = {
  async 'GET /authorize'(parameters) {
    const code = await anAuthorizationCode(at, { client, user, browser, parameters });
    return [(await redeem(at, code)).json<Tokens>(), client];
  },
  async 'POST /par'({ scope, resource }) {
    return [(await redeem(at, await codeFor(scope, resource))).json<Tokens>(), client];
  },
  async 'POST /device_authorization'(fields) {
    const { device_code } = await anApprovedDeviceCode(at, { client: device, user, browser, fields });
    const request = { client: device, fields: { grant_type: DEVICE_GRANT, device_code } };
    return [(await send(at, request)).json<Tokens>(), device];
  },
};

describe.each(Object.entries(starts))('%s', (_name, start) => {
  test.each([
    [NOTES, 'openid email notes:read', 'notes:read'],
    [MAIL, 'openid email mail:read', 'mail:read'],
    [OPEN, 'openid email notes:read mail:read other', 'openid email notes:read mail:read other'],
    [ISSUER, 'openid email notes:read mail:read other', 'openid email notes:read mail:read other'],
  ])(
    'RFC 9068 §2.2.3: a token for %s carries what is known there; who the person is stays the client’s',
    async (...row) => {
      const [resource, scope, inside] = row;
      const [tokens, of] = await start({ scope: 'openid email notes:read mail:read other', resource });
      expect(await given(tokens, of)).toEqual({ scope, inside, aud: resource });
      expect(decode(tokens.id_token).payload).toMatchObject({ sub: user.sub, email: user.email });
    },
  );

  test('RFC 6749 §3.3: an access token that may do nothing in particular has no scope, not an empty one', async () => {
    const [tokens, of] = await start({ scope: 'openid', resource: NOTES });
    expect(await given(tokens, of)).toEqual({ scope: 'openid', inside: undefined, aud: NOTES });
    expect(decode(tokens.access_token).payload).not.toHaveProperty('scope');
  });

  test('a refresh has the same rule', async () => {
    const [tokens, of] = await start({ scope: 'openid notes:write mail:read', resource: NOTES });
    const again = (await refresh(at, of, tokens.refresh_token)).json<Tokens>();
    expect(await given(again, of)).toEqual({ scope: 'openid notes:write', inside: 'notes:write', aud: NOTES });
  });
});

test.each(['notes:read', 'other', 'notes:read notes:write other'])(
  'of scope "%s" nothing means anything at the requested resource, which is invalid_scope',
  async (scope) => {
    const fields = { scope, resource: MAIL };
    const { client_id, redirect_uri } = client;
    const url = `/authorize?${formOf({ response_type: 'code', client_id, redirect_uri, ...fields })}`;
    const answer = await browser.get(`${ISSUER}${url}`);
    expect(new URL(answer.headers.location!).searchParams.get('error')).toBe('invalid_scope');
    const pushed = { ...credentials(client), response_type: 'code', redirect_uri, ...fields };
    expectRefusal(await postForm(at, '/par', pushed), 400, 'invalid_scope');
    const started = await postForm(at, '/device_authorization', { ...credentials(device), ...fields });
    expectRefusal(started, 400, 'invalid_scope');
    expectRefusal(await asked('client_credentials', fields), 400, 'invalid_scope');
  },
);

describe('RFC 8707 §2.2: of a grant for several resources each token carries the part of its own', () => {
  test('when the code is redeemed, and whenever it is refreshed', async () => {
    const code = await codeFor('openid notes:read mail:read other', NOTES, MAIL);
    const notes = (await redeem(at, code, { resource: NOTES })).json<Tokens>();
    expect(await given(notes)).toEqual({ scope: 'openid notes:read', inside: 'notes:read', aud: NOTES });
    const mail = (await refresh(at, client, notes.refresh_token, { resource: MAIL })).json<Tokens>();
    expect(await given(mail)).toEqual({ scope: 'openid mail:read', inside: 'mail:read', aud: MAIL });
    const both = (await refresh(at, client, mail.refresh_token)).json<Tokens>();
    expect(await given(both)).toEqual({
      scope: 'openid notes:read mail:read',
      inside: 'notes:read mail:read',
      aud: [NOTES, MAIL],
    });
    // The scope that a client was told is one that it can send.
    const told = { resource: NOTES, scope: both.scope };
    const again = (await refresh(at, client, both.refresh_token, told)).json<Tokens>();
    expect(await given(again)).toMatchObject({ inside: 'notes:read' });
  });

  test('a scope for a resource that does not know it is invalid_scope, and spends nothing', async () => {
    const code = await codeFor('openid notes:read mail:read', NOTES, MAIL);
    const tokens = (await redeem(at, code)).json<Tokens>();
    const wrong = { scope: 'notes:read', resource: MAIL };
    expectRefusal(await refresh(at, client, tokens.refresh_token, wrong), 400, 'invalid_scope');
    expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(200);
  });

  test('a resource that knows nothing of the granted scope is invalid_scope, and spends nothing', async () => {
    const code = await codeFor('notes:read', NOTES, MAIL);
    expectRefusal(await redeem(at, code, { resource: MAIL }), 400, 'invalid_scope');
    const tokens = (await redeem(at, code, { resource: NOTES })).json<Tokens>();
    expectRefusal(await refresh(at, client, tokens.refresh_token, { resource: MAIL }), 400, 'invalid_scope');
    expect((await refresh(at, client, tokens.refresh_token)).json()).toMatchObject({ scope: 'notes:read' });

    const fields = { scope: 'notes:read', resource: NOTES };
    const { device_code } = await anApprovedDeviceCode(at, { client: device, user, browser, fields });
    await aResource(at, NOTES, { scope: ['notes:write'] });
    const request = { client: device, fields: { grant_type: DEVICE_GRANT, device_code } };
    expectRefusal(await send(at, request, { resource: NOTES }), 400, 'invalid_scope');
    await aResource(at, NOTES, { scope: ['notes:read', 'notes:write'] });
    expect((await send(at, request, { resource: NOTES })).json()).toMatchObject({ scope: 'notes:read' });
  });

  test('a scope that an operator takes from a resource is in no token from then on', async () => {
    const shrinking = await aResource(at, 'https://shrinking.example.test', { scope: ['notes:read', 'other'] });
    const tokens = (await redeem(at, await codeFor('openid notes:read other', shrinking))).json<Tokens>();
    expect(await given(tokens)).toMatchObject({ inside: 'notes:read other' });
    await aResource(at, shrinking, { scope: ['other'] });
    const fewer = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
    expect(await given(fewer)).toMatchObject({ scope: 'openid other', inside: 'other' });
    // Deleted whole, it takes the grant with it: tokens for nothing would be tokens for us.
    await transact(at.deps.db, (trx) => removeResource(trx, shrinking, BY, at.clock.now()));
    at.deps.directory.clear();
    expectRefusal(await refresh(at, client, fewer.refresh_token), 400, 'invalid_grant');
    expect(await introspect(at, client, fewer.access_token)).toEqual({ active: false });
  });
});

describe('client_credentials', () => {
  test.each([
    [{}, 'notes:read notes:write mail:read other'],
    [{ resource: NOTES }, 'notes:read notes:write'],
    [{ resource: MAIL }, 'mail:read'],
    [{ resource: OPEN }, 'notes:read notes:write mail:read other'],
    [{ resource: NOTES, scope: 'notes:write' }, 'notes:write'],
  ])('%j gives "%s"', async (fields, scope) => {
    const tokens = (await asked('client_credentials', fields)).json<Tokens>();
    expect(await given(tokens, service)).toMatchObject({ scope, inside: scope });
  });

  test('RFC 6749 §3.3: what was asked for is given or refused, never less', async () => {
    const fields = { resource: NOTES, scope: 'notes:read mail:read' };
    expectRefusal(await asked('client_credentials', fields), 400, 'invalid_scope');
  });

  test('RFC 6749 §3.3: a client without a scope for machines gets invalid_scope, not an empty scope', async () => {
    for (const scope of ['', 'openid email']) {
      expectRefusal(await asked('client_credentials', {}, await aService(at, { scope })), 400, 'invalid_scope');
    }
    const elsewhere = await aService(at, { scope: 'mail:read' });
    expectRefusal(await asked('client_credentials', { resource: NOTES }, elsewhere), 400, 'invalid_scope');
  });
});

const TARGETS = [
  'https://unknown.example.test',
  `${NOTES}#top`,
  '/notes',
  'notes',
  NOTES.replace('notes.', '%6eotes.'),
];

test.each(GRANT_TYPES)(
  'RFC 8707 §2: grant_type=%s: what is unknown, malformed or not granted is invalid_target, and spends nothing',
  async (grant_type) => {
    const request: ATokenRequest = await aTokenRequest(at, grant_type);
    const form = formOf({ ...request.fields, ...credentials(request.client) });
    for (const resource of TARGETS) {
      for (const more of [formOf({ resource }), `${formOf({ resource: ISSUER })}&${formOf({ resource })}`]) {
        expectRefusal(await postRaw(at, '/token', `${form}&${more}`), 400, 'invalid_target');
      }
    }
    expect((await send(at, request)).statusCode).toBe(200);
  },
);

test.each([...TARGETS, `${NOTES}/`])(
  'RFC 8707 §2: resource=%s is invalid_target when pushed and when a device asks, beside a known one too',
  async (resource) => {
    const { redirect_uri } = client;
    const pushed = formOf({ ...credentials(client), response_type: 'code', redirect_uri, scope: 'openid' });
    const started = formOf({ ...credentials(device), scope: 'openid' });
    for (const more of [formOf({ resource }), `${formOf({ resource: NOTES })}&${formOf({ resource })}`]) {
      expectRefusal(await postRaw(at, '/par', `${pushed}&${more}`), 400, 'invalid_target');
      expectRefusal(await postRaw(at, '/device_authorization', `${started}&${more}`), 400, 'invalid_target');
    }
  },
);
