import { expect, test } from 'vitest';
import { clientId, clientSecret } from '../../src/protocol/client.ts';
import { clientMetadata, presets } from '../../src/protocol/client-metadata.ts';

const redirect_uris = ['https://app.example.test/cb'];
const problems = (metadata: unknown): string[] =>
  clientMetadata.safeParse(metadata).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];

test('RFC 7591 §2: what is left out has its default', () => {
  expect(clientMetadata.parse({ redirect_uris })).toEqual({
    application_type: 'web',
    token_endpoint_auth_method: 'client_secret_basic',
    subject_type: 'public',
    require_auth_time: false,
    grant_types: ['authorization_code'],
    scope: 'openid profile email',
    id_token_signed_response_alg: 'RS256',
    redirect_uris,
    post_logout_redirect_uris: [],
    allowed_origins: [],
    contacts: [],
    require_pkce: false,
    require_second_factor: false,
    require_pushed_authorization_requests: false,
    require_signed_request_object: false,
    request_uris: [],
    backchannel_logout_session_required: false,
    dpop_bound_access_tokens: false,
    tls_client_certificate_bound_access_tokens: false,
    require_dpop_nonce: false,
    frontchannel_logout_session_required: false,
    skip_consent: false,
    may_introspect: false,
    may_administer: false,
  });
});

test('specification §Resources: a client has one or more registered redirect URIs, if it uses codes', () => {
  expect(problems({})).toEqual(['redirect_uris needs at least one redirect URI']);
  expect(problems({ grant_types: ['client_credentials'] })).toEqual([]);
});

test('specification §What the service does 4: the implicit flow is not offered', () => {
  expect(problems({ redirect_uris, grant_types: ['implicit'] })).not.toEqual([]);
  for (const response_type of ['token', 'id_token', 'code token', 'none']) {
    expect(problems({ redirect_uris, response_types: [response_type] }), response_type).not.toEqual([]);
  }
  expect(problems({ redirect_uris, response_types: ['code'] })).toEqual([]);
  expect(problems({ redirect_uris, response_types: [] })).not.toEqual([]);
});

test('RFC 9700 §2.4: the password grant cannot be registered', () => {
  expect(problems({ redirect_uris, grant_types: ['password'] })).not.toEqual([]);
});

test.each([
  ['over http', 'http://app.example.test/r.jwt', 'must use https'],
  ['with user information', 'https://a:b@app.example.test/r.jwt', 'must not hold user information'],
  ['of another scheme', 'file:///r.jwt', 'must be an https URL'],
  ['that is no URI', '/r.jwt', 'must be an https URL'],
  ['with a space', 'https://app.example.test/r jwt', 'must be an https URL'],
  ['of 513 characters', `https://app.example.test/${'x'.repeat(488)}`, 'must have at most 512 characters'],
])('OpenID Connect Registration §2: a request_uri %s cannot be registered', (_what, request_uri, message) => {
  expect(problems({ redirect_uris, request_uris: [request_uri] })).toEqual([
    `request_uris ${JSON.stringify(request_uri)} ${message}`,
  ]);
});

test('OpenID Connect Registration §2: what a client registers of its request objects', () => {
  const jwks = { keys: [{ kty: 'EC' }] };
  const request_uris = ['https://app.example.test/r.jwt#fragment', 'http://localhost:8080/r.jwt'];
  const [request_object_encryption_alg, request_object_encryption_enc] = ['ECDH-ES', 'A128CBC-HS256'];
  const encryption = { request_object_encryption_alg, request_object_encryption_enc };
  expect(problems({ redirect_uris, request_uris, request_object_signing_alg: 'PS256', ...encryption })).toEqual([]);
  expect(problems({ redirect_uris, request_object_encryption_enc })).toEqual([
    'request_object_encryption_enc needs request_object_encryption_alg beside it',
  ]);
  expect(problems({ redirect_uris, jwks, require_signed_request_object: true })).toEqual([]);
  expect(problems({ redirect_uris, require_signed_request_object: true })).toEqual([
    'jwks is needed for require_signed_request_object, or jwks_uri',
  ]);
});

test.each<[what: string, metadata: Record<string, unknown>, refused?: string]>([
  [
    'every mode, and an algorithm',
    { response_modes: ['jwt', 'query.jwt', 'form_post.jwt'], authorization_signed_response_alg: 'PS256' },
  ],
  ['encryption to a published key', { authorization_encrypted_response_alg: 'ECDH-ES', jwks_uri: 'https://a.example' }],
  ['no signature', { authorization_signed_response_alg: 'none' }, 'authorization_signed_response_alg'],
  ['a shared secret', { authorization_signed_response_alg: 'HS256' }, 'authorization_signed_response_alg'],
  ['enc without alg', { authorization_encrypted_response_enc: 'A256GCM' }, 'authorization_encrypted_response_enc'],
  ['encryption without a key', { authorization_encrypted_response_alg: 'ECDH-ES' }, 'jwks'],
  ['RSA1_5', { authorization_encrypted_response_alg: 'RSA1_5' }, 'authorization_encrypted_response_alg'],
  ['dir', { authorization_encrypted_response_alg: 'dir' }, 'authorization_encrypted_response_alg'],
  ['fragment.jwt', { response_modes: ['fragment.jwt'] }, 'response_modes'],
])('JARM §3: %s of the answers of a client, registered or refused', (_what, metadata, refused) => {
  const [problem] = problems({ redirect_uris, ...metadata });
  expect(problem?.split(/[. ]/)[0]).toBe(refused);
});

