import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../../src/keys/secrets.ts';
import { random } from '../../../src/platform/random.ts';
import type { User } from '../../../src/store/users.ts';
import { countLostTokens, resealTokens } from '../../../src/users/upstream/sealed.ts';
import { TEST_SECRET_KEY, testApp, testClock, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  authorizationUrl,
  formTokenOf,
  PASSWORD,
  TestBrowser,
  type AClient,
} from '../../support/fixtures.ts';
import { mailTo } from '../../support/mailbox.ts';
import { atOnce, tally } from '../../support/races.ts';
import { anUpstream, anUpstreamProvider, type Said, type UpstreamProvider } from '../../support/upstream-provider.ts';

let at: TestApp;
let provider: UpstreamProvider;
let other: UpstreamProvider;
let client: AClient;
beforeAll(async () => {
  const clock = testClock();
  [provider, other] = [await anUpstreamProvider(clock.now), await anUpstreamProvider(clock.now)];
  at = await testApp({ clock, config: { OUTBOUND_ALLOW: [provider.host, other.host] } });
  await anUpstream(at, provider, 'work', { registration: 'on', domains: ['work.example'] });
  await anUpstream(at, other, 'other', { registration: 'off' });
  client = await aClient(at, { skip_consent: true });
});
afterAll(async () => {
  await at.close();
  await Promise.all([provider.close(), other.close()]);
});

let count = 0;
/** Somebody at a provider whom nobody here knows. */
const somebody = (claims: Record<string, unknown> = {}) => {
  count += 1;
  return { sub: `u${count}`, email: `person${count}@elsewhere.example`, email_verified: true, ...claims };
};

/** Presses the provider's button of a page. */
async function press(browser: TestBrowser, url: string, upstream: string): Promise<string> {
  const form_token = formTokenOf(await browser.get(url));
  const answer = await browser.post(url, { upstream, form_token });
  expect(answer.statusCode, answer.body).toBe(303);
  return answer.headers.location!;
}

/** Signs in with a provider at /login; where it led. */
async function signInWith(browser: TestBrowser, upstream: string, said: Said): Promise<LightMyRequestResponse> {
  const from = upstream === 'other' ? other : provider;
  return browser.get(from.approve(await press(browser, '/login', upstream), said));
}

/** The interaction's page for a new request of the client. */
async function interactionOf(browser: TestBrowser, parameters: Record<string, string> = {}): Promise<string> {
  const answer = await browser.get(authorizationUrl(at.deps.config.ISSUER, client, parameters));
  return answer.headers.location!;
}

const linksOf = (upstream_sub: string) =>
  at.deps.db.selectFrom('upstream_links').selectAll().where('upstream_sub', '=', upstream_sub).execute();
const sessionOf = async (sub: string) =>
  at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', sub).where('ended_at', 'is', null).execute();
const outcomeOf = ({ headers }: LightMyRequestResponse): string | null =>
  new URL(headers.location!, 'https://nowhere.example').searchParams.get('outcome');

