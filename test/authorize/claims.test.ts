/** The claims parameter (OpenID Connect Core §5.5): what is asked for by name, agreed to, and told where it was asked for. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { find, put } from '../../src/store/scopes.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  authorize,
  aUser,
  authorizationUrl,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  type TestBrowser,
  userinfo,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { answerTo, crossSitePost, follow, open, proceed, signInAt, stepOf } from '../support/pages.ts';

const SCOPE = 'openid profile email phone address offline_access';
const ADDRESS = { country: 'GB', locality: 'London' };
let at: TestApp;
/** Must ask. */
let client: AClient;
/** Need not ask. */
let own: AClient;
let ada: User;
let bob: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { scope: SCOPE });
  own = await aClient(at, { scope: SCOPE, skip_consent: true });
  const claims = {
    name: 'Ada Lovelace',
    given_name: 'Ada',
    birthdate: '1815-12-10',
    phone_number: '+44 1',
    address: ADDRESS,
  };
  ada = await aUser(at, { claims });
  bob = await aUser(at, { claims: { name: 'Bob' } });
});
beforeEach(async () => {
  browser = await signIn(at, ada);
  at.clock.advance(1);
});
afterAll(() => at.close());

type ClaimsSeen = Record<string, unknown>;
const json = (value: unknown): string => JSON.stringify(value);

/** Redeems a code of `of`. */
const tokensFor = async (answer: Record<string, string>, of = own): Promise<Tokens> =>
  (
    await redeem(
      at,
      { code: answer['code'] ?? '', code_verifier: '', client: of, browser, user: ada },
      { code_verifier: undefined },
    )
  ).json<Tokens>();

/** What the ID token and userinfo say of the person, without what is always said. */
async function claimsOf(tokens: Tokens): Promise<{ id_token: ClaimsSeen; userinfo: ClaimsSeen }> {
  const payload = { ...decode(tokens.id_token).payload };
  for (const name of ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'acr', 'amr', 'sid', 'at_hash'])
    delete payload[name];
  const { sub, ...info } = (await userinfo(at, tokens.access_token)).json<ClaimsSeen>();
  expect(sub).toBe(decode(tokens.id_token).payload['sub']);
  return { id_token: payload, userinfo: info };
}

/** A silent request of our own client. */
const silently = async (parameters: Record<string, string>, of = own): Promise<Record<string, string>> =>
  answerTo(of, (await open(browser, of, { scope: 'openid', ...parameters })).response);

test('OpenID Connect Core §5.5: claims are told without the scope that opens them, each where it was asked for', async () => {
  const claims = json({
    userinfo: { name: { essential: true }, address: null, nickname: null, 'http://example.info/claims/groups': null },
    id_token: { birthdate: null, phone_number: { essential: true }, nickname: { essential: true } },
    other: true,
  });
  expect(await claimsOf(await tokensFor(await silently({ claims })))).toEqual({
    id_token: { birthdate: '1815-12-10', phone_number: '+44 1' },
    userinfo: { name: 'Ada Lovelace', address: ADDRESS },
  });
});

test('OpenID Connect Core §5.5: claims come beside those of the scope, and sub and the like stay ours', async () => {
  const claims = json({
    id_token: { given_name: null, iss: { value: 'https://evil.example.test' }, aud: null, sid: null },
  });
  const tokens = await tokensFor(await silently({ claims, scope: 'openid email' }));
  const email = { email: ada.email, email_verified: true };
  expect(await claimsOf(tokens)).toEqual({ id_token: { ...email, given_name: 'Ada' }, userinfo: email });
  expect(decode(tokens.id_token).payload).toMatchObject({ iss: browser.issuer, aud: own.client_id, sub: ada.sub });
});

test('a minimal ID token still holds what was asked for in it', async () => {
  const minimal = await aClient(at, { skip_consent: true, id_token_claims: 'minimal' });
  const claims = json({ id_token: { email: null } });
  const tokens = await tokensFor(await silently({ claims, scope: 'openid profile email' }, minimal), minimal);
  expect((await claimsOf(tokens)).id_token).toEqual({ email: ada.email });
});

