import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authMethods } from '../../../src/clients/authenticate.ts';
import { AUTH_METHODS } from '../../../src/protocol/client.ts';
import { CONFIDENTIAL_METHODS } from '../../../src/protocol/client.ts';
import { CONTENT_ENCRYPTION, ENCRYPTION_ALGS } from '../../../src/protocol/encryption-alg.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { anAuthorizationCode, redeem, someTokens, userinfo } from '../../support/fixtures.ts';
import { decode } from '../../support/oauth.ts';

type Metadata = Record<string, unknown>;

describe.each([
  [
    'https://id.example.test',
    ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
    ['/.well-known/openid-configuration/auth', '/auth/.well-known/openid-configuration'],
  ],
  [
    'https://id.example.test/auth',
    [
      '/auth/.well-known/openid-configuration',
      '/auth/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/auth',
      '/.well-known/oauth-authorization-server/auth',
    ],
    ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/token', '/jwks'],
  ],
])('issuer %s', (ISSUER, places, elsewhere) => {
  let at: TestApp;
  let metadata: Metadata;
  beforeAll(async () => {
    at = await testApp({ config: { ISSUER } });
    metadata = (await at.app.inject(places[0]!)).json();
  });
  afterAll(() => at.close());

  test('RFC 8414 §3.1, OpenID Connect Discovery §4: the same document at the path-inserted and path-appended places', async () => {
    const answers = await Promise.all(places.map((url) => at.app.inject(url)));
    for (const answer of answers) {
      expect(answer.statusCode).toBe(200);
      expect(answer.body).toBe(answers[0]!.body);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String) as string,
      });
      const again = await at.app.inject({ url: places[0]!, headers: { 'if-none-match': String(answer.headers.etag) } });
      expect(again.statusCode).toBe(304);
    }
    for (const url of elsewhere) expect((await at.app.inject(url)).statusCode, url).toBe(404);
  });

  test('RFC 8414 §3.3: issuer is byte-equal to the configured one, whatever Host and forwarding headers say', async () => {
    const headers = {
      host: 'evil.test',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.test;proto=http',
    };
    const answer = await at.app.inject({ url: places[0]!, headers });
    expect(answer.json()).toEqual(metadata);
    expect(metadata['issuer']).toBe(ISSUER);
    expect(answer.body).not.toContain('evil');
  });

  test('specification §Endpoints: /authorize, /token and /userinfo are under the issuer, and every named endpoint is there', async () => {
    expect(metadata).toMatchObject({
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      jwks_uri: `${ISSUER}/jwks`,
      introspection_endpoint: `${ISSUER}/introspect`,
      revocation_endpoint: `${ISSUER}/revoke`,
      end_session_endpoint: `${ISSUER}/logout`,
    });
    for (const [name, value] of Object.entries(metadata)) {
      if (!name.endsWith('_endpoint') && !name.endsWith('_uri')) continue;
      const answer = await at.app.inject({ method: 'GET', url: new URL(String(value)).pathname });
      expect(answer.statusCode, name).not.toBe(404);
      expect(answer.statusCode, name).toBeLessThan(500);
    }
  });

  test('specification §Endpoints: the whole code flow works under this issuer', async () => {
    const { tokens, user, client } = await someTokens(at);
    expect(decode(tokens.id_token).payload).toMatchObject({ iss: ISSUER, aud: client.client_id });
    expect(decode(tokens.access_token).payload).toMatchObject({ iss: ISSUER, aud: ISSUER });
    expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub: user.sub });
    const code = await anAuthorizationCode(at, { client, user });
    expect((await redeem(at, code)).statusCode).toBe(200);
  });

  test('RFC 9110 §15.5.6: other methods are 405 with Allow, as JSON; HEAD is answered; a preflight of any page is', async () => {
    for (const url of places) {
      const answer = await at.app.inject({ method: 'POST', url });
      expect(answer.statusCode, url).toBe(405);
      expect(answer.headers['allow']).toBe('GET, HEAD');
      expect(answer.json()).toMatchObject({ error: 'method_not_allowed' });
      const head = await at.app.inject({ method: 'HEAD', url });
      expect([head.statusCode, head.body]).toEqual([200, '']);
      const headers = { origin: 'https://any.example.test', 'access-control-request-headers': 'mcp-protocol-version' };
      const preflight = await at.app.inject({ method: 'OPTIONS', url, headers });
      expect(preflight.statusCode).toBe(204);
      expect(preflight.headers['access-control-allow-headers']).toContain('mcp-protocol-version');
    }
  });
});