test('a request goes over the provider and back to its client, for an account that is made', async () => {
  const browser = new TestBrowser(at);
  const page = await interactionOf(browser, { prompt: 'login', login_hint: 'ada@elsewhere.example' });
  expect((await browser.get(page)).body).toContain('id="upstream-work"');
  const sent = new URL(await press(browser, page, 'work'));
  expect(Object.fromEntries(sent.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: provider.client_id,
    redirect_uri: `${at.deps.config.ISSUER}/upstream/work/callback`,
    scope: 'openid profile email',
    code_challenge_method: 'S256',
    prompt: 'login',
    login_hint: 'ada@elsewhere.example',
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  const claims = somebody({ preferred_username: 'grace', name: 'Grace Hopper', amr: ['mfa'] });
  const back = await browser.get(provider.approve(sent, { claims }));
  expect(back.headers.location).toBe(page.replace('/login', ''));
  const answered = await browser.get(back.headers.location!);
  expect(new URL(answered.headers.location!).searchParams.get('code')).not.toBeNull();
  const [link] = await linksOf(claims.sub);
  const user = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', link!.sub).executeTakeFirstOrThrow();
  expect(user).toMatchObject({ username: 'grace', email: claims.email, email_verified: true });
  expect(user.claims).toMatchObject({ name: 'Grace Hopper' });
  // RFC 8176 has no value for it, and nothing was mapped.
  expect(await sessionOf(user.sub)).toMatchObject([{ amr: [], acr: '1' }]);
  expect(link).toMatchObject({ sealed_tokens: null, name: claims.email });
});

test('nobody who is called admin elsewhere is called that here, and their account shows their address instead', async () => {
  const claims = somebody({ preferred_username: 'Admin' });
  const browser = new TestBrowser(at);
  await signInWith(browser, 'work', { claims });
  const [link] = await linksOf(claims.sub);
  const user = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', link!.sub).executeTakeFirstOrThrow();
  expect(user.username).toMatch(/^person-[0-9a-f]{8}$/);
  const { body } = await browser.get('/account');
  expect([body.includes(claims.email), body.includes(user.username)]).toEqual([true, false]);
});

test('whoever was here before signs in to the same account, by sub and whatever the address says now', async () => {
  const claims = somebody();
  await signInWith(new TestBrowser(at), 'work', { claims });
  const back = await signInWith(new TestBrowser(at), 'work', { claims: { ...claims, email: 'new@elsewhere.example' } });
  expect(back.headers.location).toBe(`${at.deps.config.ISSUER}/account`);
  expect(await linksOf(claims.sub)).toHaveLength(1);
});

test('an account is never found by its address: who has it proves it by its own sign-in, and then is connected', async () => {
  const owner = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await interactionOf(browser);
  const claims = somebody({ email: owner.email });
  const back = await browser.get(provider.approve(await press(browser, page, 'work'), { claims }));
  expect(outcomeOf(back)).toBe('connect');
  expect(await sessionOf(owner.sub)).toEqual([]);
  const login = await browser.get(back.headers.location!);
  expect(login.statusCode).toBe(200);
  expect(login.body).toContain('is not connected with one here yet');
  await browser.post(page, { username: owner.username, password: PASSWORD, form_token: formTokenOf(login) });
  const asked = await browser.get(page.replace('/login', ''));
  expect(asked.headers.location).toBe(page.replace('/login', '/connect'));
  const connect = await browser.get(asked.headers.location!);
  expect(connect.body).toContain(claims.email);
  expect(await linksOf(claims.sub)).toEqual([]);
  await browser.post(asked.headers.location!, { action: 'connect', form_token: formTokenOf(connect) });
  const done = await browser.get(page.replace('/login', ''));
  expect(new URL(done.headers.location!).searchParams.get('code')).not.toBeNull();
  expect(await linksOf(claims.sub)).toMatchObject([{ sub: owner.sub }]);
  const again = await signInWith(new TestBrowser(at), 'work', { claims });
  expect(again.headers.location).toBe(`${at.deps.config.ISSUER}/account`);
});

test('who was signed in before somebody came back is not asked to connect them: only a sign-in since then proves it', async () => {
  const owner = await aUser(at);
  const browser = new TestBrowser(at);
  await signedIn(browser, owner);
  at.clock.advance(1);
  const page = await interactionOf(browser, { prompt: 'login' });
  at.clock.advance(1);
  const back = await browser.get(other.approve(await press(browser, page, 'other'), { claims: somebody() }));
  expect(outcomeOf(back)).toBe('connect');
  const hub = page.replace('/login', '');
  expect((await browser.get(hub)).headers.location).toBe(page);
  const forged = await browser.post(`${hub}/connect`, { action: 'connect', form_token: '' });
  expect(forged.statusCode).toBe(400);
});

async function signedIn(browser: TestBrowser, user: User): Promise<void> {
  const form_token = formTokenOf(await browser.get('/login'));
  await browser.post('/login', { username: user.username, password: PASSWORD, form_token });
}

test('"not now" goes on without connecting, and is not asked again', async () => {
  const owner = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await interactionOf(browser);
  const claims = somebody();
  const back = await browser.get(other.approve(await press(browser, page, 'other'), { claims }));
  const login = await browser.get(back.headers.location!);
  await browser.post(page, { username: owner.username, password: PASSWORD, form_token: formTokenOf(login) });
  const url = page.replace('/login', '/connect');
  await browser.post(url, { action: 'later', form_token: formTokenOf(await browser.get(url)) });
  const done = await browser.get(page.replace('/login', ''));
  expect(new URL(done.headers.location!).searchParams.get('code')).not.toBeNull();
  expect(await linksOf(claims.sub)).toEqual([]);
});

test('from the sign-in page of this server, the account page asks whether to connect', async () => {
  const owner = await aUser(at);
  const browser = new TestBrowser(at);
  const claims = somebody();
  const back = await signInWith(browser, 'other', { claims });
  expect(back.headers.location).toContain('/login?to=connections&');
  const login = await browser.get(back.headers.location!);
  const url = back.headers.location!;
  await browser.post(url, { username: owner.username, password: PASSWORD, form_token: formTokenOf(login) });
  const page = await browser.get('/account/connections');
  expect(page.body).toContain(claims.email);
  const done = await browser.post('/account/connections', { action: 'connect', form_token: formTokenOf(page) });
  expect(done.headers.location).toMatch(/done=connected$/);
  expect(await linksOf(claims.sub)).toMatchObject([{ sub: owner.sub }]);
});

test('an unverified address claims nobody’s account, and is not taken over', async () => {
  const owner = await aUser(at);
  const claims = somebody({ email: owner.email, email_verified: false });
  await signInWith(new TestBrowser(at), 'work', { claims });
  const [link] = await linksOf(claims.sub);
  expect(link!.sub).not.toBe(owner.sub);
  const user = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', link!.sub).executeTakeFirstOrThrow();
  expect(user).toMatchObject({ email: null, email_verified: false });
});

test('accounts are made by policy: for nobody, for everybody, for domains', async () => {
  const outcome = async (claims: Record<string, unknown>) =>
    outcomeOf(await signInWith(new TestBrowser(at), 'work', { claims }));
  await anUpstream(at, provider, 'work', { registration: 'domains', domains: ['work.example'] });
  expect(await outcome(somebody())).toBe('connect');
  expect(await outcome(somebody({ email: 'a@work.example', email_verified: false }))).toBe('connect');
  expect(await outcome(somebody({ email: 'a@work.example' }))).toBeNull();
  await anUpstream(at, provider, 'work', { registration: 'off', linking: false, domains: ['work.example'] });
  expect(await outcome(somebody())).toBe('unknown');
  await anUpstream(at, provider, 'work', { registration: 'on', domains: ['work.example'] });
});

test.each([
  ['a nonce of another request', { claims: { nonce: 'another' } }],
  ['an ID token for another client', { claims: { aud: 'another' } }],
  ['an ID token of another issuer', { claims: { iss: 'https://elsewhere.example' } }],
  ['an ID token that has expired', { claims: { exp: 1 } }],
  ['an ID token of somebody else’s key', { forged: true }],
  ['a sub that is none', { claims: { sub: '' } }],
  ['no tokens', { error: { status: 400, body: { error: 'invalid_grant' } } }],
  ['no JSON', { error: { status: 200, body: 'tokens' } }],
] satisfies Array<[string, Said]>)('%s signs nobody in, and leads back with a sentence', async (_what, said) => {
  const claims: Record<string, unknown> = { ...somebody(), ...('claims' in said ? said.claims : {}) };
  const browser = new TestBrowser(at);
  const back = await signInWith(browser, 'work', { ...said, claims });
  expect(outcomeOf(back)).toBe('unusable');
  const page = await browser.get(back.headers.location!);
  expect(page.statusCode).toBe(400);
  expect(page.body).toContain('could not be verified');
  expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
});

test('a refusal there leads back to the sign-in page with a sentence, and the request goes on', async () => {
  const browser = new TestBrowser(at);
  const page = await interactionOf(browser);
  const callback = new URL(provider.approve(await press(browser, page, 'work')));
  callback.searchParams.delete('code');
  callback.searchParams.set('error', 'access_denied');
  const back = await browser.get(callback.href);
  expect(outcomeOf(back)).toBe('denied');
  expect((await browser.get(back.headers.location!)).body).toContain('WORK did not sign you in');
});

test('a provider that is down is a page with 503 and a way on, at the beginning and at the end', async () => {
  const browser = new TestBrowser(at);
  await anUpstream(at, { ...provider, issuer: 'http://127.0.0.1:9' }, 'down');
  const form_token = formTokenOf(await browser.get('/login'));
  const answer = await browser.post('/login', { upstream: 'down', form_token });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBeDefined();
  expect(answer.body).toContain('href="https://id.example.test/login"');
  const error = { status: 502, body: {} };
  expect((await signInWith(browser, 'work', { claims: somebody(), error })).statusCode).toBe(503);
});

test('RFC 9700 §4.4: what one provider answers is never taken for another’s', async () => {
  const browser = new TestBrowser(at);
  const callback = new URL(provider.approve(await press(browser, '/login', 'work'), { claims: somebody() }));
  const swapped = callback.href.replace('/upstream/work/', '/upstream/other/');
  expect((await browser.get(swapped)).statusCode).toBe(400);
  // RFC 9207: another issuer than the one it was sent to.
  callback.searchParams.set('iss', other.issuer);
  expect(outcomeOf(await browser.get(callback.href))).toBe('unusable');
  const without = new URL(provider.approve(await press(browser, '/login', 'work'), { claims: somebody() }));
  without.searchParams.delete('iss');
  expect(outcomeOf(await browser.get(without.href))).toBe('unusable');
});

test('RFC 6749 §10.12: an answer counts once, in the browser that was sent, for the request it was sent from', async () => {
  const [mine, theirs] = [new TestBrowser(at), new TestBrowser(at)];
  const [first, second] = [await interactionOf(mine), await interactionOf(mine)];
  const sent = await press(mine, first, 'work');
  await press(mine, second, 'work');
  const callback = provider.approve(sent, { claims: somebody() });
  await interactionOf(theirs);
  const foreign = await theirs.get(callback);
  expect(foreign.statusCode).toBe(400);
  expect(foreign.body).toContain('began in another browser');
  const answers = await atOnce(10, () => mine.get(callback));
  expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 302: 1, 400: 9 });
  const [led] = answers.filter(({ statusCode }) => statusCode === 302);
  expect(led!.headers.location).toBe(first.replace('/login', ''));
  for (const state of ['', 'x', sent]) {
    const made = await mine.get(`/upstream/work/callback?${new URLSearchParams({ code: 'x', state }).toString()}`);
    expect(made.statusCode).toBe(400);
  }
});

