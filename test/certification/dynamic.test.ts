/** The modules of the certification profiles Config OP, Dynamic OP (code) and Third-Party-Initiated Login OP. */
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
  redeem,
  decodeHtml,
  requestOf,
  SCOPES,
  sendJson,
  startSuite,
  SUITE,
  urlOf,
  userinfo,
  walk,
  type Party,
  type Suite,
} from '../support/certification.ts';
import { PNG } from '../support/images.ts';
import type { Visitor } from '../support/visitor.ts';

let suite: Suite;
let visitor: Visitor;
let key: jose.GenerateKeyPairResult;
let jwks: { keys: jose.JWK[] };
beforeAll(async () => {
  suite = await startSuite({ REGISTRATION: 'open', REGISTRATION_SCOPE: SCOPES, ID_TOKEN_CLAIMS: 'minimal' });
  key = await jose.generateKeyPair('RS256', { extractable: true });
  // As the suite does it: without a kid.
  jwks = { keys: [{ ...(await jose.exportJWK(key.publicKey)), alg: 'RS256', use: 'sig' }] };
  visitor = await aBrowser(suite).signIn(suite.person.username);
});
afterAll(() => suite.close());

type Metadata = Record<string, unknown>;

/** Registers as the suite does, with what the module adds; undefined takes a member away. */
const register = (metadata: Metadata = {}) =>
  sendJson(suite.as.registration_endpoint!, 'POST', {
    body: {
      client_name: 'Certification suite',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      redirect_uris: [CALLBACK],
      contacts: ['certification@suite.example.test'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks,
      ...metadata,
    },
  });

async function registered(metadata: Metadata = {}): Promise<Party & { document: Metadata }> {
  const { status, media_type, json } = await register(metadata);
  expect({ status, media_type, error: json['error_description'] }).toEqual({
    status: 201,
    media_type: 'application/json',
    error: undefined,
  });
  const [redirect_uri] = json['redirect_uris'] as string[];
  const auth = oauth.PrivateKeyJwt({ key: key.privateKey });
  return { client_id: json['client_id'] as string, redirect_uri: redirect_uri!, auth, document: json };
}

const expectRefused = async (metadata: Metadata, error: string): Promise<void> => {
  const { status, media_type, json } = await register(metadata);
  expect({ status, media_type, error: json['error'] }).toEqual({ status: 400, media_type: 'application/json', error });
};

/** Where the link of a page leads that sends nobody anywhere by itself. */
const onwardIn = (page: string): string => decodeHtml(/id="onward" href="([^"]*)"/.exec(page)![1]!);

