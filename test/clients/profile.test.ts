/** The profile that counts for a client is asked again at each request: settings and rules may have changed since it was registered. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../src/protocol/endpoint.ts';
import { presets, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { CLIENT_ASSERTION_TYPE } from '../../src/protocol/jwt-assertion.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aHolder } from '../support/dpop.ts';
import {
  aClient,
  anAuthorizationCode,
  asOfBefore,
  authorizationUrl,
  aUser,
  credentials,
  signIn,
  TestBrowser,
  type AClient,
} from '../support/fixtures.ts';
import { aTokenRequest, expectRefusal, formOf, postRaw, send } from '../support/oauth.ts';
import { expectErrorPage, open } from '../support/pages.ts';

let at: TestApp;
/** The same server after PROFILE was set. */
let strict: TestApp;
let wallet: AClient;
let key: CryptoKey;
beforeAll(async () => {
  at = await testApp();
  strict = await testApp({ database: at.database, clock: at.clock, config: { PROFILE: 'fapi2_security' } });
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  key = privateKey;
  const jwks = { keys: [await exportJWK(publicKey)] } as ClientMetadataInput['jwks'];
  wallet = await aClient(at, { ...presets.fapi2, grant_types: ['authorization_code', 'client_credentials'], jwks });
});
afterAll(async () => {
  await strict.close();
  await at.close();
});

let made = 0;
const assertion = async (
  aud: string | string[],
  alg = 'ES256',
  signer: CryptoKey = key,
): Promise<Record<string, string>> => {
  made += 1;
  const iat = at.clock.now().getTime() / 1000;
  const { client_id } = wallet;
  const claims = { iss: client_id, sub: client_id, aud, jti: `assertion-${made}`, iat, exp: iat + 60 };
  const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg }).sign(signer);
  return { client_id, client_assertion_type: CLIENT_ASSERTION_TYPE, client_assertion };
};
const pushWith = async (proof: Record<string, string>) =>
  postRaw(
    at,
    '/par',
    formOf({
      response_type: 'code',
      redirect_uri: wallet.redirect_uri,
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      ...proof,
    }),
  );

test('FAPI 2.0 Security Profile §5.3.2.1: the audience of an assertion is the issuer, as one string', async () => {
  const { ISSUER } = at.deps.config;
  expect((await pushWith(await assertion(ISSUER))).statusCode).toBe(201);
  for (const aud of [
    `${ISSUER}${endpoints.token_endpoint}`,
    `${ISSUER}${endpoints.pushed_authorization_request_endpoint}`,
    [ISSUER],
  ]) {
    expectRefusal(await pushWith(await assertion(aud)), 401, 'invalid_client');
  }
});

test('FAPI 2.0 Security Profile §5.3.2.1: a code lives for a minute, whatever the server is set to', async () => {
  const patient = await testApp({ database: at.database, clock: at.clock, config: { AUTHORIZATION_CODE_TTL: 600 } });
  const { request_uri } = (await pushWith(await assertion(at.deps.config.ISSUER))).json<{ request_uri: string }>();
  const { code } = await anAuthorizationCode(patient, { client: wallet, parameters: { request_uri } });
  at.clock.advance(61);
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: wallet.redirect_uri,
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  };
  const dpop = await (await aHolder(at)).proof({ path: '/token' });
  const answer = await postRaw(at, '/token', formOf({ ...fields, ...(await assertion(at.deps.config.ISSUER)) }), {
    dpop,
  });
  expectRefusal(answer, 400, 'invalid_grant');
  await patient.close();
});

test('PROFILE refuses whoever is not registered as it wants, at every endpoint, with what was granted before', async () => {
  const ordinary = await aClient(at);
  const request = await aTokenRequest(at, 'refresh_token', { client: ordinary });
  expectRefusal(await send(strict, request), 400, 'unauthorized_client');
  for (const path of ['/introspect', '/revoke']) {
    expectRefusal(
      await postRaw(strict, path, formOf({ token: 'x', ...credentials(ordinary) })),
      400,
      'unauthorized_client',
    );
  }
  const page = await strict.app.inject({ method: 'GET', url: authorizationUrl(at.deps.config.ISSUER, ordinary) });
  expectErrorPage(page, 'unauthorized_client');
  // Nothing of it was spent.
  expect((await send(at, request)).statusCode).toBe(200);
});

test('a request that waited for its person when the profile came is refused when it goes on', async () => {
  const ordinary = await aClient(at);
  const browser = await signIn(at, await aUser(at));
  const { url } = await open(browser, ordinary, {});
  const later = new TestBrowser(strict);
  for (const [name, value] of browser.cookies) later.cookies.set(name, value);
  expect((await browser.get(url)).statusCode).toBe(200);
  expectErrorPage(await later.get(url), 'unauthorized_client');
});

test('a client that was left against its own profile is refused until it is mended', async () => {
  const client = await aClient(at);
  const request = await aTokenRequest(at, 'authorization_code', { client });
  await asOfBefore(at, client, { profile: 'fapi2_security' });
  expectRefusal(await send(at, request), 400, 'unauthorized_client');
});
