/** The modules of the certification profiles RP-Initiated Logout, Back-Channel Logout and Front-Channel Logout. */
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  aBrowser,
  authorize,
  CALLBACK,
  decodeHtml,
  refusalIn,
  requestOf,
  sendJson,
  startSuite,
  SUITE,
  urlOf,
  walk,
  type Authorized,
  type Party,
  type Suite,
} from '../support/certification.ts';
import { formTokenIn, type Visitor } from '../support/visitor.ts';

const BYE = `${SUITE}/test/a/postern/post_logout_redirect`;
/** Longer than any other, to see whether it comes back whole. */
const STATE = `${'~.-_aZ09'.repeat(15)}!$&'()*`;

let suite: Suite;
beforeAll(async () => {
  suite = await startSuite({ REGISTRATION: 'open' });
});
afterAll(() => suite.close());

/** A client of the suite, and somebody who signed in to it. */
interface Login {
  party: Party;
  visitor: Visitor;
  authorized: Authorized;
}

async function logIn(metadata: Record<string, unknown> = {}): Promise<Login> {
  const { status, json } = await sendJson(suite.as.registration_endpoint!, 'POST', {
    body: { redirect_uris: [CALLBACK], post_logout_redirect_uris: [BYE], ...metadata },
  });
  expect({ status, json }).toMatchObject({ status: 201, json: metadata });
  const auth = oauth.ClientSecretBasic(json['client_secret'] as string);
  const party = { client_id: json['client_id'] as string, redirect_uri: CALLBACK, auth };
  const visitor = aBrowser(suite);
  return { party, visitor, authorized: await authorize(suite, party, visitor) };
}

/** Opens the end-session endpoint. */
const endSession = (visitor: Visitor, parameters: Record<string, string>) =>
  visitor.get(`${suite.as.end_session_endpoint!}?${new URLSearchParams(parameters).toString()}`);

const hintOf = ({ authorized }: Login): string => authorized.tokens.id_token!;

/** As every module of these profiles ends: with prompt=none nobody is there any more. */
async function expectSignedOut({ visitor, party }: Login): Promise<void> {
  const request = requestOf(party, { prompt: 'none' });
  const arrival = await walk(suite, visitor, urlOf(suite, request));
  expect(refusalIn(arrival)).toEqual({ error: 'login_required', state: request['state'], iss: suite.issuer });
}

async function expectSignedIn({ visitor, party }: Login): Promise<void> {
  const { answer } = await walk(suite, visitor, urlOf(suite, requestOf(party, { prompt: 'none' })));
  expect(answer!.has('code')).toBe(true);
}

/** A page that asks, and after which nothing leads to the client; returns what it says. */
async function expectAsked(login: Login, parameters: Record<string, string>): Promise<string> {
  const answer = await endSession(login.visitor, parameters);
  expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
  const page = await answer.text();
  expect(page).toContain('id="logout-confirm"');
  await expectSignedIn(login);
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name, value]): [string, string] => [name!, decodeHtml(value!)]));
  const form = { ...fields, form_token: formTokenIn(page), action: 'logout' };
  const confirmed = await login.visitor.post(suite.as.end_session_endpoint!, form);
  expect(confirmed.headers.get('location')).toMatch(`${suite.issuer}/logout/done`);
  await confirmed.body?.cancel();
  await expectDonePage(login, confirmed.headers.get('location')!);
  return page;
}

async function expectDonePage(login: Login, location: string): Promise<void> {
  const done = await login.visitor.get(location);
  const page = await done.text();
  expect([done.status, /<title>([^<]*)/.exec(page)?.[1]]).toEqual([200, expect.stringMatching(/^Signed out/)]);
  expect(page).not.toContain(BYE);
  await expectSignedOut(login);
}

