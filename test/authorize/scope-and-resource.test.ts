/** What a request may ask for: scopes and resources. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, anAuthorizationCode, aScope, aUser, authorizationUrl, redeem, signIn } from '../support/fixtures.ts';
import type { AClient, TestBrowser, Tokens } from '../support/fixtures.ts';
import { answerTo, open } from '../support/pages.ts';
import { aResource } from '../support/oauth.ts';

const NOTES = 'https://notes.example.test';

let at: TestApp;
let client: AClient;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  await aScope(at, 'notes:read');
  await aScope(at, 'jobs:run', { for_people: false });
  await aResource(at, NOTES, { scope: ['notes:read'] });
  client = await aClient(at, {
    skip_consent: true,
    scope: 'openid profile notes:read jobs:run offline_access unknown',
  });
  browser = await signIn(at, await aUser(at));
});
afterAll(() => at.close());

type Parameters = Record<string, string | undefined>;
const tokensFor = async (parameters: Parameters, of = client): Promise<Tokens> => {
  const code = await anAuthorizationCode(at, { client: of, browser, parameters });
  return (await redeem(at, code)).json<Tokens>();
};
const refusalFor = async (parameters: Parameters, of = client) =>
  answerTo(of, (await open(browser, of, parameters)).response);
const audienceOf = ({ access_token }: Tokens): unknown =>
  (JSON.parse(Buffer.from(access_token.split('.')[1]!, 'base64url').toString()) as { aud: unknown }).aud;

test.each([
  ['openid', 'openid'],
  ['openid profile', 'openid profile'],
  ['profile openid', 'profile openid'],
  ['openid openid', 'openid'],
  ['  openid   profile ', 'openid profile'],
  ['openid email', 'openid'],
  ['openid never:heard:of notes:read', 'openid notes:read'],
  ['openid jobs:run', 'openid'],
  ['OPENID profile', 'profile'],
  ['openid unknown', 'openid'],
])('RFC 6749 §3.3: of scope "%s" the client gets "%s", and is told', async (scope, granted) => {
  expect((await tokensFor({ scope })).scope).toBe(granted);
});

test.each(['email', 'never:heard:of', 'jobs:run', 'OPENID', 'openid,profile'])(
  'RFC 6749 §4.1.2.1: of scope "%s" nothing is left, which is invalid_scope',
  async (scope) => {
    expect(await refusalFor({ scope })).toMatchObject({ error: 'invalid_scope', state: 'a state' });
  },
);

test('specification §Endpoints 1: scope is optional: without it come the registered ones but openid and offline_access', async () => {
  const tokens = await tokensFor({ scope: undefined });
  expect(tokens.scope).toBe('profile notes:read');
  expect(tokens).not.toHaveProperty('id_token');
});

test('without scope, a client registered for nothing else gets invalid_scope', async () => {
  const narrow = await aClient(at, { scope: 'openid offline_access' });
  expect(await refusalFor({ scope: undefined }, narrow)).toMatchObject({ error: 'invalid_scope' });
});

test('specification §Scope: scopes are joined by a space, percent-encoded in the URL', async () => {
  const url = authorizationUrl(browser.issuer, client).replace('openid+profile+email', 'openid%20notes%3Aread');
  expect(url).toContain('scope=openid%20notes%3Aread');
  const { code } = answerTo(client, await browser.get(url));
  const tokens = await redeem(at, { code: code!, code_verifier: '', client, browser } as never, {
    code_verifier: undefined,
  });
  expect(tokens.json<Tokens>().scope).toBe('openid notes:read');
});

test('specification §What the service does 5: identity comes with the scope openid only', async () => {
  expect(await tokensFor({ scope: 'openid', nonce: 'n' })).toHaveProperty('id_token');
  expect(await tokensFor({ scope: 'profile', nonce: 'n' })).not.toHaveProperty('id_token');
});

test('specification §Endpoints 1: nonce is echoed in the ID token, and only when it was sent', async () => {
  const claimsOf = ({ id_token }: Tokens) =>
    JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
  const nonce = 'n-0S6_WzA2Mj "Ω" &=';
  expect(claimsOf(await tokensFor({ nonce }))['nonce']).toBe(nonce);
  expect(claimsOf(await tokensFor({}))).not.toHaveProperty('nonce');
});

test('RFC 8707 §2: a known resource becomes the audience, without one it is the issuer', async () => {
  expect(audienceOf(await tokensFor({ resource: NOTES }))).toBe(NOTES);
  expect(audienceOf(await tokensFor({}))).toBe('https://id.example.test');
  expect(audienceOf(await tokensFor({ resource: 'https://id.example.test' }))).toBe('https://id.example.test');
});

test('RFC 8707 §2: resource may be repeated', async () => {
  const url = `${authorizationUrl(browser.issuer, client)}&resource=${encodeURIComponent(NOTES)}&resource=https://id.example.test`;
  expect(answerTo(client, await browser.get(url))).toHaveProperty('code');
});

test.each([
  'https://unknown.example.test',
  `${NOTES}/`,
  `${NOTES}#x`,
  'HTTPS://notes.example.test',
  '/notes',
  'notes',
  'https://notes.example.test.evil.example.test',
  'http://169.254.169.254/',
])('RFC 8707 §2: resource %s is invalid_target', async (resource) => {
  expect(await refusalFor({ resource })).toMatchObject({ error: 'invalid_target', state: 'a state' });
});

test('RFC 8707 §2: more resources than anybody needs are invalid_target', async () => {
  const many = Array.from({ length: 11 }, (_, n) => `&resource=https://r${n}.example.test`).join('');
  const answer = await browser.get(authorizationUrl(browser.issuer, client) + many);
  expect(answerTo(client, answer)).toMatchObject({ error: 'invalid_target' });
});