test('an answer that takes too long is over', async () => {
  const browser = new TestBrowser(at);
  const callback = provider.approve(await press(browser, '/login', 'work'), { claims: somebody() });
  at.clock.advance(3600);
  expect((await browser.get(callback)).statusCode).toBe(400);
});

test('what an operator changes meanwhile counts: a provider that is disabled, gone or another signs nobody in', async () => {
  const fields = { registration: 'on' };
  await anUpstream(at, provider, 'brief', fields);
  const ending = async (change: () => Promise<unknown>): Promise<string | null> => {
    const browser = new TestBrowser(at);
    const callback = provider.approve(await press(browser, '/login', 'brief'), { claims: somebody() });
    await change();
    return outcomeOf(await browser.get(callback));
  };
  expect(await ending(() => anUpstream(at, provider, 'brief', { ...fields, disabled: true }))).toBe('gone');
  await anUpstream(at, provider, 'brief', fields);
  expect(await ending(() => anUpstream(at, other, 'brief', fields))).toBe('gone');
  // Whoever is known by the same sub at another issuer is somebody else.
  const claims = somebody();
  const browser = new TestBrowser(at);
  await browser.get(other.approve(await press(browser, '/login', 'brief'), { claims }));
  await anUpstream(at, provider, 'brief', fields);
  await browser.get(provider.approve(await press(new TestBrowser(at), '/login', 'brief'), { claims }));
  expect(await linksOf(claims.sub)).toHaveLength(1);
});