describe('RP-initiated', () => {
  test('RP-Initiated Logout §2.1: the endpoint is in the metadata (oidcc-rp-initiated-logout-discovery-endpoint-verification)', () => {
    expect(suite.as.end_session_endpoint).toBe(`${suite.issuer}/logout`);
  });

  test('RP-Initiated Logout §3, §3.1: with hint, address and state the person comes back with the state, signed out (oidcc-rp-initiated-logout)', async () => {
    const login = await logIn();
    const parameters = { id_token_hint: hintOf(login), post_logout_redirect_uri: BYE, state: STATE };
    const answer = await endSession(login.visitor, parameters);
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location')!);
    expect([location.origin + location.pathname, [...location.searchParams]]).toEqual([BYE, [['state', STATE]]]);
    await expectSignedOut(login);
  });

  test('RP-Initiated Logout §2: a hint that has expired is as good', async () => {
    const login = await logIn();
    suite.test.clock.advance(suite.test.deps.config.ID_TOKEN_TTL + 60);
    const answer = await endSession(login.visitor, { id_token_hint: hintOf(login), post_logout_redirect_uri: BYE });
    expect(answer.headers.get('location')).toBe(BYE);
    await expectSignedOut(login);
  });

  test('RP-Initiated Logout §3: without a state there is none in the answer (oidcc-rp-initiated-logout-no-state)', async () => {
    const login = await logIn();
    const answer = await endSession(login.visitor, { id_token_hint: hintOf(login), post_logout_redirect_uri: BYE });
    expect(answer.headers.get('location')).toBe(BYE);
    await expectSignedOut(login);
  });

  test.each([
    ['is another', `${SUITE}/elsewhere`],
    ['has a query more', `${BYE}?foo=bar`],
  ])(
    'RP-Initiated Logout §3, §4: an address that %s than registered is not gone to: the person is told so, and asked (oidcc-rp-initiated-logout-bad-post-logout-redirect-uri, oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri)',
    async (_how, uri) => {
      const login = await logIn();
      const parameters = { id_token_hint: hintOf(login), post_logout_redirect_uri: uri, state: STATE };
      expect(await expectAsked(login, parameters)).toContain('an address that it has not registered');
    },
  );

  test('RP-Initiated Logout §2, §4: a hint of a foreign key, or changed, is none: the person is asked (oidcc-rp-initiated-logout-bad-id-token-hint, oidcc-rp-initiated-logout-modified-id-token-hint)', async () => {
    const login = await logIn();
    const { privateKey } = await jose.generateKeyPair('RS256');
    const foreign = await new jose.SignJWT(login.authorized.claims)
      .setProtectedHeader(login.authorized.header as jose.JWTHeaderParameters)
      .sign(privateKey);
    const [header, , signature] = hintOf(login).split('.');
    const claims = { ...login.authorized.claims, sub: 'somebody else' };
    const changed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    for (const id_token_hint of [foreign, changed]) {
      const again = await authorize(suite, login.party, login.visitor);
      const parameters = { id_token_hint, post_logout_redirect_uri: BYE, state: STATE };
      await expectAsked({ ...login, authorized: again }, parameters);
    }
  });

  test.each([
    ['no hint', { post_logout_redirect_uri: BYE, state: STATE }],
    ['nothing', {}],
    ['only a state', { state: STATE }],
  ])(
    'RP-Initiated Logout §2: with %s the person is asked, and sees that it is done (oidcc-rp-initiated-logout-no-id-token-hint, oidcc-rp-initiated-logout-no-params, oidcc-rp-initiated-logout-only-state)',
    async (_what, parameters) => {
      await expectAsked(await logIn(), parameters);
    },
  );

  test('RP-Initiated Logout §2: with a hint and no address the person sees that it is done (oidcc-rp-initiated-logout-no-post-logout-redirect-uri)', async () => {
    const login = await logIn();
    const answer = await endSession(login.visitor, { id_token_hint: hintOf(login), state: STATE });
    expect(answer.headers.get('location')).toBe(`${suite.issuer}/logout/done`);
    await expectDonePage(login, answer.headers.get('location')!);
  });
});

