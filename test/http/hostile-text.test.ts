/**
 * Text that is none, in everything that anybody can send: U+0000, half a surrogate pair, bytes that are not UTF-8, line breaks
 * and escapes. No door answers 5xx, and nothing of it is kept as something else. The admin API has test/admin/generated.test.ts.
 */
import { generateKeyPair, exportJWK, SignJWT, base64url } from 'jose';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { METADATA_MEMBERS } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  credentials,
  formTokenOf,
  PASSWORD,
  REDIRECT_URI,
  TestBrowser,
  type AClient,
} from '../support/fixtures.ts';

const ISSUERS = 'https://statements.example.test';
let at: TestApp;
let client: AClient;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let seen = 0;
beforeAll(async () => {
  keys = await generateKeyPair('ES256');
  const jwks = { keys: [await exportJWK(keys.publicKey)] };
  at = await testApp({
    config: {
      REGISTRATION: 'open',
      SELF_REGISTRATION: 'on',
      EMAIL_SIGN_IN: 'on',
      SOFTWARE_STATEMENT_ISSUERS: [{ issuer: ISSUERS, jwks_uri: `${ISSUERS}/jwks` }],
    },
    fetch: async () => ({
      status: 200,
      media_type: 'application/json',
      headers: new Headers(),
      bytes: Buffer.from(JSON.stringify(jwks)),
      text: JSON.stringify(jwks),
    }),
  });
  client = await aClient(at, { jwks: jwks as never, skip_consent: true });
});
afterAll(() => at.close());
// A defect is answered 500 and logged as an error; a warning is a database that is away.
afterEach(() => {
  const worse = at.logged.slice(seen).filter((line) => (JSON.parse(line) as { level: number }).level > 30);
  seen = at.logged.length;
  expect(worse).toEqual([]);
});

/** As they stand in a URL or a form. Those that JSON can escape come below. */
const BYTES = ['%00', 'a%00b', '%ED%A0%80', '%FF', '%C0%80', '%1B%5B31m', 'a%0D%0Ab', '%E2%80%AE'];
/** As JSON escapes them. */
const ESCAPED = ['\\u0000', 'a\\u0000b', '\\ud800', 'x\\udfff'];
const FORM = 'application/x-www-form-urlencoded';

const words = (text: string): string[] => text.trim().split(/\s+/);
const PARAMETERS = words(`
  grant_type code redirect_uri code_verifier refresh_token device_code resource scope
  client_id client_secret client_assertion client_assertion_type token token_type_hint response_type response_mode
  state nonce prompt max_age login_hint id_token_hint claims acr_values
  code_challenge code_challenge_method request request_uri display ui_locales post_logout_redirect_uri target_link_uri
  iss user_code username password form_token action account sign_out
  outcome access_token made_up`);
const QUERIES = [
  '/authorize',
  '/logout',
  '/logout/done',
  '/device',
  '/device/done',
  '/initiate',
  '/userinfo',
  '/login',
];
const FORMS = words(`
  /token /revoke /introspect /par /device_authorization /userinfo
  /authorize /logout /device /login /account`);

/** A request that means something but for one parameter. */
const formWith = (name: string, raw: string): string => {
  const usual = new URLSearchParams({
    ...(credentials(client) as Record<string, string>),
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
  });
  usual.delete(name);
  return `${usual.toString()}&${name}=${raw}`;
};

test('in every parameter of every form and query: refused, or taken as what it is', async () => {
  let turn = 0;
  for (const [method, urls] of [
    ['GET', QUERIES],
    ['POST', FORMS],
  ] as const) {
    for (const url of urls) {
      for (const name of PARAMETERS) {
        const raw = BYTES[(turn += 1) % BYTES.length]!;
        const form = formWith(name, raw);
        const answer =
          method === 'GET'
            ? await at.app.inject({ url: `${url}?${form}` })
            : await at.app.inject({ method, url, headers: { 'content-type': FORM }, payload: form });
        expect(answer.statusCode, `${method} ${url} ${name}=${raw}`).toBeLessThan(500);
      }
    }
  }
});