describe('discovery', () => {
  test('OpenID Connect Discovery §3, §4.2, §4.3: the metadata says what it must, and each endpoint where it is (oidcc-discovery-endpoint-verification)', async () => {
    const url = `${suite.issuer}/.well-known/openid-configuration`;
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const metadata = (await answer.json()) as Record<string, unknown>;
    const holding = (...values: string[]): unknown => expect.arrayContaining(values);
    expect(metadata).toMatchObject({
      issuer: suite.issuer,
      response_types_supported: ['code'],
      response_modes_supported: holding('query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'),
      grant_types_supported: holding('authorization_code', 'refresh_token'),
      subject_types_supported: ['public', 'pairwise'],
      id_token_signing_alg_values_supported: holding('RS256'),
      userinfo_signing_alg_values_supported: holding('RS256'),
      request_object_signing_alg_values_supported: holding('RS256'),
      token_endpoint_auth_methods_supported: holding('client_secret_basic', 'client_secret_post', 'private_key_jwt'),
      scopes_supported: holding('openid', 'profile', 'email', 'address', 'phone', 'offline_access'),
      claims_supported: holding('sub', 'name', 'email', 'address', 'phone_number', 'updated_at', 'auth_time', 'acr'),
      claims_parameter_supported: true,
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    });
    // §3: https, or whatever the issuer is on: here this machine.
    const endpoints = Object.entries(metadata).filter(([name]) => /_(?:endpoint|uri)$/.test(name));
    expect(endpoints.map(([name]) => name)).toEqual(
      expect.arrayContaining(['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']),
    );
    for (const [, endpoint] of endpoints) expect(String(endpoint).startsWith(`${suite.issuer}/`)).toBe(true);
    for (const scope of metadata['scopes_supported'] as string[]) expect(scope).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/);
    for (const tag of metadata['ui_locales_supported'] as string[]) {
      expect(Intl.getCanonicalLocales(tag)).toEqual([tag]);
    }
  });

  test('OpenID Connect Discovery §3: implicit flow, which a Dynamic OP of Core §15.2 has beside code, is nowhere offered and cannot be registered', async () => {
    expect(suite.as.grant_types_supported).not.toContain('implicit');
    await expectRefused({ response_types: ['id_token'], grant_types: ['implicit'] }, 'invalid_client_metadata');
  });

  test('OpenID Connect Core §10.1, RFC 7517 §4.5: each key of the JWKS has its own kid, and nothing that is not public', async () => {
    const { keys } = (await (await fetch(suite.as.jwks_uri!)).json()) as jose.JSONWebKeySet;
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    const members = { RSA: ['n', 'e'], EC: ['crv', 'x', 'y'], OKP: ['crv', 'x'] } as Record<string, string[]>;
    for (const { kty, ...jwk } of keys) {
      expect(Object.keys(jwk).toSorted()).toEqual([...members[kty!]!, 'alg', 'kid', 'use'].toSorted());
      expect(Object.values(jwk).every((value) => typeof value === 'string' && /^[\w-]+$/.test(value))).toBe(true);
    }
  });
});