describe('back-channel', () => {
  const backchannel_logout_uri = `${SUITE}/test/a/postern/backchannel_logout`;

  test('Back-Channel Logout §2.1: the metadata says so (oidcc-backchannel-logout-discovery-endpoint-verification)', async () => {
    const metadata = await (await fetch(`${suite.issuer}/.well-known/openid-configuration`)).json();
    expect(metadata).toMatchObject({ backchannel_logout_supported: true, backchannel_logout_session_supported: true });
  });

  test('Back-Channel Logout §2.2, §2.4, §2.5: the registered address is posted one logout token of that session, and nothing else (oidcc-backchannel-rp-initiated-logout)', async () => {
    const login = await logIn({ backchannel_logout_uri, backchannel_logout_session_required: true });
    const parameters = { id_token_hint: hintOf(login), post_logout_redirect_uri: BYE, state: STATE };
    const answer = await endSession(login.visitor, parameters);
    expect(new URL(answer.headers.get('location')!).searchParams.get('state')).toBe(STATE);
    await suite.turn('backchannel-logout');

    const [told, ...more] = suite.posted.splice(0);
    expect([more, told!.url]).toEqual([[], backchannel_logout_uri]);
    expect(told!.request.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' });
    const form = new URLSearchParams(told!.request.body);
    expect([...form.keys()]).toEqual(['logout_token']);
    const { payload, protectedHeader } = await jose.jwtVerify(
      form.get('logout_token')!,
      jose.createRemoteJWKSet(new URL(suite.as.jwks_uri!)),
      {
        issuer: suite.issuer,
        audience: login.party.client_id,
        typ: 'logout+jwt',
        algorithms: ['RS256'],
        requiredClaims: ['iat', 'exp', 'jti'],
        currentDate: suite.test.clock.now(),
      },
    );
    expect(protectedHeader.kid).toBe(login.authorized.header.kid);
    const { sub, sid } = login.authorized.claims;
    expect(payload).toMatchObject({ sub, sid });
    expect(sid).toEqual(expect.any(String));
    expect(payload['events']).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} });
    expect(payload).not.toHaveProperty('nonce');
    await expectSignedOut(login);
  });
});

describe('front-channel', () => {
  const frontchannel_logout_uri = `${SUITE}/test/a/postern/frontchannel_logout`;

  test('Front-Channel Logout §3: the metadata says so (oidcc-frontchannel-logout-discovery-endpoint-verification)', async () => {
    const metadata = await (await fetch(`${suite.issuer}/.well-known/openid-configuration`)).json();
    expect(metadata).toMatchObject({
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported: true,
    });
  });

  test('Front-Channel Logout §2, §3: the registered address is framed with iss and sid, and then the person goes on (oidcc-frontchannel-rp-initiated-logout)', async () => {
    const login = await logIn({ frontchannel_logout_uri, frontchannel_logout_session_required: true });
    const parameters = { id_token_hint: hintOf(login), post_logout_redirect_uri: BYE, state: STATE };
    const answer = await endSession(login.visitor, parameters);
    const done = await login.visitor.get(answer.headers.get('location')!);
    const page = await done.text();
    const frames = [...page.matchAll(/<iframe[^>]*src="([^"]*)"/g)].map(([, src]) => decodeHtml(src!));
    const sid = login.authorized.claims['sid'] as string;
    const told = new URLSearchParams({ iss: suite.issuer, sid }).toString();
    expect(frames).toEqual([`${frontchannel_logout_uri}?${told}`]);
    expect(done.headers.get('content-security-policy')).toContain(`frame-src ${SUITE}`);
    const [, onward = ''] = /id="logout-continue" href="([^"]*)"/.exec(page) ?? [];
    expect(decodeHtml(onward)).toBe(`${BYE}?state=${encodeURIComponent(STATE)}`);
    await expectSignedOut(login);
  });

  test('Front-Channel Logout §2: an address elsewhere than the redirect URIs cannot be registered', async () => {
    const body = { redirect_uris: [CALLBACK], frontchannel_logout_uri: 'https://other.example.test/out' };
    const { status, json } = await sendJson(suite.as.registration_endpoint!, 'POST', { body });
    expect([status, json['error']]).toEqual([400, 'invalid_client_metadata']);
  });
});
