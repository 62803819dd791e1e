/** Which language a page is in, and the switch that changes it. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aScope, aUser, formTokenOf, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { open, submit, titleOf, valueOf } from '../../support/pages.ts';

const NAME = 'Notes';
let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { client_name: NAME });
});
afterAll(() => at.close());

const langOf = ({ body }: LightMyRequestResponse): string | undefined => /<html lang="([\w-]+)"/.exec(body)?.[1];
const choose = (browser: TestBrowser, language: string, page: LightMyRequestResponse, headers = {}) =>
  browser.post('/language', { language, return_to: valueOf(page, 'return_to') ?? '' }, headers);
const encoded = (path: string): string => Buffer.from(path).toString('base64url');

describe('RFC 9110 §12.5.4: a stranger’s page is in a language their browser accepts', () => {
  test.each([
    [undefined, 'en'],
    ['de', 'de'],
    ['pt-BR,pt;q=0.9,en;q=0.5', 'pt'],
    ['en;q=0.5, fr;q=0.8', 'fr'],
    ['tlh, zh-CN;q=0.4', 'zh-Hans'],
    ['de;q=0, ar', 'ar'],
    ['de;q=x', 'en'],
    ['*', 'en'],
    [',;,;q=', 'en'],
    ['x'.repeat(5000), 'en'],
  ])('%j', async (accepted, expected) => {
    const page = await new TestBrowser(at).get('/login', accepted === undefined ? {} : { 'accept-language': accepted });
    expect([page.statusCode, langOf(page), page.headers['content-language']]).toEqual([200, expected, expected]);
    expect(page.headers['vary']).toBe('accept-language, cookie');
  });
});

test('errors are in the person’s language, too; their codes and descriptions stay English', async () => {
  const page = await new TestBrowser(at).get('/nowhere', { 'accept-language': 'de' });
  expect([page.statusCode, titleOf(page)]).toEqual([404, 'Fehler: Hier ist keine Seite']);
  expect(page.body).toMatch(/lang="en" dir="ltr" id="error_description">there is nothing at this address</);
});

test('OpenID Connect Core §3.1.2.1: an application asks for languages by ui_locales, on every page of its request', async () => {
  const browser = await signIn(at, await aUser(at));
  const page = await open(browser, client, { ui_locales: 'tlh fr-CA fr en' });
  expect([langOf(page.response), titleOf(page.response)]).toEqual(['fr', `Autoriser l’accès de ${NAME}`]);
  expect(langOf(await browser.get('/account', { 'accept-language': 'de' }))).toBe('de');
  const refused = await new TestBrowser(at).get('/authorize?ui_locales=ja');
  expect([refused.statusCode, langOf(refused)]).toEqual([400, 'ja']);
});

test.each(['tlh', '', 'x'.repeat(6000), '"><b>'])('ui_locales %j is passed over', async (ui_locales) => {
  const { response } = await open(new TestBrowser(at), client, { ui_locales });
  expect([response.statusCode, langOf(response)]).toEqual([200, 'en']);
});

test('the switch changes the page that it is used on, and nothing of the request is lost', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const before = await open(browser, client, { ui_locales: 'de', scope: 'openid profile', state: 'kept' });
  expect(langOf(before.response)).toBe('de');
  const answer = await choose(browser, 'pl', before.response);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, before.url]);
  const after = { url: before.url, response: await browser.get(before.url) };
  expect(langOf(after.response)).toBe('pl');
  // The form of before still counts: it is the same request, in the same browser.
  const { username, password } = { ...user, password: 'correct horse battery staple' };
  const wrong = await submit(browser, before, { username, password: `not ${password}`, action: 'login' });
  expect([wrong.statusCode, langOf(wrong), titleOf(wrong)]).toEqual([400, 'pl', `Błąd: Zaloguj się do ${NAME}`]);
  // The next application may ask for another one again, and has just spoken with the person.
  at.clock.advance(1);
  expect(langOf((await open(browser, client, { ui_locales: 'de' })).response)).toBe('de');
  expect(langOf((await open(browser, client)).response)).toBe('pl');
});

test('OpenID Connect Registration §2.1: applications and scopes speak to people in their language, where somebody said how', async () => {
  await aScope(at, 'notes:read', {
    description: 'Read your notes',
    descriptions: { 'de-AT': 'Ihre Notizen lesen' },
    for_people: true,
  });
  const scope = 'openid notes:read';
  const named = { client_name: 'Notes', 'client_name#DE': 'Notizen', 'policy_uri#de': 'https://notes.example/daten' };
  const application = await aClient(at, { ...named, scope });
  const browser = await signIn(at, await aUser(at));
  const german = await open(browser, application, { scope, ui_locales: 'de' });
  for (const said of ['<bdi>Notizen</bdi>', 'Ihre Notizen lesen', 'https://notes.example/daten', 'Dienst sind']) {
    expect(german.response.body).toContain(said);
  }
  const french = await open(browser, application, { scope, ui_locales: 'fr' });
  for (const said of ['<bdi>Notes</bdi>', 'Read your notes']) expect(french.response.body).toContain(said);
  await submit(browser, german, { action: 'approve' });
  const listed = await browser.get('/account/applications', { 'accept-language': 'de' });
  for (const said of ['<bdi>Notizen</bdi>', 'Ihre Notizen lesen', 'Dienst sind']) expect(listed.body).toContain(said);
});

test('whoever set a language in their profile has it, unless this browser was told another', async () => {
  const browser = await signIn(at, await aUser(at, { claims: { locale: 'es_MX' } }));
  const accepting = { 'accept-language': 'de' };
  const page = await browser.get('/account', accepting);
  expect(langOf(page)).toBe('es');
  await choose(browser, 'ja', page);
  expect(langOf(await browser.get('/account', accepting))).toBe('ja');
});

test('a link may ask for a language, and the switch has the last word', async () => {
  const browser = new TestBrowser(at);
  const page = await browser.get('/login?ui_locales=ar&to=sessions');
  expect(page.body).toContain('<html lang="ar" dir="rtl">');
  const answer = await choose(browser, 'de', page);
  expect(answer.headers.location).toBe('https://id.example.test/login?to=sessions');
});

test.each([
  'https://evil.example.test/',
  '//evil.example.test/',
  '/\\evil.example.test/',
  '/\t/evil.example.test/',
  '\\\\evil.example.test',
  'javascript:alert(1)',
  '/x\r\nset-cookie: a=b',
  '',
  'é',
])('the switch leads to no other place: %j', async (path) => {
  const browser = new TestBrowser(at);
  const answer = await browser.post('/language', { language: 'de', return_to: encoded(path) });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, 'https://id.example.test/account']);
  expect(answer.cookies.map(({ name }) => name)).toEqual(['__Host-postern_language']);
});

test('the switch is a form of ours: another site’s changes nothing, and neither does a link or an unknown language', async () => {
  const browser = new TestBrowser(at);
  const page = await browser.get('/login');
  const foreign = { origin: 'https://evil.example.test', 'sec-fetch-site': 'cross-site' };
  const answers = [
    await choose(browser, 'de', page, foreign),
    await choose(browser, 'tlh', page),
    await choose(browser, 'constructor', page),
    await browser.get('/language?language=de'),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400, 405]);
  expect([...browser.cookies.keys()].filter((name) => name.includes('language'))).toEqual([]);
});

test.each(['de', 'tlh.1', 'de.x', '__proto__.1', 'de.99999999999999999'])(
  'a cookie %j that is none of ours is nothing',
  async (value) => {
    const browser = new TestBrowser(at);
    browser.cookies.set('__Host-postern_language', value);
    expect(langOf(await browser.get('/login', { 'accept-language': 'fr' }))).toBe('fr');
  },
);

test('pages of developers and operators are in English', async () => {
  const page = await at.app.inject({ url: '/admin/v1/docs', headers: { 'accept-language': 'de' } });
  expect(page.body).toContain('<html lang="en" dir="ltr">');
  expect(page.body).not.toContain('id="language"');
});

test('the language that somebody saves in their profile comes before what they once chose with the switch', async () => {
  const browser = await signIn(at, await aUser(at));
  const page = await browser.get('/account/profile');
  await choose(browser, 'de', page);
  const save = async (locale: string) => {
    const shown = await browser.get('/account/profile');
    await browser.post('/account/profile', { form_token: formTokenOf(shown), locale });
    return langOf(await browser.get('/account/profile'));
  };
  expect(langOf(await browser.get('/account/profile'))).toBe('de');
  expect(await save('pl')).toBe('pl');
  // What is saved as it was says nothing of the language.
  await choose(browser, 'fr', page);
  expect(await save('pl')).toBe('fr');
});