describe('registration', () => {
  test('OpenID Connect Registration §3.1, §3.2, §4: a client registers, signs a person in, is read, and is deleted (oidcc-server)', async () => {
    const party = await registered();
    expect(party.document).toMatchObject({
      client_name: 'Certification suite',
      redirect_uris: [CALLBACK],
      registration_access_token: expect.any(String),
      registration_client_uri: `${suite.issuer}/register/${party.client_id}`,
      client_id_issued_at: expect.any(Number),
    });
    expect(party.document).not.toHaveProperty('client_secret');
    const { shown } = await authorize(suite, party, visitor);
    expect(shown).toEqual(['consent']);
    const url = party.document['registration_client_uri'] as string;
    const token = party.document['registration_access_token'] as string;
    expect(await sendJson(url, 'GET', { token })).toMatchObject({ status: 200, json: { client_id: party.client_id } });
    expect(await sendJson(url, 'DELETE', { token })).toEqual({ status: 204, media_type: '', json: {} });
    expect(await sendJson(url, 'GET', { token })).toMatchObject({ status: 401 });
  });

  test('OpenID Connect Registration §3.2: a secret comes with the time it expires, and 0 is never', async () => {
    const { json } = await register({ token_endpoint_auth_method: 'client_secret_basic', jwks: undefined });
    expect(json).toMatchObject({ client_secret: expect.stringMatching(/^[\w-]{43}$/), client_secret_expires_at: 0 });
  });

  test('OpenID Connect Core §5.4: a client that registered itself is told the claims of every scope too (oidcc-scope-all)', async () => {
    const party = await registered();
    const authorized = await authorize(suite, party, visitor, { scope: 'openid profile email address phone' });
    expect(await userinfo(suite, party, authorized)).toMatchObject({ ...EVERYTHING, email_verified: true });
    expect(Object.keys(authorized.claims).filter((name) => name in EVERYTHING)).toEqual([]);
  });

  test('OpenID Connect Core §15.1: an ID token is signed with RS256 for whoever asks for it (oidcc-idtoken-rs256)', async () => {
    const { header } = await authorize(suite, await registered({ id_token_signed_response_alg: 'RS256' }), visitor);
    expect(header.alg).toBe('RS256');
  });

  test('OpenID Connect Registration §3.3: an ID token without a signature is in no metadata, and cannot be registered (oidcc-idtoken-unsigned)', async () => {
    expect(suite.as.id_token_signing_alg_values_supported).not.toContain('none');
    await expectRefused({ id_token_signed_response_alg: 'none' }, 'invalid_client_metadata');
  });

  test('OpenID Connect Core §5.3.2: userinfo signed with RS256 is application/jwt, with iss, aud and sub, and no nonce (oidcc-userinfo-rs256)', async () => {
    const party = await registered({ userinfo_signed_response_alg: 'RS256' });
    const { tokens, claims } = await authorize(suite, party, visitor);
    const answer = await oauth.userInfoRequest(suite.as, asClient(suite, party), tokens.access_token, insecure);
    expect(answer.headers.get('content-type')).toBe('application/jwt');
    const { payload } = await jose.jwtVerify(
      await answer.text(),
      jose.createRemoteJWKSet(new URL(suite.as.jwks_uri!)),
      { algorithms: ['RS256'], issuer: suite.issuer, audience: party.client_id },
    );
    expect(payload.sub).toBe(claims.sub);
    expect(payload).not.toHaveProperty('nonce');
  });

  test('OpenID Connect Core §3.1.2.1: a request without redirect_uri is told to the person alone (oidcc-ensure-redirect-uri-in-authorization-request)', async () => {
    const request = requestOf(await registered(), { redirect_uri: undefined });
    expectErrorPage(await walk(suite, visitor, urlOf(suite, request)));
  });

  test('RFC 6749 §3.1.2: a registered query stays, and the answer comes behind it (oidcc-redirect-uri-query-OK)', async () => {
    const party = await registered({ redirect_uris: [`${CALLBACK}?foo=bar`] });
    const request = requestOf(party);
    const arrival = await walk(suite, visitor, urlOf(suite, request));
    expect(arrival.body.startsWith(`${CALLBACK}?foo=bar&code=`)).toBe(true);
    await redeem(suite, party, arrival, request);
  });

  test.each([
    ['is another', '?foo=bar', '?foo=baz'],
    ['is one more', '', '?foo=bar'],
    ['is longer', '?foo=bar', '?foo=bar&more=1'],
  ])(
    'RFC 6749 §3.1.2.3: a query that %s is not the registered redirect_uri (oidcc-redirect-uri-query-mismatch, oidcc-redirect-uri-query-added)',
    async (_how, known, sent) => {
      const party = await registered({ redirect_uris: [CALLBACK + known] });
      const request = requestOf(party, { redirect_uri: CALLBACK + sent });
      expectErrorPage(await walk(suite, visitor, urlOf(suite, request)));
    },
  );

  test('OpenID Connect Registration §3.3: a redirect URI with a fragment is invalid_redirect_uri (oidcc-redirect-uri-regfrag)', async () => {
    await expectRefused({ redirect_uris: [`${CALLBACK}#foobar`] }, 'invalid_redirect_uri');
  });

  test('OpenID Connect Registration §2: logo, policy and terms of a client are on the pages for sign-in and consent (oidcc-registration-logo-uri, oidcc-registration-policy-uri, oidcc-registration-tos-uri)', async () => {
    suite.documents.set(`${SUITE}/logo.png`, ['image/png', PNG]);
    const client_uri = `${SUITE}/`;
    const [policy_uri, tos_uri] = [`${SUITE}/policy.html`, `${SUITE}/terms.html`];
    const party = await registered({ client_uri, policy_uri, tos_uri, logo_uri: `${SUITE}/logo.png` });
    await suite.turn('client-logos');
    for (const [browser, step] of [
      [aBrowser(suite), 'login'],
      [visitor, 'consent'],
    ] as const) {
      const answer = await browser.get(urlOf(suite, requestOf(party)));
      await answer.body?.cancel();
      const location = answer.headers.get('location')!;
      expect(location.split('/').at(-1)).toBe(step);
      const page = await (await browser.get(location)).text();
      for (const part of [`href="${policy_uri}"`, `href="${tos_uri}"`]) expect(page).toContain(part);
      const [, logo = ''] = /<img[^>]*src="([^"]+)"/.exec(page) ?? [];
      const served = await fetch(new URL(logo, suite.issuer));
      expect(served.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await served.arrayBuffer()).equals(PNG)).toBe(true);
    }
  });

  test('OpenID Connect Core §9: the keys of private_key_jwt may be at a jwks_uri (oidcc-registration-jwks-uri)', async () => {
    suite.documents.set(`${SUITE}/jwks-uri`, ['application/json', JSON.stringify(jwks)]);
    const party = await registered({ jwks: undefined, jwks_uri: `${SUITE}/jwks-uri` });
    expect((await authorize(suite, party, visitor)).claims.aud).toBe(party.client_id);
  });

  test('OpenID Connect Registration §5: a sector lists every redirect URI of a client, or it is none of it (oidcc-registration-sector-uri, oidcc-registration-sector-bad)', async () => {
    const metadata = { subject_type: 'pairwise', sector_identifier_uri: `${SUITE}/redirect_uris.json` };
    const listing = (uris: string[]) =>
      suite.documents.set(`${SUITE}/redirect_uris.json`, ['application/json', JSON.stringify(uris)]);
    listing([CALLBACK]);
    const { document } = await registered(metadata);
    expect(document).toMatchObject(metadata);
    listing([`${SUITE}/other`]);
    await expectRefused(metadata, 'invalid_client_metadata');
  });
});