test('OpenID Connect Core §5.5.1: with value or values, a claim is told only when it has one of them', async () => {
  const claims = json({
    userinfo: {
      name: { value: 'Ada Lovelace' },
      birthdate: { value: '1900-01-01' },
      given_name: { values: ['Eve', 'Ada'] },
    },
    id_token: {
      email_verified: { value: true },
      email: { values: [] },
      address: { value: { locality: 'London', country: 'GB' } },
    },
  });
  expect(await claimsOf(await tokensFor(await silently({ claims })))).toEqual({
    id_token: { email_verified: true, address: ADDRESS },
    userinfo: { name: 'Ada Lovelace', given_name: 'Ada' },
  });
});

test('OpenID Connect Core §5.5, §12.2: a refresh keeps them, with or without all of the scope, values as of now', async () => {
  const claims = json({ userinfo: { birthdate: null }, id_token: { name: null } });
  let tokens = await tokensFor(await silently({ claims, scope: 'openid email' }));
  await at.deps.db
    .updateTable('users')
    .set({ claims: json({ name: 'Ada King', birthdate: '1815-12-10' }) })
    .where('sub', '=', ada.sub)
    .execute();
  tokens = (await refresh(at, own, tokens.refresh_token, { scope: 'openid' })).json<Tokens>();
  expect(await claimsOf(tokens)).toEqual({ id_token: { name: 'Ada King' }, userinfo: { birthdate: '1815-12-10' } });
  await at.deps.db
    .updateTable('users')
    .set({ claims: json(ada.claims) })
    .where('sub', '=', ada.sub)
    .execute();
});

test('OpenID Connect Core §5.3.2: userinfo knows them for an opaque access token, too; introspection tells nobody', async () => {
  const opaque = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
  const claims = json({ userinfo: { given_name: null } });
  const tokens = await tokensFor(await silently({ claims }, opaque), opaque);
  expect((await claimsOf(tokens)).userinfo).toEqual({ given_name: 'Ada' });
  const jwt = await tokensFor(await silently({ claims }));
  for (const [of, token] of [
    [opaque, tokens.access_token],
    [own, jwt.access_token],
  ] as const) {
    const said = await introspect(at, of, token);
    expect(said.active).toBe(true);
    expect(Object.keys(said).filter((name) => name.includes('claims') || name === 'given_name')).toEqual([]);
  }
});

test('RFC 9126 §2: pushed requests and cross-site POSTs carry them alike', async () => {
  const claims = json({ userinfo: { name: null } });
  const { client_id, redirect_uri } = own;
  const fields = { response_type: 'code', redirect_uri, scope: 'openid', claims };
  const pushed = await postForm(at, '/par', { ...credentials(own), ...fields });
  const { request_uri } = pushed.json<{ request_uri: string }>();
  const opened = await browser.get(`/authorize?${new URLSearchParams({ client_id, request_uri }).toString()}`);
  expect((await claimsOf(await tokensFor(answerTo(own, opened)))).userinfo).toEqual({ name: 'Ada Lovelace' });
  const posted = await crossSitePost(at, '/authorize', { client_id, ...fields });
  const { response } = await follow(browser, posted);
  expect((await claimsOf(await tokensFor(answerTo(own, response)))).userinfo).toEqual({ name: 'Ada Lovelace' });
  for (const malformed of [
    '{',
    '[]',
    '{"userinfo":{"name":1}}',
    String.raw`{"userinfo":{"name":{"value":"\u0000"}}}`,
  ]) {
    const refused = await postForm(at, '/par', { ...credentials(own), ...fields, claims: malformed });
    expect([refused.statusCode, refused.json()], malformed).toMatchObject([400, { error: 'invalid_request' }]);
  }
});

test.each([
  '{',
  'null',
  '[]',
  '{"id_token":[]}',
  '{"id_token":{"sub":{"value":1}}}',
  String.raw`{"userinfo":{"name":{"value":"\ud800"}}}`,
  `{"x":"${'x'.repeat(8200)}"}`,
])('OpenID Connect Core §5.5: claims=%.40s is invalid_request, told to the client', async (claims) => {
  expect(await silently({ claims })).toMatchObject({ error: 'invalid_request', state: 'a state' });
});

