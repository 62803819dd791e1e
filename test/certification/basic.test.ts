/** The modules of the certification profiles Basic OP and, once more with response_mode=form_post, Form Post OP. */
import { randomBytes } from 'node:crypto';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  aBrowser,
  asClient,
  authorize,
  CALLBACK,
  EVERYTHING,
  expectErrorPage,
  insecure,
  partyOf,
  redeem,
  refusalIn,
  requestOf,
  SCOPES,
  startSuite,
  SUITE,
  urlOf,
  userinfo,
  walk,
  type Party,
  type Suite,
} from '../support/certification.ts';
import { anEncryptionKey, jwksOf, opened } from '../support/encryption.ts';
import { aClient } from '../support/fixtures.ts';
import { postTo, summary, type Visitor } from '../support/visitor.ts';

const modes = ['query', 'form_post'] as const;
const { address, phone_number, phone_number_verified, ...rest } = EVERYTHING;
const text = expect.any(String) as string;
const PROFILE = { ...rest, preferred_username: text, updated_at: expect.any(Number) as number };
const EMAIL = { email: text, email_verified: true };
const PHONE = { phone_number, phone_number_verified };
const ADDRESS = { address };

let suite: Suite;
let party: Party;
let other: Party;
let keys: jose.GenerateKeyPairResult;
/** Somebody signed in who has allowed the client everything. */
let visitor: Visitor;
beforeAll(async () => {
  suite = await startSuite();
  keys = await jose.generateKeyPair('RS256', { extractable: true });
  const jwks = { keys: [{ ...(await jose.exportJWK(keys.publicKey)), kty: 'RSA' as const, alg: 'RS256', use: 'sig' }] };
  const metadata = { redirect_uris: [CALLBACK], scope: SCOPES, id_token_claims: 'minimal' as const };
  suite.documents.set(`${SUITE}/unsigned`, ['application/jose', 'eyJhbGciOiJub25lIn0.e30.']);
  const request_uris = [`${SUITE}/unsigned`];
  party = partyOf(await aClient(suite.test, { ...metadata, jwks, request_uris }));
  other = partyOf(await aClient(suite.test, metadata), oauth.ClientSecretPost);
  visitor = aBrowser(suite);
  await authorize(suite, party, visitor, { scope: SCOPES });
});
afterAll(() => suite.close());

describe.each(['jwt', 'query.jwt', 'form_post.jwt'] as const)('answers by %s', (response_mode) => {
  const at = (): Party => ({ ...party, response_mode });

  test('JARM §2.1, §2.3, §2.4: a stranger signs in, allows, and comes back with a code in a JWT that every check passes', async () => {
    const request = requestOf(at(), { prompt: 'consent' });
    const arrival = await walk(suite, aBrowser(suite), urlOf(suite, request));
    expect([...arrival.answer!.keys()]).toEqual(['response']);
    expect(arrival.shown).toEqual(['login', 'consent']);
    expect((await redeem(suite, at(), arrival, request)).claims.aud).toBe(party.client_id);
  });

  test('JARM §2.1, §5.3: a refusal passes the same checks, and no answer those of another client', async () => {
    const request = requestOf(at(), { prompt: 'none' });
    const { answer } = await walk(suite, aBrowser(suite), urlOf(suite, request));
    const validate = (of: Party): Promise<URLSearchParams> =>
      oauth.validateJwtAuthResponse(suite.as, asClient(suite, of), answer!, request['state'], insecure);
    await expect(validate(at())).rejects.toMatchObject({ error: 'login_required' });
    await expect(validate(other)).rejects.toThrow(/"aud"/);
  });
});

test('JARM §2.2, §2.4: an encrypted answer opens with the key of its client, and passes the checks with no other', async () => {
  const { privateKey, jwk } = await anEncryptionKey('ECDH-ES');
  const encrypted = { jwks: jwksOf(jwk), authorization_encrypted_response_alg: 'ECDH-ES' as const };
  const made = await aClient(suite.test, { redirect_uris: [CALLBACK], response_modes: ['jwt'], ...encrypted });
  const of: Party = { ...partyOf(made), response_mode: 'jwt' };
  const request = requestOf(of);
  const { answer } = await walk(suite, aBrowser(suite), urlOf(suite, request));
  const read = (key: jose.CryptoKey): Promise<URLSearchParams> =>
    oauth.validateJwtAuthResponse(suite.as, asClient(suite, of), answer!, request['state'], {
      ...insecure,
      [oauth.jweDecrypt]: async (jwe) => (await opened(jwe, key)).text,
    });
  expect((await read(privateKey)).get('code')).toMatch(/^[0-9a-z]+_[\w-]{43}$/);
  await expect(read((await anEncryptionKey('ECDH-ES')).privateKey)).rejects.toThrow(/decryption/);
});

