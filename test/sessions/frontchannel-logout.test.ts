/** OpenID Connect Front-Channel Logout 1.0: applications are told in frames of the page that follows a sign-out. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser, formTokenOf, signIn, someTokens, TestBrowser, type AClient } from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { titleOf } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';
const DONE = `${ISSUER}/logout/done`;
const BYE = 'https://app.example.test/bye';
let at: TestApp;
let framed: AClient;
let quiet: AClient;
beforeAll(async () => {
  at = await testApp();
  const common = { skip_consent: true, post_logout_redirect_uris: [BYE] };
  framed = await aClient(at, {
    ...common,
    client_name: 'Calendar',
    frontchannel_logout_uri: 'https://app.example.test/signed-out?from=us&x=%20',
    frontchannel_logout_session_required: true,
  });
  quiet = await aClient(at, { ...common, client_name: 'Notes' });
});
afterAll(() => at.close());

const framesOf = (page: LightMyRequestResponse): URL[] =>
  [...page.body.matchAll(/<iframe\s+src="([^"]*)"/g)].map(([, src]) => new URL(src!.replaceAll('&amp;', '&')));
const policyOf = (page: LightMyRequestResponse): string => String(page.headers['content-security-policy']);
const refreshOf = (page: LightMyRequestResponse): string | undefined =>
  /http-equiv="refresh" content="([^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&');

const someone = async (...clients: AClient[]) => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const granted = [];
  for (const client of clients) granted.push(await someTokens(at, { client, user, browser }));
  const id_token = granted.at(-1)!.tokens.id_token;
  return { user, browser, id_token, sid: decode(id_token).payload['sid'] as string };
};
/** Signs out, with the confirmation where it is asked for; returns where that leads. */
const signOut = async (browser: TestBrowser, fields: Record<string, string> = {}): Promise<string> => {
  const page = await browser.get(`/logout?${new URLSearchParams(fields).toString()}`);
  if (page.statusCode === 302) return page.headers.location!;
  const form = { ...fields, action: 'logout', form_token: formTokenOf(page) };
  return (await browser.post('/logout', form)).headers.location!;
};

test('Front-Channel Logout §3: the page frames the client’s address with iss and sid, its own query kept, and names who is told', async () => {
  const { browser, sid } = await someone(framed);
  const location = await signOut(browser);
  expect(location).toMatch(/^https:\/\/id\.example\.test\/logout\/done\?sign_out=[\w-]+$/);
  expect(location).not.toContain(sid);
  const page = await browser.get(location);
  expect([page.statusCode, titleOf(page)]).toEqual([200, 'Signed out']);
  const [frame, ...others] = framesOf(page);
  expect(others).toEqual([]);
  const parameters = new URLSearchParams({ iss: ISSUER, sid });
  expect(frame!.href).toBe(`https://app.example.test/signed-out?from=us&x=%20&${parameters.toString()}`);
  expect(page.body).toContain('<bdi>Calendar</bdi>');
  expect(refreshOf(page)).toBeUndefined();
  expect(page.headers['clear-site-data']).toBe('"cache", "storage"');
});

test('Front-Channel Logout §3: discovery says that clients can be told in frames, and of which session', async () => {
  const metadata = (await at.app.inject('/.well-known/openid-configuration')).json<Record<string, unknown>>();
  expect(metadata).toMatchObject({ frontchannel_logout_supported: true, frontchannel_logout_session_supported: true });
});

test('RFC 9700 §4.16: only that page may frame, and only origins of the clients told', async () => {
  const { browser } = await someone(framed);
  const before = policyOf(await browser.get('/logout'));
  const page = policyOf(await browser.get(await signOut(browser)));
  expect(page.split('; ').filter((directive) => directive.startsWith('frame-src'))).toEqual([
    'frame-src https://app.example.test',
  ]);
  expect(page).toContain("frame-ancestors 'none'");
  for (const policy of [before, policyOf(await browser.get('/logout/done'))]) expect(policy).not.toContain('frame-src');
});

test('RP-Initiated Logout §3: with clients to be told the way back leads over the page, and state is exact', async () => {
  const { browser, id_token } = await someone(quiet, framed);
  const state = `a b&c=d"'<é>;url=x`;
  const sent = { id_token_hint: id_token, post_logout_redirect_uri: BYE, state };
  const answer = await browser.get(`/logout?${new URLSearchParams(sent).toString()}`);
  expect([answer.statusCode, answer.headers.location]).toEqual([302, expect.stringMatching(/done\?sign_out=/)]);
  const page = await browser.get(answer.headers.location!);
  const back = `${BYE}?state=${encodeURIComponent(state)}`;
  expect(refreshOf(page)?.replaceAll('&#39;', "'")).toBe(`0;url=${back}`);
  const link = /id="logout-continue" href="([^"]*)"/.exec(page.body)![1];
  expect(link!.replaceAll('&#39;', "'")).toBe(back);
  expect(framesOf(page)).toHaveLength(1);
});

test('RP-Initiated Logout §3: without clients to be told on a page the way back is one redirect', async () => {
  const { browser, id_token } = await someone(quiet);
  const sent = { id_token_hint: id_token, post_logout_redirect_uri: BYE, state: 's' };
  const answer = await browser.get(`/logout?${new URLSearchParams(sent).toString()}`);
  expect([answer.statusCode, answer.headers.location]).toEqual([302, `${BYE}?state=s`]);
  const again = await someone(quiet);
  expect(await signOut(again.browser)).toBe(DONE);
});