test('what a client may not have by scope, it may not have by name; without openid nothing is asked for', async () => {
  const claims = json({ userinfo: { phone_number: null, name: null }, id_token: { phone_number: null } });
  const small = await aClient(at, { skip_consent: true, scope: 'openid profile' });
  expect(await claimsOf(await tokensFor(await silently({ claims }, small), small))).toEqual({
    id_token: {},
    userinfo: { name: 'Ada Lovelace' },
  });
  const tokens = await tokensFor(await silently({ claims, scope: 'profile' }));
  expect(tokens.id_token).toBeUndefined();
  const rows = await at.deps.db.selectFrom('grants').select(['scope', 'requested_claims']).execute();
  expect(rows.filter(({ scope }) => !scope.includes('openid'))).toEqual([
    { scope: ['profile'], requested_claims: null },
  ]);
});

test('a claim that no scope opens any more is told no more', async () => {
  const scope = { description: null, for_people: true, for_machines: false };
  await put(at.deps.db, { ...scope, name: 'birth', claims: ['birthdate'] });
  at.deps.directory.clear();
  const born = await aClient(at, { skip_consent: true, scope: 'openid birth' });
  const tokens = await tokensFor(await silently({ claims: json({ userinfo: { birthdate: null } }) }, born), born);
  expect((await claimsOf(tokens)).userinfo).toEqual({ birthdate: '1815-12-10' });
  const row = (await find(at.deps.db, 'profile'))!;
  await put(at.deps.db, { ...scope, name: 'birth', claims: [] });
  await put(at.deps.db, { ...row, claims: row.claims.filter((name) => name !== 'birthdate') });
  at.deps.directory.clear();
  expect((await claimsOf(tokens)).userinfo).toEqual({});
  await put(at.deps.db, row);
  at.deps.directory.clear();
});

test('OpenID Connect Core §5.5: the consent page says in words what is asked for beyond the scope, and marks what is new', async () => {
  const claims = json({ userinfo: { birthdate: null, email: null }, id_token: { phone_number: { essential: true } } });
  const page = await open(browser, client, { scope: 'openid email', claims });
  expect(stepOf(page)).toBe('consent');
  expect(page.response.body).toContain('See your date of birth');
  expect(page.response.body).toContain('See your phone number');
  // The scope says it already.
  expect(page.response.body.match(/See your e-mail address/g)).toHaveLength(1);
  await proceed(browser, page, { action: 'approve' });
  const more = json({ userinfo: { birthdate: null, given_name: null } });
  const again = await open(browser, client, { scope: 'openid email', claims: more });
  expect(again.response.body).toMatch(/See your first name\s*<span class="new">/);
  expect(again.response.body).not.toMatch(/See your date of birth\s*<span class="new">/);
  const event = await at.deps.db
    .selectFrom('audit_events')
    .select('detail')
    .where('event', '=', 'consent')
    .where('client_id', '=', client.client_id)
    .execute();
  expect(event.at(-1)!.detail).toMatchObject({ scope: ['openid', 'email'], claims: ['birthdate', 'phone_number'] });
});