test('a disabled account is told so, and no session begins', async () => {
  const claims = somebody();
  await signInWith(new TestBrowser(at), 'work', { claims });
  const [link] = await linksOf(claims.sub);
  await at.deps.db.updateTable('users').set({ disabled_at: at.clock.now() }).where('sub', '=', link!.sub).execute();
  expect(outcomeOf(await signInWith(new TestBrowser(at), 'work', { claims }))).toBe('disabled');
});

test('fifty at once of one person there make one account; of fifty with one address one makes an account', async () => {
  const callbacksOf = async (said: (index: number) => Said) => {
    const browsers = Array.from({ length: 50 }, () => new TestBrowser(at));
    return atOnce(50, async (index) => {
      const sent = await press(browsers[index]!, '/login', 'work');
      return [browsers[index]!, provider.approve(sent, said(index))] as const;
    });
  };
  const one = somebody();
  const same = await callbacksOf(() => ({ claims: one }));
  const signed = await atOnce(50, (index) => same[index]![0].get(same[index]![1]));
  expect(tally(signed.map((answer) => String(outcomeOf(answer))))).toEqual({ null: 50 });
  expect(await linksOf(one.sub)).toHaveLength(1);
  const { email } = somebody();
  const alike = await callbacksOf((index) => ({ claims: { sub: `alike${index}`, email, email_verified: true } }));
  const outcomes = await atOnce(50, async (index) => outcomeOf(await alike[index]![0].get(alike[index]![1])));
  expect(tally(outcomes.map(String))).toEqual({ null: 1, connect: 49 });
});

