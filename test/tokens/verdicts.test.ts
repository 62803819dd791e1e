/** What is remembered of a token is its signature and nothing else: whether it is worth anything is asked each time. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createVerdicts } from '../../src/tokens/verdicts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aService,
  BY,
  credentials,
  introspect,
  postForm,
  someTokens,
  userinfo,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { retireKey } from '../support/rotation.ts';

let at: TestApp;
let client: AClient;
let tokens: Tokens;
beforeEach(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  ({ tokens } = await someTokens(at, { client }));
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  expect(await introspect(at, client, tokens.access_token)).toMatchObject({ active: true });
  expect(at.deps.verdicts.find(tokens.access_token)).toBeDefined();
});
afterEach(() => at.close());

const worthless = async (token: string): Promise<void> => {
  expect((await userinfo(at, token)).statusCode).toBe(401);
  expect(await introspect(at, client, token)).toEqual({ active: false });
};

test('a token looked at before says the same', async () => {
  const { access_token } = tokens;
  const again = await introspect(at, client, access_token);
  at.deps.verdicts.forget(access_token);
  expect(again).toEqual(await introspect(at, client, access_token));
  expect((await userinfo(at, access_token)).json()).toEqual((await userinfo(at, access_token)).json());
});

test('RFC 7009 §2.1: revoked, it is worth nothing at once', async () => {
  await postForm(at, '/revoke', { token: tokens.access_token, ...credentials(client) });
  expect(at.deps.verdicts.find(tokens.access_token)).toBeDefined();
  await worthless(tokens.access_token);
});

test('RFC 7009 §2.1: so is one without a grant', async () => {
  const service = await aService(at);
  const given = await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) });
  const { access_token } = given.json<Tokens>();
  expect(await introspect(at, service, access_token)).toMatchObject({ active: true });
  await postForm(at, '/revoke', { token: access_token, ...credentials(service) });
  expect(await introspect(at, service, access_token)).toEqual({ active: false });
});

test('RFC 7519 §4.1.4: it is worth nothing from the second in exp, and then forgotten', async () => {
  const { exp } = decode(tokens.access_token).payload as { exp: number };
  at.clock.advance(exp - at.clock.now().getTime() / 1000 - 0.001);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  at.clock.advance(0.001);
  await worthless(tokens.access_token);
  expect(at.deps.verdicts.find(tokens.access_token)).toBeUndefined();
});

test('a key that was retired takes what it signed with it', async () => {
  const { kid } = decode(tokens.access_token).header as { kid: string };
  await retireKey(at.deps.db, at.deps.secrets, kid, BY, at.clock.now());
  await at.deps.keys.reload();
  await worthless(tokens.access_token);
  expect(at.deps.verdicts.find(tokens.access_token)).toBeUndefined();
});

test('RFC 8725 §3.3: what is not signed by us is not remembered, however much of it is the same', async () => {
  const [header, payload, signature = ''] = tokens.access_token.split('.');
  const claims = { ...decode(tokens.access_token).payload, sub: 'somebody-else' };
  const forged = [
    `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`,
    `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    `${header}.${payload}.`,
    tokens.id_token,
  ];
  for (const token of forged) {
    await worthless(token);
    await worthless(token);
    expect(at.deps.verdicts.find(token)).toBeUndefined();
  }
});

test('the memory is bounded, and the token itself is not in it', () => {
  const verdicts = createVerdicts();
  const verdict = at.deps.verdicts.find(tokens.access_token)!;
  expect(JSON.stringify(verdict)).not.toContain(tokens.access_token.split('.')[2]);
  for (let n = 0; n < 10_001; n += 1) verdicts.keep(`${n}`, verdict);
  expect([verdicts.find('0'), verdicts.find('1'), verdicts.find('10000')]).toEqual([undefined, verdict, verdict]);
  for (const name of ['long', 'longer']) verdicts.keep(name.padEnd(9_000_000), verdict);
  expect([verdicts.find('long'.padEnd(9_000_000)), verdicts.find('longer'.padEnd(9_000_000))]).toEqual([
    undefined,
    verdict,
  ]);
});
