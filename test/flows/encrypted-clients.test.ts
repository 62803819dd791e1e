/** The same libraries with tokens that only their client can read, and with a subject of their own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import type { User } from '../../src/store/users.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { anEncryptionKey, jwksOf, type EncryptionPair } from '../support/encryption.ts';
import { aClient, aUser, type AClient } from '../support/fixtures.ts';
import { Visitor } from '../support/visitor.ts';

const REDIRECT_URI = 'http://localhost:5555/callback';

let deployment: Deployment;
let user: User;
let rsa: EncryptionPair;
let ec: EncryptionPair;
let jwks_uri: string;

/** Where a client publishes its keys. */
const published = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/jwk-set+json' });
  response.end(JSON.stringify(jwksOf(rsa.jwk, ec.jwk)));
});

stopServersAfterwards();
beforeAll(async () => {
  rsa = await anEncryptionKey('RSA-OAEP-256');
  ec = await anEncryptionKey('ECDH-ES');
  await new Promise<void>((resolve) => published.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(published.address() as AddressInfo).port}`;
  jwks_uri = `http://${host}/jwks`;
  deployment = await deploy({ env: { OUTBOUND_ALLOW: host } });
  user = await aUser(deployment.test);
});
afterAll(() => {
  published.close();
});

const registered = (metadata: Partial<ClientMetadataInput>): Promise<AClient> =>
  aClient(deployment.test, { redirect_uris: [REDIRECT_URI], ...metadata });

/** The code flow of openid-client, with every check it has, and userinfo after it. */
async function signIn(
  of: AClient,
  metadata: Partial<client.ClientMetadata>,
  prepare: Array<(config: client.Configuration) => void> = [],
) {
  const config = await client.discovery(
    new URL(deployment.issuer),
    of.client_id,
    { client_secret: of.client_secret, ...metadata },
    undefined,
    { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks, ...prepare] },
  );
  const expectedState = client.randomState();
  const expectedNonce = client.randomNonce();
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email offline_access',
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const callback = await new Visitor(deployment.issuer).authorize(url, { username: user.username });
  const expected = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  const tokens = await client.authorizationCodeGrant(config, callback, expected);
  const { sub } = tokens.claims()!;
  return { config, tokens, sub, userinfo: await client.fetchUserInfo(config, tokens.access_token, sub) };
}

test('openid-client: an encrypted ID token, and userinfo signed and encrypted, with keys from jwks_uri', async () => {
  const metadata = {
    id_token_encrypted_response_alg: 'RSA-OAEP-256',
    id_token_encrypted_response_enc: 'A256GCM',
    userinfo_signed_response_alg: 'ES256',
    userinfo_encrypted_response_alg: 'ECDH-ES',
    jwks_uri,
  } as const;
  const keys = [
    { key: rsa.privateKey, kid: rsa.jwk.kid! },
    { key: ec.privateKey, kid: ec.jwk.kid!, alg: 'ECDH-ES' },
  ];
  const { config, tokens, userinfo, sub } = await signIn(await registered(metadata), metadata, [
    (config) => client.enableDecryptingResponses(config, ['A256GCM', 'A128CBC-HS256'], ...keys),
  ]);
  // The library read it; nobody else can.
  expect(tokens.id_token!.split('.')).toHaveLength(5);
  expect(tokens.claims()).toMatchObject({ iss: deployment.issuer, sub: user.sub, email: user.email });
  expect(userinfo).toMatchObject({ sub: user.sub, email: user.email });
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
  expect(refreshed.claims()).toMatchObject({ sub });
});

test.each(['RS256', 'ES256'])('openid-client: userinfo signed with %s', async (alg) => {
  const metadata = { userinfo_signed_response_alg: alg as 'RS256' };
  const { userinfo } = await signIn(await registered(metadata), metadata);
  expect(userinfo).toMatchObject({ iss: deployment.issuer, sub: user.sub, email: user.email });
});

test.each([
  ['signed with RS256', {}],
  ['signed with ES256', { authorization_signed_response_alg: 'ES256' }],
  ['encrypted', { authorization_encrypted_response_alg: 'RSA-OAEP-256' }],
] as const)('JARM §2.4: openid-client reads answers that are %s', async (_what, metadata) => {
  const of = await registered({ ...metadata, response_modes: ['jwt'], jwks_uri });
  const { tokens, sub } = await signIn(of, metadata, [
    client.useJwtResponseMode,
    (config) => client.enableDecryptingResponses(config, ['A128CBC-HS256'], { key: rsa.privateKey, kid: rsa.jwk.kid! }),
  ]);
  expect(sub).toBe(user.sub);
  expect(tokens.refresh_token).toBeDefined();
});

test('openid-client: pairwise: two clients of one host are told one sub, and it is not the person’s', async () => {
  const metadata = { subject_type: 'pairwise' } as const;
  const [one, two] = [await signIn(await registered(metadata), {}), await signIn(await registered(metadata), {})];
  expect(one.sub).toBe(two.sub);
  expect(one.sub).not.toBe(user.sub);
  expect(one.userinfo).toMatchObject({ sub: one.sub, email: user.email });
  const introspected = await client.tokenIntrospection(one.config, one.tokens.access_token);
  expect(introspected).toMatchObject({ active: true, sub: one.sub });
});

test('oauth4webapi: an encrypted ID token by its jweDecrypt, and userinfo encrypted without a signature', async () => {
  const of = await registered({
    id_token_encrypted_response_alg: 'ECDH-ES',
    id_token_signed_response_alg: 'ES256',
    userinfo_encrypted_response_alg: 'RSA-OAEP-256',
    jwks: jwksOf(ec.jwk, rsa.jwk),
  });
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(deployment.issuer);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const self: oauth.Client = { client_id: of.client_id, id_token_signed_response_alg: 'ES256' };
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  const url = new URL(as.authorization_endpoint!);
  url.search = new URLSearchParams({
    client_id: of.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid email',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const callback = await new Visitor(deployment.issuer).authorize(url, { username: user.username });
  const parameters = oauth.validateAuthResponse(as, self, callback, state);
  const auth = oauth.ClientSecretBasic(of.client_secret);
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    self,
    auth,
    parameters,
    REDIRECT_URI,
    verifier,
    insecure,
  );
  const options = { keyManagementAlgorithms: ['ECDH-ES'], contentEncryptionAlgorithms: ['A128CBC-HS256'] };
  const tokens = await oauth.processAuthorizationCodeResponse(as, self, response, {
    requireIdToken: true,
    [oauth.jweDecrypt]: async (jwe) =>
      new TextDecoder().decode((await jose.compactDecrypt(jwe, ec.privateKey, options)).plaintext),
  });
  expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ sub: user.sub, email: user.email });

  const answer = await oauth.userInfoRequest(as, self, tokens.access_token, insecure);
  expect(answer.headers.get('content-type')).toBe('application/jwt');
  // The library knows userinfo encrypted after signing only; jose reads what is inside.
  const { plaintext, protectedHeader } = await jose.compactDecrypt(await answer.text(), rsa.privateKey);
  expect(protectedHeader).not.toHaveProperty('cty');
  expect(JSON.parse(new TextDecoder().decode(plaintext))).toMatchObject({ sub: user.sub, email: user.email });
});