test('auth_time is what the provider says, and one that should have asked again and did not is told', async () => {
  const seconds = Math.floor(at.clock.now().getTime() / 1000);
  const claims = somebody({ auth_time: seconds - 900 });
  await signInWith(new TestBrowser(at), 'work', { claims });
  const [link] = await linksOf(claims.sub);
  expect((await sessionOf(link!.sub))[0]!.auth_time.getTime()).toBe((seconds - 900) * 1000);
  const stale = async (parameters: Record<string, string>) => {
    const browser = new TestBrowser(at);
    const sent = new URL(await press(browser, await interactionOf(browser, parameters), 'work'));
    return [sent.searchParams, outcomeOf(await browser.get(provider.approve(sent, { claims })))] as const;
  };
  expect((await stale({ prompt: 'login' }))[1]).toBe('stale');
  const [sent, outcome] = await stale({ max_age: '60' });
  expect([sent.get('max_age'), outcome]).toEqual(['60', 'stale']);
  expect((await stale({ max_age: '1000' }))[1]).toBeNull();
});

test('RFC 8176: methods there count here as the mapping says, and lead to acr', async () => {
  await anUpstream(at, provider, 'mapped', {
    registration: 'on',
    acr_values: { high: ['mfa'] },
    amr_values: { otp: ['otp'] },
  });
  const claims = somebody({ acr: 'high', amr: ['otp', 'face'] });
  const browser = new TestBrowser(at);
  await browser.get(provider.approve(await press(browser, '/login', 'mapped'), { claims }));
  const [link] = await linksOf(claims.sub);
  expect(await sessionOf(link!.sub)).toMatchObject([{ amr: ['otp', 'mfa'], acr: '2' }]);
});