test('a remembered consent counts only when these claims were agreed to as well; nothing is told silently', async () => {
  const fresh = await aClient(at, { scope: SCOPE });
  const asking = (claims: unknown, scope = 'openid') =>
    silently({ prompt: 'none', scope, claims: json(claims) }, fresh);
  await authorize(browser, fresh, { scope: 'openid' });
  expect(await silently({ prompt: 'none' }, fresh)).toHaveProperty('code');
  for (const claims of [{ userinfo: { name: null } }, { id_token: { name: { value: 'Ada Lovelace' } } }]) {
    expect(await asking(claims)).toMatchObject({ error: 'consent_required' });
  }
  // What nobody can tell is nothing to agree to.
  expect(await asking({ userinfo: { shoe_size: { essential: true } } })).toHaveProperty('code');
  await authorize(browser, fresh, { scope: 'openid', claims: json({ userinfo: { name: null } }) });
  expect(await asking({ userinfo: { name: null } })).toHaveProperty('code');
  expect(await asking({ id_token: { name: { essential: true } } })).toHaveProperty('code');
  expect(await asking({ userinfo: { name: null, email: null } })).toMatchObject({ error: 'consent_required' });
  // A scope is more than one of its claims; one of its claims is no more than the scope.
  expect(await asking({}, 'openid profile')).toMatchObject({ error: 'consent_required' });
  await authorize(browser, fresh, { scope: 'openid email' });
  expect(await asking({ userinfo: { email: null } })).toHaveProperty('code');
  // Both consents are remembered together.
  expect(await asking({ userinfo: { email: null }, id_token: { name: null } })).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.2: sub with a value is answered for that person only', async () => {
  const asked = (value: string) => json({ id_token: { sub: { value } } });
  const silent = { prompt: 'none' };
  expect(await silently({ ...silent, claims: asked(ada.sub) })).toHaveProperty('code');
  expect(await silently({ ...silent, claims: asked(bob.sub) })).toMatchObject({ error: 'login_required' });
  expect(
    await silently({ ...silent, claims: json({ id_token: { sub: { values: [bob.sub, ada.sub] } } }) }),
  ).toHaveProperty('code');
  expect(await silently({ ...silent, claims: json({ id_token: { sub: { values: [] } } }) })).toMatchObject({
    error: 'login_required',
  });
  // Of userinfo nothing follows, nor of a bare null.
  expect(
    await silently({ ...silent, claims: json({ userinfo: { sub: { value: bob.sub } }, id_token: { sub: null } }) }),
  ).toHaveProperty('code');

  const page = await open(browser, own, { claims: asked(bob.sub) });
  expect(stepOf(page)).toBe('login');
  expect(page.response.body).not.toContain(ada.username);
  at.clock.advance(1);
  const { response } = await signInAt(browser, page, bob);
  expect(decode((await tokensFor(answerTo(own, response))).id_token).payload['sub']).toBe(bob.sub);
});

test('OpenID Connect Core §3.1.2.2: when somebody else signs in than sub names, the client is told, and nobody is asked in circles', async () => {
  const page = await open(browser, own, { claims: json({ id_token: { sub: { value: bob.sub } } }) });
  at.clock.advance(1);
  const { response } = await signInAt(browser, page, ada);
  expect(answerTo(own, response)).toMatchObject({ error: 'login_required', state: 'a state' });
  expect((await browser.get(page.url.replace('/login', ''))).statusCode).toBe(400);
});

test('OpenID Connect Core §3.1.2.2: an id_token_hint and a sub of two people fit nobody', async () => {
  const { id_token } = await tokensFor(await silently({}));
  const page = await open(browser, own, {
    id_token_hint: id_token,
    claims: json({ id_token: { sub: { value: bob.sub } } }),
  });
  at.clock.advance(1);
  expect(answerTo(own, (await signInAt(browser, page, bob)).response)).toMatchObject({ error: 'login_required' });
});

test('a client that nobody agreed to cannot find out with sub who is signed in', async () => {
  const stranger = await aClient(at);
  for (const value of [ada.sub, bob.sub, 'nobody']) {
    const claims = json({ id_token: { sub: { value } } });
    expect(await silently({ prompt: 'none', claims }, stranger)).toMatchObject({ error: 'login_required' });
  }
});

test('OpenID Connect Core §3.1.2.1: auth_time is told when it is asked for, and otherwise', async () => {
  const claims = json({ id_token: { auth_time: { essential: true } } });
  const signedInAt = Math.floor(at.clock.now().getTime() / 1000) - 1;
  const tokens = await tokensFor(await silently({ claims }));
  expect(decode(tokens.id_token).payload['auth_time']).toBe(signedInAt);
});

test('OpenID Connect Core §3.1.2.1: display, ui_locales and claims_locales never fail', async () => {
  const values = [
    'page popup',
    'en de',
    '日本語',
    '\'"><script>',
    '../../etc/passwd',
    '%00',
    '-',
    ' ',
    'x'.repeat(2000),
  ];
  for (const value of values) {
    const parameters = { display: value, ui_locales: value, claims_locales: value };
    const page = await browser.get(authorizationUrl(browser.issuer, own, { scope: 'openid', ...parameters }));
    expect(answerTo(own, page), value.slice(0, 40)).toHaveProperty('code');
  }
});