describe.each(modes)('answers by %s', (mode) => {
  const at = (): Party => ({ ...party, response_mode: mode === 'form_post' ? mode : undefined });

  test('OpenID Connect Core §3.1, §3.1.2.4, §3.1.2.5, §3.1.3.3, §3.1.3.6: a stranger signs in, allows, and comes back with a code for tokens (oidcc-server)', async () => {
    const browser = aBrowser(suite);
    const { shown, code, tokens, headers, claims, header } = await authorize(suite, at(), browser, {
      prompt: 'consent',
    });
    expect(shown).toEqual(['login', 'consent']);
    // RFC 6749 §5.1
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: expect.any(Number), scope: 'openid' });
    for (const secret of [code, tokens.access_token, tokens.refresh_token!])
      expect(entropyOf(secret)).toBeGreaterThan(128);
    // §2
    expect(claims.sub).toMatch(/^[\x21-\x7E]{1,255}$/);
    expect(claims).toMatchObject({ iss: suite.issuer, aud: party.client_id, acr: '1', auth_time: expect.any(Number) });
    expect(Number.isInteger(claims.exp) && Number.isInteger(claims.iat)).toBe(true);
    // Others would be more than was asked for.
    const known = 'acr amr at_hash aud auth_time exp iat iss nonce sid sub';
    expect(Object.keys(claims).toSorted().join(' ')).toBe(known);
    // §3.1.3.6: the left half of the hash.
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(tokens.access_token)));
    expect(claims['at_hash']).toBe(hash.subarray(0, 16).toString('base64url'));
    expect(header).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(await userinfo(suite, at(), { shown, code, tokens, headers, claims, header })).toEqual({ sub: claims.sub });
  });

  test('OpenID Connect Core §3.1.2.6: a request without response_type comes back as invalid_request (oidcc-response-type-missing)', async () => {
    const request = requestOf(at(), { response_type: undefined });
    const arrival = await walk(suite, aBrowser(suite), urlOf(suite, request));
    expect(refusalIn(arrival)).toEqual({ error: 'invalid_request', state: request['state'], iss: suite.issuer });
  });

  test('OpenID Connect Core §10.1: the signature is of the one key in the JWKS that kid names (oidcc-idtoken-signature)', async () => {
    const { tokens, header } = await authorize(suite, at(), visitor);
    const jwks = (await (await fetch(suite.as.jwks_uri!)).json()) as jose.JSONWebKeySet;
    expect(jwks.keys.filter(({ kid }) => kid === header.kid)).toMatchObject([{ kty: 'RSA', use: 'sig', alg: 'RS256' }]);
    const currentDate = suite.test.clock.now();
    await jose.jwtVerify(tokens.id_token!, jose.createLocalJWKSet(jwks), { algorithms: ['RS256'], currentDate });
  });

  test('OpenID Connect Core §5.3.1, §5.3.2: GET, POST with the header, and POST with a form are one (oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body)', async () => {
    const { tokens, claims } = await authorize(suite, at(), visitor);
    const url = suite.as.userinfo_endpoint!;
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const body = new URLSearchParams({ access_token: tokens.access_token });
    const said = { sub: claims.sub };
    for (const init of [{ headers }, { method: 'POST', headers }, { method: 'POST', body }]) {
      const answer = await fetch(url, init);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await answer.json()).toEqual(said);
    }
  });

  test('OpenID Connect Core §3.1.2.1: without a nonce there is none in the ID token (oidcc-ensure-request-without-nonce-succeeds-for-code-flow)', async () => {
    const { claims } = await authorize(suite, at(), visitor, { nonce: undefined });
    expect(claims).not.toHaveProperty('nonce');
  });

  test.each([
    ['profile', PROFILE],
    ['email', EMAIL],
    ['address', ADDRESS],
    ['phone', PHONE],
    ['profile email address phone', { ...PROFILE, ...EMAIL, ...ADDRESS, ...PHONE }],
  ])(
    'OpenID Connect Core §5.1, §5.1.1, §5.4: scope %s tells its claims at userinfo, each of its type, and no ID token repeats them (oidcc-scope-profile, oidcc-scope-email, oidcc-scope-address, oidcc-scope-phone, oidcc-scope-all)',
    async (scope, claims) => {
      const authorized = await authorize(suite, at(), visitor, { scope: `openid ${scope}` });
      const { sub, ...told } = await userinfo(suite, at(), authorized);
      expect(told).toEqual(claims);
      expect(sub).toBe(authorized.claims.sub);
      expect(Object.keys(authorized.claims).filter((name) => name in claims)).toEqual([]);
    },
  );

  test('OpenID Connect Core §3.1.2.1: openid need not stand first in scope (oidcc-ensure-other-scope-order-succeeds)', async () => {
    const { tokens } = await authorize(suite, at(), visitor, { scope: 'profile openid' });
    expect(tokens.scope!.split(' ').toSorted()).toEqual(['openid', 'profile']);
  });

  test.each([
    ['display=page', { display: 'page' }],
    ['display=popup', { display: 'popup' }],
    ['login_hint', { login_hint: 'somebody@example.test' }],
    ['ui_locales', { ui_locales: 'se fr-CA' }],
    ['claims_locales', { claims_locales: 'se fr-CA' }],
    ['a parameter nobody knows', { extra: 'foobar' }],
  ])(
    'OpenID Connect Core §3.1.2.1: no request fails for %s (oidcc-display-page, oidcc-display-popup, oidcc-login-hint, oidcc-ui-locales, oidcc-claims-locales, oidcc-ensure-request-with-unknown-parameter-succeeds)',
    async (_what, parameters) => {
      const { shown } = await authorize(suite, at(), visitor, parameters);
      expect(shown).toEqual([]);
    },
  );

  test('OpenID Connect Core §2, §3.1.2.1: one of the acr_values of our metadata is met, and told (oidcc-ensure-request-with-acr-values-succeeds)', async () => {
    const acr_values = suite.as.acr_values_supported!;
    const { claims } = await authorize(suite, at(), visitor, { acr_values: acr_values.join(' ') });
    expect(acr_values).toContain(claims['acr']);
  });

  test('OpenID Connect Core §3.1.2.1, §3.1.2.3: prompt=login asks somebody signed in again, and auth_time is the new time (oidcc-prompt-login)', async () => {
    const first = await authorize(suite, at(), visitor);
    suite.test.clock.advance(2);
    const second = await authorize(suite, at(), visitor, { prompt: 'login' });
    expect(second.shown).toEqual(['login']);
    expect(second.claims.auth_time).toBeGreaterThan(first.claims.auth_time!);
    expect(second.claims.sub).toBe(first.claims.sub);
  });

  test('OpenID Connect Core §3.1.2.3, §3.1.2.6: prompt=none tells a client that nobody is signed in (oidcc-prompt-none-not-logged-in)', async () => {
    const request = requestOf(at(), { prompt: 'none' });
    const arrival = await walk(suite, aBrowser(suite), urlOf(suite, request));
    expect(arrival.shown).toEqual([]);
    expect(refusalIn(arrival)).toEqual({ error: 'login_required', state: request['state'], iss: suite.issuer });
  });

  test('OpenID Connect Core §3.1.2.1: prompt=none is answered for whom is signed in, by an id_token_hint too (oidcc-prompt-none-logged-in, oidcc-id-token-hint)', async () => {
    const first = await authorize(suite, at(), visitor);
    for (const hint of [{}, { id_token_hint: first.tokens.id_token! }]) {
      const { shown, claims } = await authorize(suite, at(), visitor, { prompt: 'none', ...hint });
      expect(shown).toEqual([]);
      expect(claims).toMatchObject({ sub: first.claims.sub, auth_time: first.claims.auth_time });
    }
  });

  test('OpenID Connect Core §3.1.2.1: max_age=1 asks again two seconds later, and auth_time is there and new (oidcc-max-age-1)', async () => {
    const first = await authorize(suite, at(), visitor);
    suite.test.clock.advance(2);
    const { shown, claims } = await authorize(suite, at(), visitor, { max_age: '1' });
    expect(shown).toEqual(['login']);
    expect(claims.auth_time).toBeGreaterThan(first.claims.auth_time!);
    expect(claims.auth_time).toBe(suite.test.clock.now().getTime() / 1000);
  });

  test('OpenID Connect Core §3.1.2.1: max_age=10000 asks nobody, and auth_time is that of the one sign-in (oidcc-max-age-10000)', async () => {
    const first = await authorize(suite, at(), visitor);
    suite.test.clock.advance(1);
    const { shown, claims } = await authorize(suite, at(), visitor, { max_age: '10000' });
    expect(shown).toEqual([]);
    expect(claims).toMatchObject({ sub: first.claims.sub, auth_time: first.claims.auth_time });
  });

  test.each([0, 30])(
    'OpenID Connect Core §3.1.3.2, §5.3.3: a code used again after %i seconds is invalid_grant, and its access token ends (oidcc-codereuse, oidcc-codereuse-30seconds)',
    async (seconds) => {
      const first = await authorize(suite, at(), visitor);
      expect(await userinfoStatus(first.tokens.access_token)).toBe('200');
      suite.test.clock.advance(seconds);
      const as = suite.as;
      const client = asClient(suite, party);
      const again = new URLSearchParams({ code: first.code, iss: suite.issuer });
      const validated = oauth.validateAuthResponse(as, client, again, oauth.expectNoState);
      const answer = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        party.auth,
        validated,
        CALLBACK,
        oauth.nopkce,
        insecure,
      );
      await expect(oauth.processAuthorizationCodeResponse(as, client, answer)).rejects.toMatchObject({
        error: 'invalid_grant',
        status: 400,
      });
      expect(await userinfoStatus(first.tokens.access_token)).toBe('401 invalid_token');
    },
  );

  test('OpenID Connect Core §3.1.2.1: a redirect_uri that is not registered is told to the person alone (oidcc-ensure-registered-redirect-uri)', async () => {
    const redirect_uri = `${CALLBACK}/${randomBytes(6).toString('base64url')}`;
    expectErrorPage(await walk(suite, aBrowser(suite), urlOf(suite, requestOf(at(), { redirect_uri }))));
  });

  test('OpenID Connect Core §3.1.2.1: a request POSTed from the client’s page is one sent by GET (oidcc-ensure-post-request-succeeds)', async () => {
    const request = requestOf(at());
    // The browser keeps our SameSite cookies to itself.
    const posted = await fetch(suite.as.authorization_endpoint!, {
      method: 'POST',
      headers: { origin: SUITE, 'sec-fetch-site': 'cross-site', accept: 'text/html' },
      body: new URLSearchParams(request),
      redirect: 'manual',
    });
    expect(posted.status).toBe(303);
    const { claims } = await redeem(suite, at(), await walk(suite, visitor, posted), request);
    expect(claims.nonce).toBe(request['nonce']);
  });

  test('OpenID Connect Core §9: a secret in the form body is as good as one in a Basic header (oidcc-server-client-secret-post)', async () => {
    const { claims } = await authorize(suite, { ...other, response_mode: at().response_mode }, visitor);
    expect(claims.aud).toBe(other.client_id);
  });

  test.each([
    ['by value', { request: 'object' }],
    ['at a registered request_uri', { request_uri: `${SUITE}/unsigned` }],
  ])(
    'OpenID Connect Core §6.1: an unsigned request object %s is in no metadata, and refused with invalid_request_object (oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported, oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported)',
    async (_how, object) => {
      expect(suite.as.request_object_signing_alg_values_supported).not.toContain('none');
      const request = requestOf(at());
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...request, iss: party.client_id, aud: suite.issuer })).toString('base64url')}.`;
      const { state: _state, ...outside } = request;
      const sent = 'request' in object ? { ...outside, request: unsigned } : { ...outside, ...object };
      const arrival = await walk(suite, visitor, urlOf(suite, sent));
      expect(refusalIn(arrival)).toEqual({ error: 'invalid_request_object', iss: suite.issuer });
    },
  );

  test('OpenID Connect Core §6.1, §6.3: the redirect_uri inside a signed object counts, one outside that is not registered does not (oidcc-ensure-request-object-with-redirect-uri)', async () => {
    const request = requestOf(at());
    const object = await new jose.SignJWT({ ...request, iss: party.client_id, aud: suite.issuer })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(keys.privateKey);
    const outside = { ...request, redirect_uri: `${CALLBACK}/elsewhere`, request: object };
    const { claims } = await redeem(suite, at(), await walk(suite, visitor, urlOf(suite, outside)), request);
    expect(claims.nonce).toBe(request['nonce']);
  });

  test('OpenID Connect Core §5.5.1: an essential claim is told at userinfo, and only there (oidcc-claims-essential)', async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const authorized = await authorize(suite, at(), visitor, { claims });
    expect(await userinfo(suite, at(), authorized)).toEqual({ sub: authorized.claims.sub, name: PROFILE.name });
    expect(authorized.claims).not.toHaveProperty('name');
  });

  test('OpenID Connect Core §11, §12.1, §12.2: offline access is refreshed; the new ID token is of the same sign-in, the token of the client alone (oidcc-refresh-token)', async () => {
    const scope = 'openid offline_access';
    const first = await authorize(suite, at(), visitor, { scope, prompt: 'consent' });
    expect(first.shown).toEqual(['consent']);
    suite.test.clock.advance(1);
    const { as } = suite;
    const mine = asClient(suite, party);
    const parameters = { additionalParameters: { scope }, ...insecure };
    const response = await oauth.refreshTokenGrantRequest(
      as,
      mine,
      party.auth,
      first.tokens.refresh_token!,
      parameters,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    const second = await oauth.processRefreshTokenResponse(as, mine, response);
    expect(second).toMatchObject({ token_type: 'bearer', scope, expires_in: expect.any(Number) });
    expect(second.access_token).not.toBe(first.tokens.access_token);
    const { iss, sub, aud, auth_time, iat } = oauth.getValidatedIdTokenClaims(second)!;
    const { claims } = first;
    expect({ iss, sub, aud, auth_time }).toEqual({
      iss: claims.iss,
      sub: claims.sub,
      aud: claims.aud,
      auth_time: claims.auth_time,
    });
    expect(iat).toBeGreaterThan(claims.iat);
    expect(await userinfoStatus(second.access_token)).toBe('200');

    const theirs = asClient(suite, other);
    const stolen = await oauth.refreshTokenGrantRequest(as, theirs, other.auth, second.refresh_token!, insecure);
    await expect(oauth.processRefreshTokenResponse(as, theirs, stolen)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  test('RFC 7636 §4.6: a code with PKCE is redeemed with its verifier, and with no other (oidcc-ensure-request-with-valid-pkce-succeeds)', async () => {
    const code_verifier = oauth.generateRandomCodeVerifier();
    const code_challenge = await oauth.calculatePKCECodeChallenge(code_verifier);
    const request = requestOf(at(), { code_challenge, code_challenge_method: 'S256' });
    const { answer } = await walk(suite, visitor, urlOf(suite, request));
    const validated = oauth.validateAuthResponse(suite.as, asClient(suite, party), answer!, request['state']);
    const send = (verifier: string): Promise<Response> =>
      oauth.authorizationCodeGrantRequest(
        suite.as,
        asClient(suite, party),
        party.auth,
        validated,
        CALLBACK,
        verifier,
        insecure,
      );
    expect((await send(oauth.generateRandomCodeVerifier())).status).toBe(400);
    expect((await send(code_verifier)).status).toBe(200);
  });
});

test('OpenID Connect Core §3.1.3.4: what fails at the token endpoint is 400 or 401 with a JSON error that is not kept', async () => {
  const unknown = await postTo(suite.as.token_endpoint!, {
    grant_type: 'authorization_code',
    code: 'x',
    client_id: 'y',
  });
  expect(summary(unknown)).toBe('401 invalid_client');
  expect(unknown.headers).toMatchObject({ 'cache-control': 'no-store' });
  expect(unknown.headers['content-type']).toMatch(/^application\/json/);
});

/** The status, and the error of the challenge (RFC 6750 §3). */
async function userinfoStatus(token: string): Promise<string> {
  const answer = await fetch(suite.as.userinfo_endpoint!, { headers: { authorization: `Bearer ${token}` } });
  await answer.body?.cancel();
  const challenge = /^Bearer .*error="(\w+)"/.exec(answer.headers.get('www-authenticate') ?? '');
  return [answer.status, ...(challenge ? [challenge[1]] : [])].join(' ');
}

/** Shannon's, in bits, as the suite estimates it. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / text.length);
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0) * text.length;
}