test('an address of a provider’s domain leads there, with or without a password, whether or not somebody has it', async () => {
  const known = await aUser(at, { email: 'known@work.example' });
  for (const username of [known.email!, 'nobody@WORK.example', ' nobody@work.example ']) {
    for (const password of ['', PASSWORD]) {
      const browser = new TestBrowser(at);
      const form_token = formTokenOf(await browser.get('/login'));
      const answer = await browser.post('/login', { username, password, form_token, action: 'login' });
      const sent = new URL(answer.headers.location!);
      expect([sent.origin, sent.searchParams.get('login_hint')]).toEqual([provider.issuer, username.trim()]);
    }
  }
  const browser = new TestBrowser(at);
  const form_token = formTokenOf(await browser.get('/login'));
  const answer = await browser.post('/login', { username: known.username, password: PASSWORD, form_token });
  expect(answer.headers.location).toBe(`${at.deps.config.ISSUER}/account`);
});

test('where a provider’s metadata leads to is its own affair only outside: nothing inside is asked', async () => {
  const { token_endpoint, jwks_uri, authorization_endpoint } = other.metadata;
  await anUpstream(at, other, 'hostile', { registration: 'on' });
  const ask = async (): Promise<number> => {
    const browser = new TestBrowser(at);
    const form_token = formTokenOf(await browser.get('/login'));
    const answer = await browser.post('/login', { upstream: 'hostile', form_token });
    if (answer.statusCode !== 303) return answer.statusCode;
    return (await browser.get(other.approve(answer.headers.location!, { claims: somebody() }))).statusCode;
  };
  const inside = provider.asked.get('/token') ?? 0;
  for (const [name, value] of [
    // An address that the allow-list lets through, but that this provider's operator did not name.
    ['token_endpoint', `${provider.issuer}/token`],
    ['jwks_uri', `${provider.issuer}/jwks`],
    ['token_endpoint', 'https://169.254.169.254/latest'],
    ['authorization_endpoint', 'javascript:alert(1)'],
    ['authorization_endpoint', 'http://elsewhere.example/authorize'],
    ['issuer', provider.issuer],
  ]) {
    at.clock.advance(601);
    Object.assign(other.metadata, {
      token_endpoint,
      jwks_uri,
      authorization_endpoint,
      issuer: other.issuer,
      [name!]: value,
    });
    expect(await ask(), `${name} ${value}`).toBe(503);
  }
  Object.assign(other.metadata, { token_endpoint, jwks_uri, authorization_endpoint, issuer: other.issuer });
  expect(provider.asked.get('/token') ?? 0).toBe(inside);
  at.clock.advance(601);
  expect(await ask()).toBe(302);
});

test('OAuth alone, as GitHub has it: who it is comes from its API, and an address only from the list that says it is verified', async () => {
  await anUpstream(at, provider, 'hub', {
    kind: 'oauth2',
    registration: 'on',
    scope: ['read:user'],
    authorization_endpoint: `${provider.issuer}/authorize`,
    token_endpoint: `${provider.issuer}/token`,
    userinfo_endpoint: `${provider.issuer}/userinfo`,
    emails_endpoint: `${provider.issuer}/emails`,
    token_endpoint_auth_method: 'client_secret_post',
    claims: { sub: 'id', preferred_username: 'login' },
  });
  const browser = new TestBrowser(at);
  const sent = await press(browser, '/login', 'hub');
  expect(new URL(sent).searchParams.has('nonce')).toBe(false);
  const userinfo = { id: 4711, login: 'octo', email: 'public@elsewhere.example', email_verified: true };
  const emails = [
    { email: 'old@elsewhere.example', primary: false, verified: true },
    { email: 'octo@elsewhere.example', primary: true, verified: true },
  ];
  const back = await browser.get(provider.approve(sent, { userinfo, emails }));
  expect(back.headers.location).toBe(`${at.deps.config.ISSUER}/account`);
  const [link] = await linksOf('4711');
  const user = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', link!.sub).executeTakeFirstOrThrow();
  expect(user).toMatchObject({ username: 'octo', email: 'octo@elsewhere.example', email_verified: true });
});