test('RFC 6749 §4.4: client_credentials is only for confidential clients', () => {
  const metadata = { token_endpoint_auth_method: 'none', grant_types: ['client_credentials'] };
  expect(problems(metadata)).toEqual(['grant_types client_credentials is only for confidential clients']);
});

test('a public client cannot introspect, and a public native one is asked for consent each time (RFC 8252 §8.6)', () => {
  const metadata = { redirect_uris, token_endpoint_auth_method: 'none' };
  expect(problems({ ...metadata, may_introspect: true })).toHaveLength(1);
  expect(problems({ ...metadata, skip_consent: true })).toEqual([]);
  expect(problems({ ...metadata, skip_consent: true, application_type: 'native' })).toHaveLength(1);
});

test('RFC 7591 §2: refresh_token needs authorization_code beside it', () => {
  expect(problems({ grant_types: ['refresh_token'] })).toHaveLength(1);
  expect(problems({ redirect_uris, grant_types: [] })).not.toEqual([]);
});

test('RFC 9700 §2.1: every redirect URI is checked, those for sign-out too, and all problems are told', () => {
  const found = problems({
    redirect_uris: ['http://app.example.test/cb', 'https://app.example.test/#f'],
    post_logout_redirect_uris: ['javascript:alert(1)'],
  });
  expect(found).toHaveLength(3);
});

test.each([
  ['an unknown member', { client_name: 'x', admin: true }],
  ['a scheme that is no web page', { client_uri: 'javascript:alert(1)' }],
  ['a logo that is data', { logo_uri: 'data:image/png;base64,AA' }],
  ['an origin with a path', { allowed_origins: ['https://app.example.test/'] }],
  ['the origin null', { allowed_origins: ['null'] }],
  ['the origin *', { allowed_origins: ['*'] }],
  ['an algorithm with a shared secret', { id_token_signed_response_alg: 'HS256' }],
  ['request objects without a signature', { request_object_signing_alg: 'none' }],
  ['request objects with a shared secret', { request_object_signing_alg: 'HS256' }],
  ['RSA1_5', { request_object_encryption_alg: 'RSA1_5' }],
  ['a shared secret to encrypt with', { request_object_encryption_alg: 'dir' }],
  ['no algorithm', { id_token_signed_response_alg: 'none' }],
  ['a scope that cannot be one', { scope: 'openid "quoted"' }],
  ['an empty name', { client_name: '' }],
  ['a life longer than keys stay published', { access_token_ttl: 86_401 }],
  ['a life of nothing', { id_token_ttl: 0 }],
  ['half a second', { access_token_ttl: 0.5 }],
  ['a response mode that there is not', { response_modes: ['query', 'fragment'] }],
  ['no response mode at all', { response_modes: [] }],
  ['an age below nothing', { default_max_age: -1 }],
  ['an age in words', { default_max_age: '3600' }],
  ['a context that is no name', { default_acr_values: ['a b'] }],
])('RFC 7591 §3.2.2: refuses %s', (_what, metadata) => {
  expect(problems({ redirect_uris, ...metadata })).not.toEqual([]);
});

test.each([
  ['http://app.example.test/start', false],
  ['http://localhost/start', false],
  ['https://app.example.test/start#here', false],
  ['https://ada@app.example.test/start', false],
  ['https://app.example.test/a b', false],
  ['https://app.example.test/"><script>', false],
  ['https:/app.example.test/', false],
  ['https:\\\\app.example.test/', false],
  ['javascript:alert(1)', false],
  ['https://app.example.test', true],
  ['https://app.example.test/start?tenant=@a', true],
])('OpenID Connect Registration §2: initiate_login_uri must use https: %s', (initiate_login_uri, valid) => {
  expect(problems({ redirect_uris, initiate_login_uri }).length === 0).toBe(valid);
});

test('specification §What the service does 3: every preset is valid, and only those with a secret act for themselves', () => {
  for (const [name, preset] of Object.entries(presets)) {
    const uris = name === 'm2m' ? [] : redirect_uris;
    const keys = name === 'fapi2' ? { jwks_uri: 'https://app.example.test/jwks' } : {};
    expect(problems({ ...preset, ...keys, redirect_uris: uris }), name).toEqual([]);
  }
  expect(presets.spa.token_endpoint_auth_method).toBe('none');
  expect(presets.native.token_endpoint_auth_method).toBe('none');
});

test('RFC 6749 Appendix A: ids are unreserved characters, secrets are printable and not short', () => {
  for (const id of ['a', 'demo-web', 'A.b_c~9', 'x'.repeat(128)]) expect(clientId.safeParse(id).success, id).toBe(true);
  for (const id of ['', 'a b', 'a:b', 'a/b', 'ä', 'a\u0000', 'x'.repeat(129)]) {
    expect(clientId.safeParse(id).success, id).toBe(false);
  }
  expect(clientSecret.safeParse('demo-web-secret').success).toBe(true);
  for (const secret of ['short', 'with a \n in it', 'pässword-pässword']) {
    expect(clientSecret.safeParse(secret).success, secret).toBe(false);
  }
});