const PEOPLE = words(`
  /signup /forgot-password /login/email /login/second-factor /language /password-strength /upstream/work/callback
  /upstream/a%00b/callback /upstream/a%0D%0Ab/callback /upstream/a%00b/backchannel-logout /verify/x /reset-password/x /invitation/x /login/link/x /account/email/confirm/x
  /account/email/undo/x`);
const TYPED = words(`
  username email name password new-password current-password otp recovery-code passkey setup codes upstream upstream_sub
  request interaction logout_token code state posted iss error return_to language to done outcome sent action`);

test('in the fields of the pages of people, behind a form that counts', async () => {
  const { origin, host } = new URL(at.deps.config.ISSUER);
  const browser = new TestBrowser(at);
  for (const url of PEOPLE) {
    const page = await browser.get(url);
    expect(page.statusCode, url).toBeLessThan(500);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { host, origin, 'content-type': FORM, accept: 'text/html', cookie };
    for (const raw of [...BYTES, 'x&otp=y', 'a'.repeat(900)]) {
      const fields = TYPED.map((name) => `${name}=${raw}`).join('&');
      const payload = `form_token=${formTokenOf(page)}&${fields}`;
      const query = await at.app.inject({ url: `${url}?${fields}`, headers });
      expect(query.statusCode, `GET ${url} ${raw}`).toBeLessThan(500);
      const answer = await at.app.inject({ method: 'POST', url, headers, payload });
      expect(answer.statusCode, `POST ${url} ${raw}`).toBeLessThan(500);
    }
  }
});

test.each(['/register/', '/interaction/', '/logo/', '/admin/v1/users/', '/admin/v1/clients/', '/nothing/'])(
  'in the path below %s',
  async (below) => {
    for (const raw of BYTES) {
      for (const rest of ['', '/login', '/consent', '/select-account']) {
        const headers = { authorization: 'Bearer x' };
        const answer = await at.app.inject({ url: `${below}${raw}${rest}`, headers });
        expect(answer.statusCode, raw + rest).toBeOneOf([400, 401, 404, 405]);
      }
    }
  },
);

test('in headers and cookies', async () => {
  const basic = (bytes: string | Buffer): string => `Basic ${Buffer.from(bytes).toString('base64')}`;
  const malformed = Buffer.from([0xff, 0xfe, 0x3a, 0xc0, 0x80]);
  for (const authorization of [basic('\0:\0'), basic('%00:%00'), basic(malformed), 'Bearer \xFF', 'Basic \xFF']) {
    for (const url of ['/token', '/par', '/introspect']) {
      const headers = { authorization, 'content-type': FORM };
      const answer = await at.app.inject({ method: 'POST', url, headers, payload: 'grant_type=client_credentials' });
      expect(answer.statusCode, authorization).toBe(401);
    }
  }
  const names = [
    'cookie',
    'origin',
    'x-request-id',
    'accept',
    'if-none-match',
    'if-match',
    'user-agent',
    'content-type',
  ];
  for (const name of names) {
    for (const value of ['%00', '\xFF\xFE', '__Host-postern_session=%00', '__Host-postern_browser=\xED\xA0\x80']) {
      for (const url of ['/authorize?client_id=x', '/login', '/jwks', '/userinfo', '/admin/v1/users']) {
        const answer = await at.app.inject({ url, headers: { [name]: value } });
        expect(answer.statusCode, `${url} ${name}: ${value}`).toBeLessThan(500);
      }
    }
  }
});