test('form_post: what a provider posts comes without our cookies, and is brought back by a GET, sealed', async () => {
  await anUpstream(at, provider, 'poster', { registration: 'on', response_mode: 'form_post' });
  const browser = new TestBrowser(at);
  const sent = await press(browser, '/login', 'poster');
  expect(new URL(sent).searchParams.get('response_mode')).toBe('form_post');
  const callback = new URL(provider.approve(sent, { claims: somebody() }));
  const stranger = { origin: provider.issuer, 'sec-fetch-site': 'cross-site' };
  const posted = await new TestBrowser(at).post(callback.pathname, Object.fromEntries(callback.searchParams), stranger);
  expect(posted.statusCode).toBe(303);
  expect(posted.headers.location).not.toContain(callback.searchParams.get('code'));
  const elsewhere = posted.headers.location!.replace('/poster/', '/work/');
  expect((await browser.get(elsewhere)).statusCode).toBe(400);
  expect((await browser.get(posted.headers.location!)).headers.location).toBe(`${at.deps.config.ISSUER}/account`);
});

test('tokens are kept where that is wanted: sealed, sealed anew under the first key, counted when it is lost, and forgotten', async () => {
  const fields = { registration: 'on', keep_tokens: true };
  await anUpstream(at, provider, 'keeper', fields);
  const claims = somebody();
  await signInWith(new TestBrowser(at), 'work', { claims });
  await signInWith(new TestBrowser(at), 'keeper', { claims: { ...claims, email: undefined } });
  const sealed = async () => {
    const found = await at.deps.db
      .selectFrom('upstream_links')
      .select(['upstream', 'sealed_tokens'])
      .where('upstream_sub', '=', claims.sub)
      .orderBy('upstream')
      .execute();
    return found.map(({ upstream, sealed_tokens }) => [upstream, sealed_tokens?.toString('latin1') ?? null]);
  };
  const [[, before], [, none]] = (await sealed()) as [[string, string], [string, null]];
  expect([before, none]).toEqual([expect.not.stringContaining('access_token'), null]);
  const { db } = at.deps;
  const another = 'another key, that is to be the first of them';
  const later = { db, secrets: createSecrets([another], random) };
  expect([await countLostTokens(at.deps), await countLostTokens(later)]).toEqual([0, 1]);
  await resealTokens(later);
  expect((await sealed())[0]).toEqual(['keeper', before]);
  await resealTokens({ db, secrets: createSecrets([another, TEST_SECRET_KEY], random) });
  expect([await countLostTokens(at.deps), await countLostTokens(later)]).toEqual([1, 0]);
  await anUpstream(at, provider, 'keeper', { ...fields, keep_tokens: false });
  expect((await sealed())[0]).toEqual(['keeper', null]);
});

test('of two providers with one domain the first by name is where its addresses lead', async () => {
  await anUpstream(at, other, 'a-work', { domains: ['work.example'] });
  const lead = async (): Promise<string> => {
    const browser = new TestBrowser(at);
    const form_token = formTokenOf(await browser.get('/login'));
    const answer = await browser.post('/login', { username: 'ada@work.example', form_token, action: 'login' });
    return new URL(answer.headers.location!).origin;
  };
  expect(await lead()).toBe(other.issuer);
  await anUpstream(at, other, 'a-work', { domains: ['work.example'], disabled: true });
  expect(await lead()).toBe(provider.issuer);
});

test('people are told by mail of a connection that is made or removed', async () => {
  const owner = await aUser(at);
  const browser = new TestBrowser(at);
  const claims = somebody();
  const url = (await signInWith(browser, 'other', { claims })).headers.location!;
  const login = { username: owner.username, password: PASSWORD, form_token: formTokenOf(await browser.get(url)) };
  await browser.post(url, login);
  const connections = '/account/connections';
  const form_token = formTokenOf(await browser.get(connections));
  await browser.post(connections, { action: 'connect', form_token });
  const gone = { action: 'disconnect', upstream: 'other', upstream_sub: claims.sub };
  await browser.post(connections, { ...gone, form_token: formTokenOf(await browser.get(connections)) });
  expect(await linksOf(claims.sub)).toEqual([]);
  const subjects = (await mailTo(at, owner.email!)).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(['You can no longer sign in with OTHER', 'You can now sign in with OTHER']);
});
