/** Resource indicators (RFC 8707), and the terms of access tokens that follow from them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aService,
  aUser,
  authorizationUrl,
  authorize,
  aVerifier,
  credentials,
  introspect,
  redeem,
  refresh,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { aResource, decode, expectRefusal, formOf, postRaw, send } from '../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const NOTES = 'https://notes.example.test';
const MAIL = 'https://mail.example.test/api';
const VAULT = 'https://vault.example.test';
let at: TestApp;
let client: AClient;
let service: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  [client, service, user] = [await aClient(at), await aService(at), await aUser(at)];
  browser = await signIn(at, user);
  await aResource(at, NOTES);
  await aResource(at, MAIL, { access_token_signing_alg: 'ES256', access_token_ttl: 60 });
  await aResource(at, VAULT, { access_token_format: 'opaque', access_token_ttl: 120 });
});
afterAll(() => at.close());

const serviceToken = (resource: string, of = service) =>
  send(at, { client: of, fields: { grant_type: 'client_credentials' } }, resource === '' ? {} : { resource });

async function codeFor(resource: string) {
  return anAuthorizationCode(at, { client, user, browser, parameters: { resource, prompt: 'consent' } });
}

test('RFC 8707 §2: aud is the resource asked for, as one string; without one it is the issuer', async () => {
  const asked = (await serviceToken(NOTES)).json<Tokens>();
  expect(decode(asked.access_token).payload).toMatchObject({ aud: NOTES });
  const unasked = (await serviceToken('')).json<Tokens>();
  expect(decode(unasked.access_token).payload).toMatchObject({ aud: ISSUER });
  expect(decode((await serviceToken(ISSUER)).json<Tokens>().access_token).payload).toMatchObject({ aud: ISSUER });
});

test('RFC 8707 §2: several resources make aud an array; the strictest terms win', async () => {
  const form = formOf({ grant_type: 'client_credentials', ...credentials(service) });
  const both = await postRaw(at, '/token', `${form}&${formOf({ resource: NOTES })}&${formOf({ resource: MAIL })}`);
  expect(both.json()).toMatchObject({ expires_in: 60 });
  expect(decode(both.json<Tokens>().access_token).payload).toMatchObject({ aud: [NOTES, MAIL] });
  const twice = await postRaw(at, '/token', `${form}&${formOf({ resource: NOTES })}&${formOf({ resource: NOTES })}`);
  expect(decode(twice.json<Tokens>().access_token).payload).toMatchObject({ aud: NOTES });
});

test.each([
  'https://unknown.example.test',
  `${NOTES}/`,
  `${NOTES}#x`,
  'notes',
  '/relative',
  'https://notes.example.test:443',
])('RFC 8707 §2: resource=%s is invalid_target', async (resource) => {
  expectRefusal(await serviceToken(resource), 400, 'invalid_target');
});

test('RFC 8707 §2: more resources than a request can mean are refused', async () => {
  const form = formOf({ grant_type: 'client_credentials', ...credentials(service) });
  const many = Array.from({ length: 11 }, (_, index) => formOf({ resource: `${NOTES}/${index}` })).join('&');
  expectRefusal(await postRaw(at, '/token', `${form}&${many}`), 400, 'invalid_target');
});

test('a token for another resource is no token at userinfo, and introspection names its audience', async () => {
  const code = await codeFor(NOTES);
  const tokens = (await redeem(at, code)).json<Tokens>();
  expect(decode(tokens.access_token).payload).toMatchObject({ aud: NOTES, sub: user.sub });
  const refused = await userinfo(at, tokens.access_token);
  expect(refused.statusCode).toBe(401);
  const { ISSUER } = at.deps.config;
  expect(refused.json()).toMatchObject({
    error_description: `the access token is for another audience: ask for one with resource=${ISSUER}, or without`,
  });
  expect(await introspect(at, client, tokens.access_token)).toMatchObject({ active: true, aud: NOTES });
});

test('RFC 8707 §2.2: a token request may ask for what was granted, not for more; the code is not spent by asking', async () => {
  const code = await codeFor(NOTES);
  expectRefusal(await redeem(at, code, { resource: MAIL }), 400, 'invalid_target');
  const tokens = (await redeem(at, code, { resource: NOTES })).json<Tokens>();
  expectRefusal(await refresh(at, client, tokens.refresh_token, { resource: MAIL }), 400, 'invalid_target');
  const again = (await refresh(at, client, tokens.refresh_token, { resource: NOTES })).json<Tokens>();
  expect(decode(again.access_token).payload).toMatchObject({ aud: NOTES });
});

test('RFC 8707 §2.2: of several granted resources each token takes its part, and a refresh can take another', async () => {
  const { code_verifier, code_challenge } = aVerifier();
  const url = authorizationUrl(ISSUER, client, { code_challenge, code_challenge_method: 'S256', prompt: 'consent' });
  const more = `${url}&${formOf({ resource: ISSUER })}&${formOf({ resource: NOTES })}`;
  const start = await browser.get(more);
  const page = await browser.get(start.headers.location!);
  const consent = page.headers.location ?? start.headers.location!;
  const shown = page.statusCode === 200 ? page : await browser.get(consent);
  const form_token = /name="form_token"[^>]*value="([^"]*)"/.exec(shown.body)?.[1] ?? '';
  let answer = await browser.post(consent, { form_token, action: 'approve' });
  if (answer.headers.location?.startsWith(ISSUER)) answer = await browser.get(answer.headers.location);
  const code = new URL(answer.headers.location!).searchParams.get('code')!;
  const tokens = (await redeem(at, { code, code_verifier, client, user, browser }, { resource: NOTES })).json<Tokens>();
  expect(decode(tokens.access_token).payload).toMatchObject({ aud: NOTES });
  const own = (await refresh(at, client, tokens.refresh_token, { resource: ISSUER })).json<Tokens>();
  expect((await userinfo(at, own.access_token)).statusCode).toBe(200);
  const all = (await refresh(at, client, own.refresh_token)).json<Tokens>();
  expect(decode(all.access_token).payload).toMatchObject({ aud: [ISSUER, NOTES] });
  expect((await userinfo(at, all.access_token)).statusCode).toBe(200);
});

test('RFC 8707 §2.1: an unknown resource at /authorize is invalid_target, told to the client', async () => {
  const answer = await authorize(browser, client, { resource: 'https://unknown.example.test', ...PKCE });
  expect(answer.get('error')).toBe('invalid_target');
  expect(answer.get('iss')).toBe(ISSUER);
});
const PKCE = { code_challenge: aVerifier().code_challenge, code_challenge_method: 'S256' };

test('specification §Resources: an access token is a JWT or opaque: the resource decides, then the client, then the server', async () => {
  const opaqueByClient = await aService(at, { access_token_format: 'opaque' });
  const tokenOf = async (resource: string, of: AClient): Promise<string> =>
    (await serviceToken(resource, of)).json<Tokens>().access_token;
  const opaque = /^[0-9a-z]{1,6}_[A-Za-z0-9_-]{43}$/;
  expect(await tokenOf(VAULT, service)).toMatch(opaque);
  expect(await tokenOf('', opaqueByClient)).toMatch(opaque);
  expect(await tokenOf(NOTES, opaqueByClient)).toMatch(opaque);
  expect(decode(await tokenOf(NOTES, service)).header).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
  expect(decode(await tokenOf(MAIL, service)).header).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
});

test('specification §Limits: the lifetime a resource sets is the one in expires_in', async () => {
  expect((await serviceToken(VAULT)).json()).toMatchObject({ expires_in: 120 });
  expect((await serviceToken(MAIL)).json()).toMatchObject({ expires_in: 60 });
  expect((await serviceToken(NOTES)).json()).toMatchObject({ expires_in: 600 });
});

test('an opaque access token of a person is good at userinfo, dies with its grant, and has its at_hash', async () => {
  const opaque = await aClient(at, { access_token_format: 'opaque' });
  const code = await anAuthorizationCode(at, { client: opaque, user, browser });
  const tokens = (await redeem(at, code)).json<Tokens>();
  expect(tokens.access_token).not.toContain('.');
  expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub: user.sub, email: user.email });
  expect(await introspect(at, opaque, tokens.access_token)).toMatchObject({
    active: true,
    sub: user.sub,
    client_id: opaque.client_id,
    scope: 'openid profile email',
    aud: ISSUER,
    acr: '1',
    amr: ['pwd'],
  });
  await redeem(at, code);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expect(await introspect(at, opaque, tokens.access_token)).toEqual({ active: false });
});

test('an opaque access token ends when it expires', async () => {
  const { access_token } = (await serviceToken(VAULT)).json<Tokens>();
  at.clock.advance(119);
  expect(await introspect(at, service, access_token)).toMatchObject({ active: true });
  at.clock.advance(1);
  expect(await introspect(at, service, access_token)).toEqual({ active: false });
});

test('ASVS 11.4: an opaque access token is stored as a hash only', async () => {
  const { access_token } = (await serviceToken(VAULT)).json<Tokens>();
  const rows = await at.deps.db.selectFrom('access_tokens').selectAll().execute();
  const stored = rows.map(
    ({ hash, ...row }) => `${hash.toString('base64url')} ${hash.toString('latin1')} ${JSON.stringify(row)}`,
  );
  expect(stored.join('\n')).not.toContain(access_token.split('_').slice(1).join('_'));
});