describe('OpenID Connect Core §5.5: in the names and values of `claims`', () => {
  const places: Array<(text: string) => string> = [
    (text) => `{"${text}":{}}`,
    (text) => `{"userinfo":{"${text}":null}}`,
    (text) => `{"id_token":{"email":{"${text}":1}}}`,
    (text) => `{"id_token":{"email":{"value":"${text}"}}}`,
    (text) => `{"id_token":{"email":{"values":["${text}"]}}}`,
    (text) => `{"id_token":{"email":{"value":{"${text}":1}}}}`,
    (text) => `{"userinfo":{"email":{"values":[{"a":"${text}"}]}}}`,
    (text) => `{"id_token":{"sub":{"value":"${text}"}}}`,
    (text) => `{"id_token":{"acr":{"values":["${text}"]}}}`,
  ];
  const all = places.flatMap((place) => ESCAPED.map((text) => place(text)));
  const request = () => ({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
  });
  const signed = (claims: unknown): Promise<string> =>
    new SignJWT({ ...request(), claims }).setProtectedHeader({ alg: 'ES256' }).sign(keys.privateKey);
  const post = (url: string, fields: Record<string, string | undefined>) =>
    at.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': FORM },
      payload: new URLSearchParams(fields as Record<string, string>).toString(),
    });

  test.each(all)('%s is invalid_request at /authorize and /par', async (claims) => {
    const query = new URLSearchParams({ ...request(), claims }).toString();
    const { headers, statusCode } = await at.app.inject({ url: `/authorize?${query}` });
    expect([statusCode, String(headers.location)]).toEqual([302, expect.stringContaining('error=invalid_request')]);
    const pushed = await post('/par', { ...credentials(client), ...request(), claims });
    expect([pushed.statusCode, pushed.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });

  test('and so inside of a signed request object, as text and as an object', async () => {
    for (const claims of all) {
      for (const said of [claims, JSON.parse(claims) as unknown]) {
        const pushed = await post('/par', { ...credentials(client), request: await signed(said) });
        expect(pushed.statusCode, claims).toBe(400);
        expect(pushed.json<{ error: string }>().error).toMatch(/^invalid_request/);
      }
    }
  });
});

describe('RFC 7591 §3.2.2: in every member of a registration', () => {
  const register = (payload: string | Buffer, type = 'application/json') =>
    at.app.inject({ method: 'POST', url: '/register', headers: { 'content-type': type }, payload });
  /** The members of a client that was made. */
  const kept = (answer: LightMyRequestResponse): string =>
    answer.statusCode === 201 ? Object.values(answer.json<object>()).flat().join(' ') : '';
  const document = (member: string, value: unknown): Record<string, unknown> => {
    const usual: Record<string, unknown> = {
      redirect_uris: ['https://my.example/cb'],
      token_endpoint_auth_method: 'none',
    };
    delete usual[member];
    return { ...usual, [member]: value };
  };

  test.each([...METADATA_MEMBERS, 'software_statement', 'made_up', 'client_name#de'])('%s', async (member) => {
    await at.deps.db.deleteFrom('failures').execute();
    for (const text of ['\\u0000', 'x\\udfff']) {
      for (const value of [`"${text}"`, `["${text}"]`, `{"${text}":1}`, `"https://a.example/${text}"`]) {
        const answer = await register(JSON.stringify(document(member, 0)).replace(/0\}$/, `${value}}`));
        expect([answer.statusCode, answer.json()], value).toMatchObject([400, { error: 'invalid_client_metadata' }]);
      }
    }
    // What can be stored, and is no URI and no name all the same.
    for (const text of ['\n', '\u001b[31m', '\u202e', '\u0007']) {
      for (const value of [
        text,
        [text],
        `https://a.example/${text}`,
        [`https://a.example/x${text}`],
        `${text}https://a.example/`,
      ]) {
        const answer = await register(JSON.stringify(document(member, value)));
        expect(answer.statusCode, JSON.stringify(value)).toBeOneOf([201, 400]);
        expect(kept(answer)).not.toContain(text);
      }
    }
  });

  test('that a software statement vouches for', async () => {
    for (const member of METADATA_MEMBERS) {
      for (const text of ['\0', 'a\nb']) {
        for (const value of [[text], { [text]: 1 }, `https://a.example/${text}`]) {
          const statement = new SignJWT({ iss: ISSUERS, [member]: value }).setProtectedHeader({ alg: 'ES256' });
          const software_statement = await statement.sign(keys.privateKey);
          const answer = await register(JSON.stringify(document('software_statement', software_statement)));
          expect(answer.statusCode, `${member} ${JSON.stringify(value)}`).toBeOneOf([201, 400]);
          expect(Object.values(answer.json())).not.toContainEqual(value);
        }
      }
      await at.deps.db.deleteFrom('failures').execute();
    }
  });

  test.each([
    [5],
    [[]],
    [{}],
    [true],
    ['openid "profile"'],
    ['open\\id'],
    ['öpenid'],
    ['openid\tprofile'],
    ['openid\n'],
    ['x'.repeat(4001)],
  ])('RFC 7591 §2: scope %j is invalid_client_metadata', async (scope) => {
    const answer = await register(JSON.stringify(document('scope', scope)));
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_client_metadata' }]);
  });
});

