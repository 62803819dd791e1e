/** Redirect URIs at /authorize: compared byte by byte, but for the port of a native client's loopback address. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aPublicClient, authorizationUrl, aVerifier, TestBrowser, type AClient } from '../support/fixtures.ts';
import { answerTo, crossSitePost, expectErrorPage, stepOf, open } from '../support/pages.ts';

let at: TestApp;
let web: AClient;
let native: AClient;
let nativeV6: AClient;
beforeAll(async () => {
  at = await testApp();
  web = await aClient(at, {
    redirect_uris: ['https://app.example.test/callback', 'https://app.example.test/cb?x=1', 'http://localhost:8080/cb'],
  });
  native = await aPublicClient(at, {
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/cb', 'http://localhost:7777/cb', 'com.example.app:/cb'],
  });
  nativeV6 = await aPublicClient(at, { application_type: 'native', redirect_uris: ['http://[::1]:4000/cb?a=b'] });
});
afterAll(() => at.close());

const PKCE = { code_challenge: aVerifier().code_challenge, code_challenge_method: 'S256' };

const url = (client: AClient, redirect_uri: string): string =>
  authorizationUrl('https://id.example.test', client, { ...PKCE, redirect_uri });

async function expectRefused(client: AClient, redirect_uri: string): Promise<void> {
  const page = await new TestBrowser(at).get(url(client, redirect_uri));
  expectErrorPage(page);
  expectErrorPage(await crossSitePost(at, '/authorize', new URL(url(client, redirect_uri)).search.slice(1)));
  // Not even as a link: an attacker's address on our page would have our authority.
  expect(page.body).not.toContain('href="https://evil');
}

test.each(['https://app.example.test/callback', 'https://app.example.test/cb?x=1', 'http://localhost:8080/cb'])(
  'specification §Client, §Endpoints 1: a client has one or more redirect URIs, and each is taken as registered: %s',
  async (redirect_uri) => {
    expect(stepOf(await open(new TestBrowser(at), web, { ...PKCE, redirect_uri }))).toBe('login');
  },
);

test.each([
  'https://app.example.test/callback/',
  'https://app.example.test/callback?',
  'https://app.example.test/callback?x=1',
  'https://app.example.test/callback#',
  'https://app.example.test/callback#x',
  'https://app.example.test/Callback',
  'https://APP.example.test/callback',
  'HTTPS://app.example.test/callback',
  'http://app.example.test/callback',
  'https://app.example.test:443/callback',
  'https://app.example.test./callback',
  'https://app.example.test/call%62ack',
  'https://app.example.test/%63allback',
  'https://app.example.test//callback',
  'https://app.example.test/./callback',
  'https://app.example.test/x/../callback',
  'https://app.example.test/callback/..',
  'https://app.example.test/callback/../../evil',
  'https://app.example.test/callback;x',
  'https://app.example.test\\callback',
  'https:/app.example.test/callback',
  'https:app.example.test/callback',
  '//app.example.test/callback',
  '/callback',
  ' https://app.example.test/callback',
  'https://app.example.test/callback ',
  'https://app.example.test/callback\t',
  'https://app.example.test/callback\r\nX: y',
  'https://app.example.test@evil.example.test/callback',
  'https://user@app.example.test/callback',
  'https://user:pw@app.example.test/callback',
  'https://app.example.test.evil.example.test/callback',
  'https://evil.example.test/app.example.test/callback',
  'https://evil.example.test\\@app.example.test/callback',
  'https://evilapp.example.test/callback',
  'https://sub.app.example.test/callback',
  'https://*.example.test/callback',
  'https://аpp.example.test/callback',
  'https://app.example.test/cb',
  'https://app.example.test/cb?x=1&y=2',
  'https://app.example.test/cb?x=%31',
  'http://localhost:8081/cb',
  'http://localhost/cb',
  'http://127.0.0.1:8080/cb',
  'javascript:alert(1)//https://app.example.test/callback',
  'data:text/html,https://app.example.test/callback',
])(
  'specification §Authentication 5, §Errors: redirect_uri is compared by exact string: %s is refused',
  async (redirect_uri) => {
    await expectRefused(web, redirect_uri);
  },
);

test.each([
  'http://127.0.0.1/cb',
  'http://127.0.0.1:80/cb',
  'http://127.0.0.1:1/cb',
  'http://127.0.0.1:51004/cb',
  'http://127.0.0.1:65535/cb',
  'http://localhost:7777/cb',
  'com.example.app:/cb',
])('RFC 8252 §7.3: a native client may use %s', async (redirect_uri) => {
  const browser = new TestBrowser(at);
  expect(stepOf(await open(browser, native, { ...PKCE, redirect_uri }))).toBe('login');
  const refused = await browser.get(authorizationUrl(browser.issuer, native, { redirect_uri }));
  expect(answerTo({ redirect_uri }, refused)).toMatchObject({ error: 'invalid_request' });
});

test('RFC 8252 §7.3: the port of the IPv6 loopback address may vary too, its query not', async () => {
  const redirect_uri = 'http://[::1]:60123/cb?a=b';
  expect(stepOf(await open(new TestBrowser(at), nativeV6, { ...PKCE, redirect_uri }))).toBe('login');
  await expectRefused(nativeV6, 'http://[::1]:60123/cb?a=c');
  await expectRefused(nativeV6, 'http://[0:0:0:0:0:0:0:1]:60123/cb?a=b');
  await expectRefused(nativeV6, 'http://127.0.0.1:4000/cb?a=b');
});

test.each([
  'http://127.0.0.1.evil.example.test:80/cb',
  'http://127.0.0.1.evil.example.test/cb',
  'http://127.0.0.1:80.evil.example.test/cb',
  'http://127.0.0.1:80@evil.example.test/cb',
  'http://127.0.0.1@evil.example.test/cb',
  'http://127.0.0.1:@evil.example.test/cb',
  'http://user@127.0.0.1/cb',
  'http://127.0.0.1:/cb',
  'http://127.0.0.1:65536/cb',
  'http://127.0.0.1:123456/cb',
  'http://127.0.0.1:-1/cb',
  'http://127.0.0.1:8o/cb',
  'http://127.0.0.1:80:80/cb',
  'http://127.0.0.1:8080',
  'http://127.0.0.1:8080/',
  'http://127.0.0.1:8080/cb/',
  'http://127.0.0.1:8080/CB',
  'http://127.0.0.1:8080/other',
  'http://127.0.0.1:8080/cb?x',
  'http://127.0.0.1:8080/cb#x',
  'http://127.0.0.1:8080/cb\n',
  'http://127.0.0.1:8080\n/cb',
  'http://127.0.0.1:8080\\cb',
  'http://127.0.0.1:8080/%63b',
  'https://127.0.0.1:8080/cb',
  'HTTP://127.0.0.1:8080/cb',
  'http://127.0.0.2:8080/cb',
  'http://127.1:8080/cb',
  'http://0177.0.0.1:8080/cb',
  'http://2130706433:8080/cb',
  'http://0.0.0.0:8080/cb',
  'http://[::1]:8080/cb',
  'http://localhost:7778/cb',
  'http://localhost/cb',
  'com.example.app:/other',
  'com.example.app://cb',
  'com.example.app.evil:/cb',
])('RFC 8252 §7.3: only the port of a loopback IP literal varies: %s is refused', async (redirect_uri) => {
  await expectRefused(native, redirect_uri);
});

test('RFC 8252 §7.3: a web client has no such exception', async () => {
  const loopback = await aClient(at, { redirect_uris: ['http://127.0.0.1:3000/cb'] });
  await expectRefused(loopback, 'http://127.0.0.1:3001/cb');
});

test('specification §Errors: one client’s redirect_uri is not another’s', async () => {
  await expectRefused(native, web.redirect_uri);
  await expectRefused(web, native.redirect_uri);
});

test('outside development the page does not tell what is registered', async () => {
  const page = await new TestBrowser(at).get(url(web, 'https://evil.example.test/"><script>'));
  expect(page.body).not.toContain('https://app.example.test/callback');
  expect(page.body).not.toContain('"><script>');
});
