import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, testClock, type TestApp } from '../../support/app.ts';
import {
  aClient,
  formTokenOf,
  postForm,
  refresh,
  someTokens,
  TestBrowser,
  type AClient,
  type Tokens,
} from '../../support/fixtures.ts';
import { atOnce, tally } from '../../support/races.ts';
import { anUpstream, anUpstreamProvider, type UpstreamProvider } from '../../support/upstream-provider.ts';

let at: TestApp;
let provider: UpstreamProvider;
let other: UpstreamProvider;
let client: AClient;
beforeAll(async () => {
  const clock = testClock();
  [provider, other] = [await anUpstreamProvider(clock.now), await anUpstreamProvider(clock.now)];
  at = await testApp({ clock, config: { OUTBOUND_ALLOW: [provider.host, other.host] } });
  await anUpstream(at, provider, 'work', { registration: 'on' });
  await anUpstream(at, other, 'other', { registration: 'on' });
  client = await aClient(at, { skip_consent: true });
});
afterAll(async () => {
  await at.close();
  await Promise.all([provider.close(), other.close()]);
});

interface SignedIn {
  browser: TestBrowser;
  tokens: Tokens;
}

let count = 0;
const aName = (): string => `signed-out-${(count += 1)}`;

/** Somebody who signed in with a provider, with tokens of an application. */
async function signedIn(sub: string, sid?: string, upstream = 'work'): Promise<SignedIn> {
  const from = upstream === 'work' ? provider : other;
  const browser = new TestBrowser(at);
  const form_token = formTokenOf(await browser.get('/login'));
  const sent = await browser.post('/login', { upstream, form_token });
  await browser.get(from.approve(sent.headers.location!, { claims: { sub, sid } }));
  const { tokens } = await someTokens(at, { client, browser });
  return { browser, tokens };
}

const logout = (logout_token: string, upstream = 'work') =>
  postForm(at, `/upstream/${upstream}/backchannel-logout`, { logout_token });

/** Is somebody signed in, and do their tokens live? Both or neither. */
async function isIn({ browser, tokens }: SignedIn): Promise<boolean> {
  const page = (await browser.get('/account')).statusCode === 200;
  const answer = await refresh(at, client, tokens.refresh_token);
  expect(answer.statusCode === 200).toBe(page);
  return page;
}

