/** Libraries that people connect with, as they come, against a server that listens. */
import fastifyOauth2, { type OAuth2Namespace } from '@fastify/oauth2';
import Fastify from 'fastify';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, aPublicClient, aService, aUser, type AClient } from '../support/fixtures.ts';
import { freePort } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

let deployment: Deployment;
let username: string;
let service: AClient;
stopServersAfterwards();
beforeAll(async () => {
  deployment = await deploy({ prepare: async (test) => (service = await aService(test)) });
  ({ username } = await aUser(deployment.test));
});

const REDIRECT_URI = 'http://localhost:5555/callback';
const scope = 'openid profile email offline_access';
const web = (): Promise<AClient> => aClient(deployment.test, { redirect_uris: [REDIRECT_URI], scope });

/** A browser's part, over real HTTP: signs in and allows. Returns where the client was called back. */
const visit = (url: URL): Promise<URL> => new Visitor(deployment.issuer).authorize(url, { username });

describe('openid-client 6', () => {
  const discovered = (of: AClient, auth?: client.ClientAuth): Promise<client.Configuration> =>
    client.discovery(new URL(deployment.issuer), of.client_id, of.client_secret || undefined, auth, {
      execute: [client.allowInsecureRequests],
    });

  /** The code flow with every check that the library has. */
  async function signIn(
    config: client.Configuration,
  ): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    const expectedNonce = client.randomNonce();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope,
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      max_age: '300',
    });
    const expected = { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 300, idTokenExpected: true };
    return client.authorizationCodeGrant(config, await visit(url), expected);
  }

  test('specification §Endpoints 1-3: code with PKCE, state, nonce, iss and max_age; the ID token has the claims of the scope', async () => {
    const config = await discovered(await web());
    const tokens = await signIn(config);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 600, scope });
    const claims = tokens.claims()!;
    expect(claims).toMatchObject({
      iss: deployment.issuer,
      aud: config.clientMetadata().client_id,
      name: 'Ada Lovelace',
      email: `${username}@example.test`,
      email_verified: true,
    });
    // The library compares `sub` with the ID token's (OpenID Connect Core §5.3.2).
    const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    expect(userinfo).toMatchObject({ name: 'Ada Lovelace', email: `${username}@example.test` });
  });

  test('refresh rotates and brings a new ID token; introspection and revocation follow (RFC 7662, RFC 7009)', async () => {
    const config = await discovered(await web(), client.ClientSecretBasic());
    const first = await signIn(config);
    const second = await client.refreshTokenGrant(config, first.refresh_token!);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.claims()!.sub).toBe(first.claims()!.sub);

    const live = await client.tokenIntrospection(config, second.access_token);
    expect(live).toMatchObject({ active: true, scope, sub: first.claims()!.sub, iss: deployment.issuer });
    await client.tokenRevocation(config, second.refresh_token!);
    expect(await client.tokenIntrospection(config, second.access_token)).toEqual({ active: false });
    await expect(client.refreshTokenGrant(config, second.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  test('specification §Roles: a public client needs no secret, only PKCE', async () => {
    const config = await discovered(
      await aPublicClient(deployment.test, { redirect_uris: [REDIRECT_URI], scope }),
      client.None(),
    );
    const tokens = await signIn(config);
    expect((await client.refreshTokenGrant(config, tokens.refresh_token!)).access_token).toBeTruthy();
  });

  test('specification §Endpoints 2b: client_credentials, and no refresh_token with it', async () => {
    const config = await discovered(service, client.ClientSecretBasic());
    const tokens = await client.clientCredentialsGrant(config, { scope: 'jobs:read' });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'jobs:read' });
    expect(tokens).not.toHaveProperty('refresh_token');
    expect(tokens).not.toHaveProperty('id_token');
  });

  test('its end-session URL signs the browser out and returns with the state (OpenID Connect RP-Initiated Logout §2)', async () => {
    const post_logout_redirect_uri = 'http://localhost:5555/bye';
    const registered = await aClient(deployment.test, {
      redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: [post_logout_redirect_uri],
      scope,
    });
    const config = await discovered(registered);
    const visitor = new Visitor(deployment.issuer);
    const url = client.buildAuthorizationUrl(config, { redirect_uri: REDIRECT_URI, scope: 'openid' });
    const answer = await visitor.authorize(url, { username });
    const tokens = await client.authorizationCodeGrant(config, answer, { idTokenExpected: true });
    const end = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri,
      state: 'a state',
    });
    const ended = await visitor.get(end.href);
    expect(ended.status).toBe(302);
    expect(ended.headers.get('location')).toBe(`${post_logout_redirect_uri}?state=a%20state`);
    expect(await client.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
  });
});