describe('RFC 8259 §8.1: JSON that is not UTF-8 is refused, so that no two passwords are one', () => {
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const json = (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
    at.app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, payload });

  test.each([
    ['bytes that are not UTF-8', (name: string) => latin1(`{"username":"${name}","password":"pass\xFFword"}`)],
    ['half a surrogate pair', (name: string) => `{"username":"${name}","password":"pass\\ud800word"}`],
    ['the other half', (name: string) => `{"username":"${name}","password":"pass\\udc00word"}`],
    [
      'surrogates as if they were characters',
      (name: string) => latin1(`{"username":"${name}","password":"pass\xED\xA0\x80word"}`),
    ],
    ['U+0000', (name: string) => `{"username":"${name}","password":"pass\\u0000word"}`],
  ])('POST /login with %s', async (_what, payload) => {
    // The password that a lenient reader would make of all of them.
    const user = await aUser(at, { password: 'pass\u{FFFD}word' });
    const answer = await json('/login', payload(user.username));
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    const right = await json('/login', JSON.stringify({ username: user.username, password: 'pass\u{FFFD}word' }));
    expect(right.statusCode).toBe(200);
  });

  test('a form with them is refused, too', async () => {
    const user = await aUser(at);
    for (const payload of [
      latin1('username=a&password=\xFF'),
      'username=a&password=%FF',
      'username=a&password=%ED%A0%80',
    ]) {
      const answer = await at.app.inject({ method: 'POST', url: '/login', headers: { 'content-type': FORM }, payload });
      expect(answer.statusCode).toBe(400);
    }
    expect((await json('/login', JSON.stringify({ username: user.username, password: PASSWORD }))).statusCode).toBe(
      200,
    );
  });

  test('POST /register', async () => {
    const answer = await json(
      '/register',
      latin1('{"client_name":"caf\xE9","redirect_uris":["https://my.example/cb"]}'),
    );
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_client_metadata' }]);
  });
});

test('in the headers and claims of JWTs, wherever one may be sent', async () => {
  const part = (value: unknown): string => base64url.encode(JSON.stringify(value));
  for (const text of ['\0', '\ud800', '../x', '\u001b']) {
    const payload = {
      iss: text,
      sub: text,
      aud: text,
      jti: text,
      gid: text,
      client_id: text,
      scope: text,
      exp: 2 ** 33,
    };
    for (const typ of ['at+jwt', 'JWT', text]) {
      const jwt = `${part({ alg: 'RS256', kid: text, typ })}.${part(payload)}.AAAA`;
      const jwe = `${part({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: text })}.AAAA.AAAA.AAAA.AAAA`;
      const secret = credentials(client) as Record<string, string>;
      for (const sent of [jwt, jwe]) {
        const bearer = { authorization: `Bearer ${sent}` };
        const form = (url: string, fields: Record<string, string>) =>
          at.app.inject({
            method: 'POST',
            url,
            headers: { 'content-type': FORM },
            payload: new URLSearchParams(fields).toString(),
          });
        const hint = new URLSearchParams({ id_token_hint: sent }).toString();
        const asked = new URLSearchParams({ client_id: client.client_id, request: sent }).toString();
        const answers = await Promise.all([
          at.app.inject({ url: '/userinfo', headers: bearer }),
          at.app.inject({ url: '/admin/v1/users', headers: bearer }),
          at.app.inject({ url: `/register/${client.client_id}`, headers: bearer }),
          at.app.inject({ url: `/logout?${hint}` }),
          at.app.inject({ url: `/authorize?${asked}` }),
          form('/introspect', { ...secret, token: sent }),
          form('/revoke', { ...secret, token: sent }),
          form('/par', { ...secret, request: sent }),
          form('/token', { ...secret, grant_type: 'refresh_token', refresh_token: sent }),
          form('/token', {
            grant_type: 'client_credentials',
            client_assertion: sent,
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          }),
        ]);
        expect(answers.filter(({ statusCode }) => statusCode >= 500)).toEqual([]);
      }
    }
  }
});