test('OpenID Connect Back-Channel Logout §2.7: a sid ends that one session and what was granted in it; a sub all of somebody', async () => {
  const [sub, bystander] = [aName(), await signedIn(aName(), 'another')];
  const [one, two, three] = [await signedIn(sub, 'one'), await signedIn(sub, 'two'), await signedIn(sub)];
  const elsewhere = await signedIn(sub, 'one', 'other');
  const answer = await logout(await provider.logoutToken({ sub, sid: 'one' }));
  expect([answer.statusCode, answer.body, answer.headers['cache-control']]).toEqual([200, '', 'no-store']);
  expect(await isIn(one)).toBe(false);
  await logout(await provider.logoutToken({ sid: 'two' }));
  expect(await isIn(two)).toBe(false);
  const last = await signedIn(sub, 'four');
  // ASVS 5.0 V10.5.5: one that does not say what it is counts only where an operator says so.
  expect((await logout(await provider.logoutToken({ sub }, { typ: 'JWT' }))).statusCode).toBe(400);
  await at.deps.db
    .updateTable('upstreams')
    .set({ untyped_logout_tokens: true })
    .where('upstream', '=', 'work')
    .execute();
  expect((await logout(await provider.logoutToken({ sub }, { typ: 'JWT' }))).statusCode).toBe(200);
  expect([await isIn(last), await isIn(three), await isIn(bystander), await isIn(elsewhere)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
  // Nobody is signed in there any more: that is no error (§2.7).
  expect((await logout(await provider.logoutToken({ sub }))).statusCode).toBe(200);
  const events = await at.deps.db
    .selectFrom('audit_events')
    .select(['sub', 'detail'])
    .where('event', '=', 'upstream_signed_out')
    .orderBy('event_id')
    .execute();
  expect(events.map(({ detail }) => detail)).toEqual([
    { upstream: 'work', sessions_ended: 1 },
    { upstream: 'work', sessions_ended: 1 },
    { upstream: 'work', sessions_ended: 2 },
  ]);
});

test('OpenID Connect Back-Channel Logout §2.6: a token that is anything else ends nothing, and is answered with 400', async () => {
  const sub = aName();
  const somebody = await signedIn(sub, 'kept');
  const seconds = Math.floor(at.clock.now().getTime() / 1000);
  const claims = { sub, sid: 'kept' };
  const sign = (more: Record<string, unknown>) => provider.logoutToken({ ...claims, ...more });
  const usual = {
    iss: provider.issuer,
    aud: provider.client_id,
    iat: seconds,
    exp: seconds + 120,
    jti: 'x',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    ...claims,
  };
  const wrong: Record<string, [string, upstream?: string]> = {
    'no token': [''],
    'no JWT': ['a.b.c'],
    'an unsigned one': [new UnsecuredJWT(usual).encode()],
    'one of a key that is not theirs': [await provider.logoutToken(claims, { forged: true })],
    'an access token': [await provider.logoutToken(claims, { typ: 'at+jwt' })],
    'another provider’s': [await other.logoutToken(claims)],
    'another provider’s in this one’s name': [await other.logoutToken({ ...claims, iss: provider.issuer })],
    'at another provider': [await sign({}), 'other'],
    'at a provider there is not': [await sign({}), 'nowhere'],
    'for another client': [await sign({ aud: 'another' })],
    'of the future': [await sign({ iat: seconds + 300, exp: seconds + 400 })],
    'without iat': [await sign({ iat: undefined })],
    expired: [await sign({ iat: seconds - 500, exp: seconds - 100 })],
    'without exp': [await sign({ exp: undefined })],
    'of long ago': [await sign({ iat: seconds - 86_400, exp: seconds + 86_400 })],
    'without jti': [await sign({ jti: undefined })],
    'without events': [await sign({ events: undefined })],
    'of another event': [await sign({ events: { 'https://elsewhere.example': {} } })],
    'whose event is no object': [
      await sign({ events: { 'http://schemas.openid.net/event/backchannel-logout': true } }),
    ],
    'with a nonce, as an ID token': [await sign({ nonce: 'n' })],
    'of nobody': [await sign({ sub: undefined, sid: undefined })],
    'whose sub is none': [await sign({ sub: 7 })],
  };
  for (const [what, [token, upstream]] of Object.entries(wrong)) {
    const answer = await logout(token, upstream);
    expect([answer.statusCode, answer.headers['cache-control']], what).toEqual([400, 'no-store']);
    expect(answer.json(), what).toMatchObject({ error: 'invalid_request' });
  }
  // What fits no session of theirs, whole, ends none either.
  expect((await logout(await sign({ sub: 'somebody else' }))).statusCode).toBe(200);
  await anUpstream(at, provider, 'work', { registration: 'on', disabled: true });
  expect((await logout(await sign({}))).statusCode).toBe(400);
  await anUpstream(at, provider, 'work', { registration: 'on' });
  const path = '/upstream/work/backchannel-logout';
  const json = await at.app.inject({ method: 'POST', url: path, payload: { logout_token: await sign({}) } });
  expect(json.statusCode).toBeGreaterThanOrEqual(400);
  expect(await isIn(somebody)).toBe(true);
  expect((await logout(await sign({}))).statusCode).toBe(200);
  expect(await isIn(somebody)).toBe(false);
});

test('OpenID Connect Back-Channel Logout §2.6: a jti counts once, of fifty at once and for as long as the token could count', async () => {
  const sub = aName();
  await signedIn(sub);
  const token = await provider.logoutToken({ sub });
  const answers = await atOnce(50, () => logout(token));
  expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 1, 400: 49 });
  const again = await signedIn(sub);
  at.clock.advance(119);
  expect((await logout(token)).statusCode).toBe(400);
  expect(await isIn(again)).toBe(true);
});

test('strangers with a token that names another provider or nothing do not make us ask for keys', async () => {
  at.clock.advance(601);
  const before = new Map(provider.asked);
  await logout(await other.logoutToken({ sub: 'x' }));
  await logout(await provider.logoutToken({ sub: 'x', aud: 'another' }));
  expect(new Map(provider.asked)).toEqual(before);
});