describe('oauth4webapi 3', () => {
  const insecure = { [oauth.allowInsecureRequests]: true } as const;

  test.each([
    ['the form body', oauth.ClientSecretPost],
    ['a Basic header', oauth.ClientSecretBasic],
  ])(
    'specification §Authentication 2: a confidential client with its secret in %s, step by step',
    async (_where, method) => {
      const registered = await web();
      const issuer = new URL(deployment.issuer);
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
      const self = { client_id: registered.client_id };
      const auth = method(registered.client_secret);
      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const url = new URL(as.authorization_endpoint!);
      url.search = new URLSearchParams({
        response_type: 'code',
        ...self,
        redirect_uri: REDIRECT_URI,
        scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      const parameters = oauth.validateAuthResponse(as, self, await visit(url), state);
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        self,
        auth,
        parameters,
        REDIRECT_URI,
        verifier,
        insecure,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(as, self, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      // Checks the signature against the JWKS too; the code flow alone would rely on TLS.
      await oauth.validateApplicationLevelSignature(as, response, insecure);
      expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ nonce, iss: deployment.issuer });

      const again = await oauth.authorizationCodeGrantRequest(
        as,
        self,
        auth,
        parameters,
        REDIRECT_URI,
        verifier,
        insecure,
      );
      await expect(oauth.processAuthorizationCodeResponse(as, self, again)).rejects.toMatchObject({
        error: 'invalid_grant',
      });
      const { sub } = oauth.getValidatedIdTokenClaims(tokens)!;
      const refused = await oauth.userInfoRequest(as, self, tokens.access_token, insecure);
      await expect(oauth.processUserInfoResponse(as, self, sub, refused)).rejects.toThrow(
        oauth.WWWAuthenticateChallengeError,
      );
    },
  );

  test('RFC 9068 §4: a resource server accepts the access token with the library’s own validation', async () => {
    const issuer = new URL(deployment.issuer);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const self = { client_id: service.client_id };
    const auth = oauth.ClientSecretBasic(service.client_secret);
    const response = await oauth.clientCredentialsGrantRequest(as, self, auth, {}, insecure);
    const { access_token } = await oauth.processClientCredentialsResponse(as, self, response);
    const request = new Request('https://api.example.test/', { headers: { authorization: `Bearer ${access_token}` } });
    const claims = await oauth.validateJwtAccessToken(as, request, deployment.issuer, insecure);
    expect(claims).toMatchObject({
      client_id: service.client_id,
      sub: service.client_id,
      scope: 'jobs:read jobs:write',
    });
  });
});

describe('@fastify/oauth2 8', () => {
  test.each([
    ['finds PKCE in discovery and uses it', () => ({ discovery: { issuer: deployment.issuer } }), true],
    ['is configured by hand and knows no PKCE', () => ({ credentials: { auth: endpoints() } }), false],
  ])(
    'specification §Endpoints 2a: an application that %s signs in, with Basic and its state cookie',
    async (_how, more, pkce) => {
      const home = `http://localhost:${await freePort()}`;
      const { client_id: id, client_secret: secret } = await aClient(deployment.test, {
        redirect_uris: [`${home}/callback`],
        scope,
      });
      const { credentials, ...options } = { credentials: {}, ...more() };
      const app = Fastify();
      await app.register(fastifyOauth2, {
        name: 'postern',
        scope: ['openid', 'email', 'offline_access'],
        credentials: { client: { id, secret }, ...credentials },
        startRedirectPath: '/sign-in',
        callbackUri: `${home}/callback`,
        cookie: { secure: false, path: '/' },
        redirectStateCookieName: 'state',
        verifierCookieName: 'verifier',
        ...options,
      });
      app.get('/callback', async function (request, reply) {
        const { postern } = this as unknown as { postern: OAuth2Namespace };
        const { token } = await postern.getAccessTokenFromAuthorizationCodeFlow(request, reply);
        const refreshed = await postern.getNewAccessTokenUsingRefreshToken(token, {});
        return { first: token, second: refreshed.token };
      });
      await app.listen({ port: Number(new URL(home).port) });
      try {
        const visitor = new Visitor(deployment.issuer);
        const start = await visitor.get(`${home}/sign-in`);
        const url = new URL(start.headers.get('location')!);
        expect(url.searchParams.has('code_challenge')).toBe(pkce);
        const back = await visitor.authorize(url, { username });
        const answer = await visitor.get(back.href);
        const { first, second } = (await answer.json()) as Record<'first' | 'second', Record<string, unknown>>;
        expect(first).toMatchObject({ token_type: 'Bearer', scope: 'openid email offline_access' });
        expect(second['refresh_token']).not.toBe(first['refresh_token']);
      } finally {
        await app.close();
      }
    },
  );

  const endpoints = () => ({
    authorizeHost: deployment.issuer,
    authorizePath: '/authorize',
    tokenHost: deployment.issuer,
    tokenPath: '/token',
  });
});
