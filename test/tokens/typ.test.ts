/** The `typ` of access tokens: what a resource may have otherwise, and that nothing passes for something else by it. */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aService,
  aUser,
  authorizationUrl,
  aVerifier,
  credentials,
  introspect,
  postForm,
  redeem,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { anOperator } from '../support/operator.ts';
import { aResource, decode, expectRefusal, formOf, postRaw } from '../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const SPRING = 'https://spring.example.test';
const OTHER = 'https://other.example.test';
const NOTES = 'https://notes.example.test';
let at: TestApp;
let client: AClient;
let service: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  [client, service, user] = [await aClient(at, { may_introspect: true }), await aService(at), await aUser(at)];
  browser = await signIn(at, user);
  await aResource(at, SPRING, { access_token_typ: 'JWT' });
  await aResource(at, OTHER, { access_token_typ: 'JWT' });
  await aResource(at, NOTES, { access_token_typ: 'at+jwt' });
});
afterAll(() => at.close());

async function tokensFor(resource: string): Promise<Tokens> {
  const parameters = { resource, prompt: 'consent' };
  return (await redeem(at, await anAuthorizationCode(at, { client, user, browser, parameters }))).json();
}
const typOf = (token: string): unknown => decode(token).header['typ'];

async function typFor(...resource: string[]): Promise<unknown> {
  const form = formOf({ grant_type: 'client_credentials', ...credentials(service) });
  const asked = resource.map((uri) => `&${formOf({ resource: uri })}`).join('');
  return typOf((await postRaw(at, '/token', `${form}${asked}`)).json<Tokens>().access_token);
}

test('RFC 9068 §2.1: access tokens are at+jwt, but where every resource they are for wants JWT', async () => {
  expect(await typFor()).toBe('at+jwt');
  expect(await typFor(NOTES)).toBe('at+jwt');
  expect(await typFor(SPRING)).toBe('JWT');
  expect(await typFor(SPRING, OTHER)).toBe('JWT');
  expect(await typFor(SPRING, NOTES)).toBe('at+jwt');
  expect(await typFor(SPRING, ISSUER)).toBe('at+jwt');
});

test('RFC 9068 §2.1: for ourselves they are at+jwt, whatever a row of that name says', async () => {
  // No operator can write it any more.
  await at.deps.db.insertInto('resources').values({ resource: ISSUER, scope: [], access_token_typ: 'JWT' }).execute();
  at.deps.directory.clear();
  expect(await typFor(ISSUER)).toBe('at+jwt');
  await at.deps.db.deleteFrom('resources').where('resource', '=', ISSUER).execute();
  at.deps.directory.clear();
});

test('the type of a resource is changed over the admin API, and counts for the next token', async () => {
  const operator = await anOperator(at);
  const path = `/resources/${encodeURIComponent(NOTES)}`;
  for (const access_token_typ of ['JWT', null]) {
    const changed = await operator.send('PATCH', path, { access_token_typ });
    expect([changed.statusCode, changed.json()]).toMatchObject([200, { access_token_typ }]);
    expect(await typFor(NOTES)).toBe(access_token_typ ?? 'at+jwt');
  }
  expect((await operator.send('PATCH', path, { access_token_typ: 'logout+jwt' })).statusCode).toBe(400);
});

test('a token of type JWT is introspected and revoked like any other, and no token at userinfo', async () => {
  const { access_token } = await tokensFor(SPRING);
  expect(typOf(access_token)).toBe('JWT');
  expect(await introspect(at, client, access_token)).toMatchObject({ active: true, aud: SPRING });
  expectRefusal(await userinfo(at, access_token), 401, 'invalid_token');
  await postForm(at, '/revoke', { token: access_token, ...credentials(client) });
  expect(await introspect(at, client, access_token)).toEqual({ active: false });
});

describe('an ID token and an access token of the same type', () => {
  /** Everything that an access token has, signed by our own key. */
  async function genuine(claims: Record<string, unknown>): Promise<string> {
    const { access_token } = await tokensFor(SPRING);
    const { kid, alg, private_key } = at.deps.keys.active('RS256', at.clock.now());
    return new SignJWT({ ...decode(access_token).payload, ...claims })
      .setProtectedHeader({ typ: 'JWT', alg, kid })
      .sign(private_key);
  }

  test('RFC 9068 §4: no ID token is an access token, whatever claims a person has', async () => {
    expect(await introspect(at, client, await genuine({}))).toMatchObject({ active: true });
    for (const aud of [
      client.client_id,
      [client.client_id],
      [client.client_id, SPRING],
      ISSUER,
      [SPRING, ISSUER],
      [],
    ]) {
      const token = await genuine({ aud });
      expect(await introspect(at, client, token), JSON.stringify(aud)).toEqual({ active: false });
      expectRefusal(await userinfo(at, token), 401, 'invalid_token');
    }
    const { id_token } = await tokensFor(SPRING);
    expect(await introspect(at, client, id_token)).toEqual({ active: false });
    const operator = { headers: { authorization: `Bearer ${id_token}` } };
    expect((await at.app.inject({ url: '/admin/v1/clients', ...operator })).statusCode).toBe(401);
  });

  test('OpenID Connect Core §3.1.2.1: no access token is an id_token_hint, of type JWT neither', async () => {
    const { access_token, id_token } = await tokensFor(SPRING);
    const hinted = async (id_token_hint: string): Promise<URLSearchParams> => {
      const pkce = { code_challenge: aVerifier().code_challenge, code_challenge_method: 'S256' };
      const url = authorizationUrl(browser.issuer, client, {
        id_token_hint,
        prompt: 'none',
        resource: SPRING,
        ...pkce,
      });
      return new URL((await browser.get(url)).headers.location!).searchParams;
    };
    expect((await hinted(id_token)).get('code')).toBeTruthy();
    for (const hint of [access_token, await genuine({}), await genuine({ sid: 'x', at_hash: 'x' })])
      expect((await hinted(hint)).get('error')).toBe('invalid_request');
  });

  test('RP-Initiated Logout §2: an access token of type JWT signs nobody out', async () => {
    const { access_token, id_token } = await tokensFor(SPRING);
    const query = (id_token_hint: string): string => `/logout?${new URLSearchParams({ id_token_hint }).toString()}`;
    const asked = await browser.get(query(access_token));
    expect(asked.statusCode).not.toBe(302);
    expect((await browser.get('/account')).statusCode).toBe(200);
    await browser.get(query(id_token));
    expect((await browser.get('/account')).statusCode).not.toBe(200);
  });
});
