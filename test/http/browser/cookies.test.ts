/** Cookies: their names and flags on https, on localhost, and with a path in the issuer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../../src/app.ts';
import { configWith } from '../../../src/config.ts';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aUser, signIn, TestBrowser } from '../../support/fixtures.ts';

let at: TestApp;
let ada: User;
beforeAll(async () => {
  at = await testApp();
  ada = await aUser(at);
});
afterAll(() => at.close());

/** Runs against the same database under another issuer; returns the cookies a sign-in sets. */
async function cookiesAt(ISSUER: string): Promise<Map<string, string>> {
  const deps = { ...at.deps, config: configWith(at.deps.config, { ISSUER }) };
  const app = await buildApp(deps);
  try {
    const lines = new Map<string, string>();
    const other = { ...at, deps, app };
    const browser = new TestBrowser(other);
    const path = new URL(`${ISSUER}/login`).pathname;
    const page = await browser.get(path);
    const token = /name="form_token" value="([^"]*)"/.exec(page.body)![1]!;
    const fields = { username: ada.username, password: 'correct horse battery staple', form_token: token };
    const answer = await browser.post(path, fields);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${ISSUER}/account`]);
    for (const line of [page, answer].flatMap(({ headers }) => [headers['set-cookie'] ?? []].flat())) {
      lines.set(line.split('=')[0]!, line);
    }
    return lines;
  } finally {
    await app.close();
  }
}

const flags = (line: string): string[] =>
  line
    .split('; ')
    .slice(1)
    .map((flag) => flag.replace(/=\d+$/, '=N'))
    .toSorted();

describe('specification §Authentication 8: session cookies carry HttpOnly, Secure and SameSite', () => {
  test('ASVS 3.3.1-3.3.4: on https every cookie is __Host-, Secure, HttpOnly, SameSite=Lax, Path=/, without Domain', async () => {
    const cookies = await cookiesAt('https://id.example.test');
    expect([...cookies.keys()].toSorted()).toEqual([
      '__Host-postern_browser',
      '__Host-postern_device',
      '__Host-postern_session',
    ]);
    const always = ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure'];
    expect(flags(cookies.get('__Host-postern_browser')!)).toEqual(always);
    expect(flags(cookies.get('__Host-postern_session')!)).toEqual(['HttpOnly', 'Max-Age=N', ...always.slice(1)]);
    expect(cookies.get('__Host-postern_session')).toContain('Max-Age=1209600');
    expect(cookies.get('__Host-postern_device')).toContain('Max-Age=31536000');
  });

  test.each([
    ['http://localhost:3000', '_3000'],
    ['http://localhost', '_80'],
  ])('on %s there is no Secure and no prefix, and the name holds the port', async (issuer, suffix) => {
    const cookies = await cookiesAt(issuer);
    const names = ['browser', 'device', 'session'].map((name) => `postern_${name}${suffix}`);
    expect([...cookies.keys()].toSorted()).toEqual(names);
    for (const line of cookies.values()) {
      expect(line).toMatch(/; HttpOnly(;|$)/);
      expect(line).toMatch(/; SameSite=Lax(;|$)/);
      expect(line).not.toMatch(/Secure|Domain/);
    }
  });

  test('two issuers on one host, told apart by their paths, do not share cookies', async () => {
    const one = [...(await cookiesAt('https://id.example.test/realms/one')).keys()].toSorted();
    const two = [...(await cookiesAt('https://id.example.test/realms/two')).keys()].toSorted();
    expect(one).toHaveLength(3);
    for (const name of [...one, ...two]) expect(name).toMatch(/^__Host-postern_(browser|device|session)_[0-9a-f]{8}$/);
    expect(one.filter((name) => two.includes(name))).toEqual([]);
  });
});

test('the binding cookie is made once and kept, and an odd one is replaced', async () => {
  const browser = new TestBrowser(at);
  await browser.get('/login');
  const value = browser.cookies.get('__Host-postern_browser')!;
  expect(value).toMatch(/^[\w-]{43}$/);
  expect((await browser.get('/login')).headers['set-cookie']).toBeUndefined();
  for (const odd of ['x', `${value}x`, 'a b', '"', 'x'.repeat(5000)]) {
    browser.cookies.set('__Host-postern_browser', odd);
    await browser.get('/login');
    expect(browser.cookies.get('__Host-postern_browser')).toMatch(/^[\w-]{43}$/);
    expect(browser.cookies.get('__Host-postern_browser')).not.toBe(value);
  }
});

test('ASVS 7.4.1: signing out clears the session’s cookie with the flags it was set with, and keeps the device’s', async () => {
  const browser = await signIn(at, ada);
  const page = await browser.get('/logout');
  const form_token = /name="form_token" value="([^"]*)"/.exec(page.body)![1]!;
  const { headers } = await browser.post('/logout', { form_token, action: 'logout' });
  const line = [headers['set-cookie'] ?? []].flat().join('\n');
  expect(line).toMatch(/^__Host-postern_session=; /);
  for (const flag of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']) expect(line).toContain(flag);
  expect(browser.cookies.has('__Host-postern_device')).toBe(true);
});

test('ASVS 14.2.1: no cookie’s value is on a page or in the log', async () => {
  const browser = await signIn(at, ada);
  const { body } = await browser.get('/account');
  const values = [...browser.cookies.values()];
  expect(values).toHaveLength(3);
  for (const value of values) {
    expect(body).not.toContain(value);
    expect(at.logged.join('')).not.toContain(value);
  }
});
