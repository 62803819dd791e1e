/** RFC 7636 at /authorize: who needs a challenge, and which challenges there are. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configWith } from '../../src/config.ts';
import { buildApp } from '../../src/app.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aPublicClient,
  authorizationUrl,
  aVerifier,
  redeem,
  TestBrowser,
} from '../support/fixtures.ts';
import type { AClient } from '../support/fixtures.ts';
import { answerTo, open, stepOf } from '../support/pages.ts';

let at: TestApp;
let web: AClient;
let spa: AClient;
beforeAll(async () => {
  at = await testApp();
  web = await aClient(at);
  spa = await aPublicClient(at);
});
afterAll(() => at.close());

const { code_challenge } = aVerifier();
const S256 = { code_challenge, code_challenge_method: 'S256' };

const send = (client: AClient, parameters: Record<string, string | undefined>) =>
  open(new TestBrowser(at), client, parameters);
const refusalOf = async (client: AClient, parameters: Record<string, string | undefined>) =>
  answerTo(client, (await send(client, parameters)).response);

test('specification §Authentication 3: a public client sends code_challenge with S256 and goes on', async () => {
  expect(stepOf(await send(spa, S256))).toBe('login');
});

test('RFC 7636 §4.4.1: a public client without code_challenge gets invalid_request', async () => {
  expect(await refusalOf(spa, {})).toMatchObject({ error: 'invalid_request', state: 'a state' });
  expect(await refusalOf(spa, { code_challenge: '' })).toMatchObject({ error: 'invalid_request' });
});

test('specification §What the service does 4: a confidential client goes with or without PKCE', async () => {
  expect(stepOf(await send(web, {}))).toBe('login');
  expect(stepOf(await send(web, S256))).toBe('login');
});

test.each<[what: string, parameters: Record<string, string | undefined>]>([
  ['plain', { code_challenge, code_challenge_method: 'plain' }],
  ['no method, which means plain', { code_challenge }],
  ['an empty method', { code_challenge, code_challenge_method: '' }],
  ['a method in another case', { code_challenge, code_challenge_method: 's256' }],
  ['an unknown method', { code_challenge, code_challenge_method: 'S512' }],
  ['a method without a challenge', { code_challenge_method: 'S256' }],
  ['a challenge that is too short', { ...S256, code_challenge: code_challenge.slice(1) }],
  ['a challenge that is too long', { ...S256, code_challenge: `${code_challenge}A` }],
  ['a padded challenge', { ...S256, code_challenge: `${code_challenge}=` }],
  ['a challenge in plain base64', { ...S256, code_challenge: `+/${code_challenge.slice(2)}` }],
  ['a challenge whose last character has stray bits', { ...S256, code_challenge: `${code_challenge.slice(0, 42)}B` }],
  ['a challenge with a line break', { ...S256, code_challenge: `${code_challenge}\n` }],
  ['a challenge of 60 KiB', { ...S256, code_challenge: 'a'.repeat(8193) }],
])('RFC 7636 §4.2, §4.3: %s gets invalid_request, for every client', async (_what, parameters) => {
  for (const client of [spa, web]) {
    expect(await refusalOf(client, parameters)).toMatchObject({ error: 'invalid_request', state: 'a state' });
  }
});

test('a client with require_pkce needs it, confidential or not', async () => {
  const strict = await aClient(at, { require_pkce: true });
  expect(await refusalOf(strict, {})).toMatchObject({ error: 'invalid_request' });
  expect(stepOf(await send(strict, S256))).toBe('login');
});

test('with REQUIRE_PKCE=all every client needs it', async () => {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, { REQUIRE_PKCE: 'all' }) });
  try {
    const { pathname, search } = new URL(authorizationUrl('https://id.example.test', web));
    const headers = { host: 'id.example.test' };
    const refused = await app.inject({ url: pathname + search, headers });
    expect(answerTo(web, refused)).toMatchObject({ error: 'invalid_request' });
    const url = `${pathname}${search}&${new URLSearchParams(S256).toString()}`;
    expect((await app.inject({ url, headers })).headers.location).toContain('/interaction/');
  } finally {
    await app.close();
  }
});

test('specification §Authorization code: the challenge is stored with the code, and only its verifier opens it', async () => {
  const code = await anAuthorizationCode(at, { client: web });
  const row = await at.deps.db
    .selectFrom('authorization_codes')
    .selectAll()
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  expect(row.code_challenge).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(row)).not.toContain(code.code);
  const wrong = await redeem(at, code, { code_verifier: aVerifier().code_verifier });
  expect(wrong.json()).toMatchObject({ error: 'invalid_grant' });
  expect((await redeem(at, code)).statusCode).toBe(200);
});
