/** The same libraries in the flows beyond the code flow: pushed requests, devices, signatures, registration, notices. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { presets } from '../../src/protocol/client-metadata.ts';
import { SIGNING_ALGS } from '../../src/protocol/signing-alg.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, aPublicClient, aService, aUser, type AClient } from '../support/fixtures.ts';
import { PNG } from '../support/images.ts';
import { Visitor } from '../support/visitor.ts';

const REDIRECT_URI = 'http://localhost:5555/callback';
const insecure = { execute: [client.allowInsecureRequests] };

/** A client's endpoint for logout tokens, its logo, and the keys of somebody who vouches for clients. */
const told: string[] = [];
const published: Record<string, [type: string, body: string | Buffer]> = { '/logo.png': ['image/png', PNG] };
const listener = createServer((request, response) => {
  const document = published[request.url!];
  if (document) response.setHeader('content-type', document[0]).end(document[1]);
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    if (document) return;
    told.push(new URLSearchParams(body).get('logout_token') ?? '');
    response.writeHead(200).end();
  });
});

let deployment: Deployment;
let username: string;
let service: AClient;
let keys: jose.GenerateKeyPairResult;
let noticeUri: string;
let shown: AClient;
stopServersAfterwards();
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  noticeUri = `http://${host}/backchannel`;
  keys = await jose.generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', kty: 'EC' as const };
  published['/keys'] = ['application/jwk-set+json', JSON.stringify({ keys: [jwk] })];
  const SOFTWARE_STATEMENT_ISSUERS = `https://authority.example.test=http://${host}/keys`;
  deployment = await deploy({
    env: { REGISTRATION: 'open', OUTBOUND_ALLOW: host, SOFTWARE_STATEMENT_ISSUERS },
    prepare: async (at) => {
      service = await aService(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } });
      shown = await aClient(at, { logo_uri: `http://${host}/logo.png` });
    },
  });
  ({ username } = await aUser(deployment.test));
});
afterAll(() => {
  listener.close();
});

const discovered = (of: AClient, auth?: client.ClientAuth): Promise<client.Configuration> =>
  client.discovery(new URL(deployment.issuer), of.client_id, of.client_secret || undefined, auth, insecure);

test('openid-client: client_credentials with private_key_jwt (RFC 7523)', async () => {
  const auth = client.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' });
  const config = await discovered(service, auth);
  const tokens = await client.clientCredentialsGrant(config, { scope: 'jobs:read' });
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'jobs:read' });
  expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true });
});

test('openid-client: the code flow by a pushed authorization request (RFC 9126)', async () => {
  const config = await discovered(await aClient(deployment.test, { redirect_uris: [REDIRECT_URI] }));
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const url = await client.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
  const callback = await new Visitor(deployment.issuer).authorize(url, { username });
  const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
  expect(tokens.scope).toBe('openid email');
});

test('openid-client: claims asked for by name, in the ID token and at userinfo (OpenID Connect Core §5.5)', async () => {
  const metadata = { redirect_uris: [REDIRECT_URI], id_token_claims: 'minimal' as const };
  const config = await discovered(await aClient(deployment.test, metadata));
  expect(config.serverMetadata()).toMatchObject({ claims_parameter_supported: true });
  const expectedState = client.randomState();
  const claims = {
    userinfo: { given_name: { essential: true } },
    id_token: { email: null, acr: { values: ['2', '1'] } },
  };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    state: expectedState,
    claims: JSON.stringify(claims),
  });
  const callback = await new Visitor(deployment.issuer).authorize(url, { username });
  const tokens = await client.authorizationCodeGrant(config, callback, { expectedState });
  expect(tokens.claims()).toMatchObject({ email: `${username}@example.test`, acr: '1' });
  expect(tokens.claims()).not.toHaveProperty('given_name');
  const told = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()!.sub);
  expect(told).toEqual({ sub: tokens.claims()!.sub, given_name: 'Ada' });
});

test.each(SIGNING_ALGS)(
  'openid-client: the code flow by a request object signed with %s, by value and pushed (RFC 9101)',
  async (alg) => {
    const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await jose.exportJWK(publicKey)), kid: 'signs' } as jose.JWK & { kty: 'RSA' };
    const metadata = { redirect_uris: [REDIRECT_URI], jwks: { keys: [jwk] }, require_signed_request_object: true };
    const config = await discovered(await aClient(deployment.test, metadata));
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    const parameters = {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email',
      state: expectedState,
      max_age: '600',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    };
    const url = await client.buildAuthorizationUrlWithJAR(config, parameters, { key: privateKey, kid: 'signs' });
    expect(url.searchParams.has('state')).toBe(false);
    const visitor = new Visitor(deployment.issuer);
    const callback = await visitor.authorize(url, { username });
    const tokens = await client.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState,
      maxAge: 600,
    });
    expect(tokens.scope).toBe('openid email');

    const again = await client.buildAuthorizationUrlWithJAR(config, parameters, { key: privateKey, kid: 'signs' });
    const pushed = await client.buildAuthorizationUrlWithPAR(config, again.searchParams);
    const { searchParams } = await visitor.authorize(pushed, { username });
    expect(searchParams.get('state')).toBe(expectedState);
    expect(searchParams.has('code')).toBe(true);
  },
);