test('clients that are told from server to server are named where the person stays, and delay no redirect', async () => {
  const client = await aClient(at, {
    client_name: 'Mail <1>',
    backchannel_logout_uri: 'https://app.example.test/back',
    skip_consent: true,
    post_logout_redirect_uris: [BYE],
  });
  const one = await someone(client);
  const page = await one.browser.get(await signOut(one.browser));
  expect(page.body).toContain('<bdi>Mail &lt;1&gt;</bdi>');
  expect(framesOf(page)).toEqual([]);
  const two = await someone(client);
  expect(await signOut(two.browser, { id_token_hint: two.id_token, post_logout_redirect_uri: BYE })).toBe(BYE);
});

test('Front-Channel Logout §3: a client that was granted nothing under the session is not told, nor of the sessions of others', async () => {
  const first = await someone(framed);
  const { browser } = await someone(quiet);
  expect(await signOut(browser)).toBe(DONE);
  const page = await first.browser.get(await signOut(first.browser));
  expect(framesOf(page).map(({ searchParams }) => searchParams.get('sid'))).toEqual([first.sid]);
});

test('signing out of all accounts tells of each session', async () => {
  const { browser, sid } = await someone(framed);
  const bob = await aUser(at);
  const form_token = formTokenOf(await browser.get('/login'));
  await browser.post('/login', { username: bob.username, password: 'correct horse battery staple', form_token });
  const { tokens } = await someTokens(at, { client: framed, user: bob, browser });
  const all = { action: 'logout-all', form_token: formTokenOf(await browser.get('/logout')) };
  const page = await browser.get((await browser.post('/logout', all)).headers.location!);
  const sids = framesOf(page).map(({ searchParams }) => searchParams.get('sid'));
  expect(sids).toHaveLength(2);
  expect(new Set(sids)).toEqual(new Set([sid, decode(tokens.id_token).payload['sid']]));
  expect(page.body.match(/<bdi>Calendar<\/bdi>/g)).toHaveLength(1);
});

describe('the page belongs to the browser that signed out', () => {
  test('in another browser, with another handle or later than ten minutes it is a plain page', async () => {
    const { browser, id_token } = await someone(framed);
    const location = await signOut(browser, { id_token_hint: id_token, post_logout_redirect_uri: BYE });
    const plain = async (page: Promise<LightMyRequestResponse>): Promise<void> => {
      const { statusCode, body } = await page;
      expect(statusCode).toBe(200);
      expect(body).not.toMatch(/iframe|Calendar|app\.example\.test/);
    };
    await plain(new TestBrowser(at).get(location));
    await plain((await signIn(at, await aUser(at))).get(location));
    for (const odd of ['', 'x', `g15_${'a'.repeat(43)}`, `zzzzzz_${'a'.repeat(43)}`, 'a'.repeat(5000)]) {
      await plain(browser.get(`${DONE}?sign_out=${odd}`));
    }
    at.clock.advance(599);
    expect(framesOf(await browser.get(location))).toHaveLength(1);
    at.clock.advance(1);
    await plain(browser.get(location));
  });

  test('two sign-outs of one session at once both lead to a page, and nothing fails', async () => {
    const { browser } = await someone(framed);
    const form_token = formTokenOf(await browser.get('/logout'));
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => browser.post('/logout', { action: 'logout', form_token })),
    );
    for (const { statusCode } of answers) expect([303, 400]).toContain(statusCode);
    expect(answers.filter(({ statusCode }) => statusCode === 303).length).toBeGreaterThan(0);
  });
});

describe('Front-Channel Logout §2: registration', () => {
  const register = (frontchannel_logout_uri: string, more: Parameters<typeof aClient>[1] = {}) =>
    aClient(at, { frontchannel_logout_uri, ...more });

  test.each([
    'https://other.example.test/signed-out',
    'http://app.example.test/signed-out',
    'https://app.example.test:8443/signed-out',
    'https://sub.app.example.test/signed-out',
    'https://app.example.test@evil.example.test/',
    'https://user@app.example.test/signed-out',
    'https://app.example.test/signed-out#x',
    'https://app.example.test;script-src/',
    'javascript:alert(1)',
    'https://app.example.test/a b',
    'app.example.test/signed-out',
  ])('refuses %s: scheme, host and port are those of a redirect URI', async (uri) => {
    await expect(register(uri)).rejects.toThrow(/frontchannel_logout_uri/);
  });

  test('refuses a host that a policy cannot hold, although a redirect URI has it', async () => {
    const redirect_uris = ['https://a;b.example.test/callback'];
    await expect(register('https://a;b.example.test/', { redirect_uris })).rejects.toThrow(/frontchannel_logout_uri/);
  });

  test('takes the origin of any of the redirect URIs, in any spelling of the host', async () => {
    const redirect_uris = ['https://one.example.test/callback', 'http://localhost:8080/callback'];
    for (const uri of ['https://ONE.example.test:443/x?y', 'http://localhost:8080/']) {
      await expect(register(uri, { redirect_uris })).resolves.toBeDefined();
    }
  });
});