describe('keys and request objects', () => {
  test('OpenID Connect Core §10.1.1: after a rotation there is a new key to sign with, and the old one beside it (oidcc-server-rotate-keys)', async () => {
    const signing = async (): Promise<string[]> => {
      const { keys } = (await (await fetch(suite.as.jwks_uri!)).json()) as jose.JSONWebKeySet;
      return keys.filter(({ use, alg }) => use === 'sig' && alg === 'RS256').map(({ kid }) => kid!);
    };
    const before = await signing();
    suite.test.clock.advance(suite.test.deps.config.KEY_ROTATION_INTERVAL);
    await suite.turn('rotate-keys');
    const after = await signing();
    expect(after).toHaveLength(before.length + 1);
    expect(after).toEqual(expect.arrayContaining(before));
    // A day of the clock has passed for the people, too.
    await visitor.signIn(suite.person.username);
    expect(before).toContain((await authorize(suite, await registered(), visitor)).header.kid);
  });

  test('OpenID Connect Core §10.1.1: a client may change its keys, and refresh with the new ones a minute later (oidcc-refresh-token-rp-key-rotation)', async () => {
    const publish = async (kid: string): Promise<oauth.ClientAuth> => {
      const { publicKey, privateKey } = await jose.generateKeyPair('RS256', { extractable: true });
      const keys = [{ ...(await jose.exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }];
      suite.documents.set(`${SUITE}/rotating`, ['application/json', JSON.stringify({ keys })]);
      return oauth.PrivateKeyJwt({ key: privateKey, kid });
    };
    const auth = await publish('first');
    const grant_types = ['authorization_code', 'refresh_token'];
    const party = { ...(await registered({ jwks: undefined, jwks_uri: `${SUITE}/rotating`, grant_types })), auth };
    const scope = 'openid offline_access';
    const { tokens } = await authorize(suite, party, visitor, { scope, prompt: 'consent' });
    const second = await publish('second');
    suite.test.clock.advance(60);
    const client = asClient(suite, party);
    const answer = await oauth.refreshTokenGrantRequest(suite.as, client, second, tokens.refresh_token!, insecure);
    const refreshed = await oauth.processRefreshTokenResponse(suite.as, client, answer);
    expect(refreshed.scope).toBe(scope);
  });

  test('OpenID Connect Core §6.2: a request signed with RS256 at a registered request_uri is the request (oidcc-request-uri-signed-rs256)', async () => {
    const request_uri = `${SUITE}/requests/one`;
    const party = await registered({ request_uris: [request_uri], request_object_signing_alg: 'RS256' });
    const request = requestOf(party);
    const sign = (members: Record<string, unknown>) =>
      new jose.SignJWT({ ...members, iss: party.client_id, aud: suite.issuer })
        .setProtectedHeader({ alg: 'RS256' })
        .sign(key.privateKey);
    suite.documents.set(request_uri, ['application/jose', await sign(request)]);
    const { response_type, client_id, scope } = request;
    const outside = { response_type: response_type!, client_id: client_id!, scope: scope!, request_uri };
    const { claims } = await redeem(suite, party, await walk(suite, visitor, urlOf(suite, outside)), request);
    expect(claims.nonce).toBe(request['nonce']);
  });

  test('OpenID Connect Core §6.2: an unsigned one at a registered request_uri is refused (oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported)', async () => {
    const request_uri = `${SUITE}/requests/unsigned`;
    const party = await registered({ request_uris: [request_uri] });
    const request = requestOf(party);
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    suite.documents.set(request_uri, ['application/jose', `${part({ alg: 'none' })}.${part(request)}.`]);
    // RFC 9700 §4.11.2: the person, who never used this client, goes there by the link of the page.
    const { status, body } = await walk(suite, visitor, urlOf(suite, { ...request, request_uri }));
    expect(status).toBe(400);
    expect(new URL(onwardIn(body)).searchParams.get('error')).toBe('invalid_request_object');
    expect(new URL(onwardIn(body)).searchParams.get('iss')).toBe(suite.issuer);
  });

  test.each([
    ['the issuer', () => suite.issuer],
    ['the token endpoint', () => suite.as.token_endpoint!],
  ])(
    'OpenID Connect Core §9: the audience of an assertion may be %s (oidcc-ensure-client-assertion-with-iss-aud-succeeds)',
    async (_what, audience) => {
      const modified = {
        [oauth.modifyAssertion]: (_header: unknown, payload: Record<string, unknown>) => {
          payload['aud'] = audience();
        },
      };
      const party = { ...(await registered()), auth: oauth.PrivateKeyJwt({ key: key.privateKey }, modified) };
      expect((await authorize(suite, party, visitor)).claims.aud).toBe(party.client_id);
    },
  );
});

describe('third-party-initiated login', () => {
  test('OpenID Connect Core §4: initiate_login_uri is registered, told again, and where /initiate leads with iss (oidcc-3rd_party-init-login)', async () => {
    const initiate_login_uri = `${SUITE}/initiate?from=op`;
    const { document, client_id } = await registered({ initiate_login_uri });
    expect(document['initiate_login_uri']).toBe(initiate_login_uri);
    const token = document['registration_access_token'] as string;
    const read = await sendJson(document['registration_client_uri'] as string, 'GET', { token });
    expect(read).toMatchObject({ status: 200, media_type: 'application/json', json: { initiate_login_uri } });

    const target_link_uri = `${SUITE}/deep/link`;
    const query = new URLSearchParams({ client_id, login_hint: 'ada', target_link_uri }).toString();
    const answer = await visitor.get(`${suite.issuer}/initiate?${query}`);
    const told = new URLSearchParams({ iss: suite.issuer, login_hint: 'ada', target_link_uri }).toString();
    // RFC 9700 §4.11.2: by a click, the first time.
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(onwardIn(await answer.text())).toBe(`${initiate_login_uri}&${told}`);
  });

  test('OpenID Connect Registration §2: an initiate_login_uri that is not https is refused (oidcc-3rd_party-init-login-nohttps)', async () => {
    await expectRefused({ initiate_login_uri: 'http://suite.example.test/initiate' }, 'invalid_client_metadata');
  });
});