describe('what the document says', () => {
  let at: TestApp;
  let metadata: Metadata;
  beforeAll(async () => {
    at = await testApp();
    metadata = (await at.app.inject('/.well-known/openid-configuration')).json();
  });
  afterAll(() => at.close());

  test('specification §What the service does 4: code is the only response type; no implicit, no password, no fragment', () => {
    expect(metadata).toMatchObject({
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'],
      grant_types_supported: [
        'authorization_code',
        'client_credentials',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    for (const word of ['implicit', 'password', 'fragment', '"token"'])
      expect(JSON.stringify(metadata)).not.toContain(word);
  });

  test('specification §Authentication 2, 3: how clients authenticate, and S256', () => {
    expect(Object.keys(authMethods)).toEqual(AUTH_METHODS);
    const confidential = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
    expect(AUTH_METHODS).toEqual(expect.arrayContaining([...confidential, 'none']));
    expect(CONFIDENTIAL_METHODS).toEqual(expect.arrayContaining(confidential));
    expect(CONFIDENTIAL_METHODS).toEqual(AUTH_METHODS.filter((method) => method !== 'none'));
    // No certificates of clients come in here.
    expect(metadata).toMatchObject({
      token_endpoint_auth_methods_supported: [...confidential, 'none'],
      revocation_endpoint_auth_methods_supported: [...confidential, 'none'],
      introspection_endpoint_auth_methods_supported: confidential,
      code_challenge_methods_supported: ['S256'],
    });
  });

  test('OpenID Connect Discovery §3: required members, with RS256', () => {
    expect(metadata).toMatchObject({
      subject_types_supported: ['public', 'pairwise'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      claims_parameter_supported: true,
      acr_values_supported: ['1', '2'],
      display_values_supported: ['page'],
      ui_locales_supported: ['en', 'de', 'fr', 'es', 'pt', 'pl', 'ja', 'zh-Hans', 'ar'],
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      require_signed_request_object: false,
      authorization_response_iss_parameter_supported: true,
    });
    expect(metadata['scopes_supported']).toEqual(
      expect.arrayContaining(['openid', 'profile', 'email', 'address', 'phone', 'groups', 'offline_access']),
    );
    expect(metadata['claims_supported']).toEqual(
      expect.arrayContaining(['sub', 'iss', 'aud', 'exp', 'iat', 'nonce', 'name', 'email', 'email_verified', 'groups']),
    );
    expect(new Set(metadata['claims_supported'] as string[]).size).toBe(
      (metadata['claims_supported'] as string[]).length,
    );
  });

  test('JARM §4: how answers are signed and encrypted', () => {
    expect(metadata).toMatchObject({
      authorization_signing_alg_values_supported: ['RS256', 'ES256'],
      authorization_encryption_alg_values_supported: ENCRYPTION_ALGS,
      authorization_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    });
  });

  test('RFC 9470 §7: acr_values_supported are those that a sign-in here can meet', async () => {
    const ACR_VALUES = ['urn:mace:incommon:iap:silver=1', 'gold=2', 'known=pwd', 'key=hwk'];
    const other = await testApp({ config: { ACR_VALUES } });
    const answer = (await other.app.inject('/.well-known/openid-configuration')).json<Metadata>();
    await other.close();
    expect(answer['acr_values_supported']).toEqual(['1', '2', 'urn:mace:incommon:iap:silver', 'gold', 'known', 'key']);
  });

  test('only registered metadata members, none of them empty or for what does not work yet', () => {
    const registered =
      /^(issuer|[a-z_]+_endpoint|jwks_uri|[a-z_]+_supported|service_documentation|op_(policy|tos)_uri|require_(pushed_authorization_requests|request_uri_registration|signed_request_object))$/;
    for (const [name, value] of Object.entries(metadata)) {
      expect(name).toMatch(registered);
      expect(value, name).not.toEqual([]);
      expect(value, name).not.toBeNull();
    }
    expect(JSON.stringify(metadata)).not.toContain('none","'.repeat(2));
  });
});