test('oauth4webapi: a request object of its own, encrypted to a key of our JWKS with jose (RFC 9101 §6.1)', async () => {
  const jwk = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', kty: 'EC' as const };
  const metadata = {
    redirect_uris: [REDIRECT_URI],
    jwks: { keys: [jwk] },
    request_object_encryption_alg: 'ECDH-ES' as const,
  };
  const { client_id } = await aClient(deployment.test, metadata);
  const issuer = new URL(deployment.issuer);
  const discovery = await oauth.discoveryRequest(issuer, { [oauth.allowInsecureRequests]: true });
  const as = await oauth.processDiscoveryResponse(issuer, discovery);
  const state = oauth.generateRandomState();
  const parameters = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'openid', state };
  const signed = await oauth.issueRequestObject(as, { client_id }, parameters, { key: keys.privateKey, kid: 'one' });
  const ours = (await (await fetch(as.jwks_uri!)).json()) as jose.JSONWebKeySet;
  const key = ours.keys.find(({ use, alg }) => use === 'enc' && alg === 'ECDH-ES')!;
  const request = await new jose.CompactEncrypt(Buffer.from(signed))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid!, cty: 'oauth-authz-req+jwt' })
    .encrypt(await jose.importJWK(key, 'ECDH-ES'));
  const url = new URL(as.authorization_endpoint!);
  url.search = new URLSearchParams({ client_id, request }).toString();
  const callback = await new Visitor(deployment.issuer).authorize(url, { username });
  expect(oauth.validateAuthResponse(as, { client_id }, callback, state).get('code')).toBeTruthy();
});

test('openid-client: the device flow, polled while the person decides (RFC 8628)', async () => {
  const device = await aPublicClient(deployment.test, { ...presets.device, redirect_uris: [] });
  const config = await discovered(device, client.None());
  const started = await client.initiateDeviceAuthorization(config, { scope: 'openid email' });
  // The library waits `interval` seconds before it asks: here it need not.
  const polled = client.pollDeviceAuthorizationGrant(config, { ...started, interval: 1 });
  const visitor = await new Visitor(deployment.issuer).signIn(username);
  const form_token = /name="form_token" value="([^"]*)"/.exec(
    await (await visitor.get(started.verification_uri_complete!)).text(),
  )![1]!;
  const entered = await visitor.post(started.verification_uri, { user_code: started.user_code, form_token });
  await entered.body?.cancel();
  const done = await visitor.authorize(entered.headers.get('location')!);
  expect(done.pathname + done.search).toBe('/device/done?outcome=approved');
  const tokens = await polled;
  expect(tokens.claims()).toMatchObject({ iss: deployment.issuer, aud: device.client_id });
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
  expect(refreshed.scope).toBe('openid email');
});

/** The code flow of a client in a browser of its own. */
async function signIn(config: client.Configuration, visitor: Visitor) {
  const expectedState = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    state: expectedState,
  });
  const callback = await visitor.authorize(url, { username });
  return client.authorizationCodeGrant(config, callback, { expectedState });
}

test('openid-client: a client registers itself and signs a person in (RFC 7591)', async () => {
  const config = await client.dynamicClientRegistration(
    new URL(deployment.issuer),
    { client_name: 'Registered', redirect_uris: [REDIRECT_URI] },
    undefined,
    insecure,
  );
  const tokens = await signIn(config, new Visitor(deployment.issuer));
  expect(tokens.claims()).toMatchObject({ aud: config.clientMetadata().client_id });
});

test('oauth4webapi: a client registers with a software statement of somebody we trust (RFC 7591 §2.3)', async () => {
  const software_statement = await new jose.SignJWT({ client_name: 'Vouched for', software_id: 'app' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer('https://authority.example.test')
    .sign(keys.privateKey);
  const as = { issuer: deployment.issuer, registration_endpoint: `${deployment.issuer}/register` };
  const register = async (metadata: Partial<oauth.Client>): Promise<oauth.OmitSymbolProperties<oauth.Client>> =>
    oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(as, metadata, { [oauth.allowInsecureRequests]: true }),
    );
  const metadata = { redirect_uris: [REDIRECT_URI], client_name: 'Mine' };
  const registered = await register({ ...metadata, software_statement });
  expect(registered).toMatchObject({ client_name: 'Vouched for', software_id: 'app', software_statement });
  await expect(register({ ...metadata, software_statement: `${software_statement}A` })).rejects.toMatchObject({
    error: 'invalid_software_statement',
  });
});

test('Back-Channel Logout: a client is told of the sign-out, by a token that verifies against the JWKS', async () => {
  const metadata = { redirect_uris: [REDIRECT_URI], backchannel_logout_uri: noticeUri };
  const config = await discovered(await aClient(deployment.test, metadata));
  const visitor = new Visitor(deployment.issuer);
  const tokens = await signIn(config, visitor);
  const { sid } = tokens.claims() as unknown as { sid: string };
  const answer = await visitor.get(`${deployment.issuer}/logout?id_token_hint=${tokens.id_token}`);
  const page = new URL(answer.headers.get('location')!);
  expect(page.origin + page.pathname).toBe(`${deployment.issuer}/logout/done`);
  await expect.poll(() => told.length, { timeout: 10_000 }).toBe(1);
  const jwks = jose.createRemoteJWKSet(new URL(`${deployment.issuer}/jwks`));
  const { payload } = await jose.jwtVerify(told[0]!, jwks, {
    issuer: deployment.issuer,
    audience: config.clientMetadata().client_id,
    typ: 'logout+jwt',
  });
  expect(payload).toMatchObject({ sid });
});

test('a running server fetches the logo of a client, and serves it', async () => {
  const row = () =>
    deployment.test.deps.db
      .selectFrom('clients')
      .select('logo_hash')
      .where('client_id', '=', shown.client_id)
      .executeTakeFirst();
  await expect.poll(async () => (await row())!.logo_hash, { timeout: 10_000 }).not.toBeNull();
  const logo = await new Visitor(deployment.issuer).get(`${deployment.issuer}/logo/${(await row())!.logo_hash}`);
  expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(Buffer.from(await logo.arrayBuffer())).toEqual(PNG);
});
