/** Several people signed in in one browser: who is current, who is chosen, who is hinted at, and who is signed out. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { endSession, findSessions } from '../../src/sessions/index.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as accounts from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser, BY, formTokenOf, PASSWORD, redeem, signIn, someTokens } from '../support/fixtures.ts';
import { TestBrowser, userinfo, type AClient, type Tokens } from '../support/fixtures.ts';
import { answerTo, expectErrorPage, open, proceed, signInAt, stepOf, submit, valueOf } from '../support/pages.ts';

const SESSION = '__Host-postern_session';
let at: TestApp;
let client: AClient;
let ada: User;
let bob: User;
let eve: User;
/** Ada signed in first, then Bob: Bob is the current person. */
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true, post_logout_redirect_uris: ['https://app.example.test/bye'] });
  ada = await aUser(at, { username: 'ada' });
  bob = await aUser(at, { username: 'bob', claims: { name: 'Bob' } });
  eve = await aUser(at, { username: 'eve', claims: { name: 'Eve' } });
});
beforeEach(async () => {
  browser = await signIn(at, ada);
  await signInToo(browser, bob);
  at.clock.advance(5);
});
afterAll(() => at.close());

async function signInToo(who: TestBrowser, user: User): Promise<void> {
  const form_token = formTokenOf(await who.get('/login'));
  const answer = await who.post('/login', { username: user.username, password: PASSWORD, form_token });
  expect(answer.statusCode).toBe(303);
}
const handles = (who = browser): string[] => who.cookies.get(SESSION)?.split('.') ?? [];
const currentOf = async (who = browser): Promise<string | undefined> =>
  /<dd>(\w+)<\/dd>/.exec((await who.get('/account')).body)?.[1];
const withCookie = (value: string): TestBrowser => {
  const other = new TestBrowser(at);
  other.cookies.set(SESSION, value);
  return other;
};
/** Whose code the answer holds. */
async function subOf(answer: Record<string, string>): Promise<unknown> {
  const given = { code: answer['code']!, code_verifier: '', client, browser, user: ada };
  const { access_token } = (await redeem(at, given, { code_verifier: undefined })).json<Tokens>();
  return (await userinfo(at, access_token)).json<{ sub: string }>().sub;
}
const silently = async (parameters: Record<string, string> = {}): Promise<Record<string, string>> =>
  answerTo(client, (await open(browser, client, { prompt: 'none', ...parameters })).response);

test('whoever signs in is the current person; the one before stays signed in', async () => {
  expect(handles()).toHaveLength(2);
  expect(await currentOf()).toBe('bob');
  expect(await subOf(await silently())).toBe(bob.sub);
  expect(await currentOf(withCookie(handles()[1]!))).toBe('ada');
});

test('whoever signs in again replaces their own session only, under a new id', async () => {
  const [bobs, adas] = handles();
  await signInToo(browser, ada);
  expect(handles()).toHaveLength(2);
  expect(handles()[1]).toBe(bobs);
  expect(handles()[0]).not.toBe(adas);
  expect(await currentOf(withCookie(adas!))).toBeUndefined();
  expect(await currentOf()).toBe('ada');
});

test('of more than five the one that was current longest ago is signed out', async () => {
  const [bobs, adas] = handles();
  const { tokens } = await someTokens(at, { client, user: ada, browser: withCookie(adas!) });
  for (let more = 0; more < 3; more += 1) await signInToo(browser, await aUser(at));
  expect(handles()).toHaveLength(5);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  await signInToo(browser, await aUser(at));
  expect(handles()).toHaveLength(5);
  expect(handles()).toContain(bobs);
  expect(await currentOf(withCookie(adas!))).toBeUndefined();
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
});

describe('OpenID Connect Core §3.1.2.1: prompt=select_account', () => {
  const choose = () => open(browser, client, { prompt: 'select_account' });

  test('shows everybody who is signed in, and goes on as the one chosen, who is current from then on', async () => {
    const page = await choose();
    expect(stepOf(page)).toBe('select-account');
    for (const text of ['Ada Lovelace', ada.email!, 'Bob', bob.email!]) expect(page.response.body).toContain(text);
    expect(await subOf(answerTo(client, (await proceed(browser, page, { account: ada.sub })).response))).toBe(ada.sub);
    expect(await currentOf()).toBe('ada');
    expect(await subOf(await silently())).toBe(ada.sub);
    expect(handles()).toHaveLength(2);
  });

  test('whoever is not signed in here cannot be chosen', async () => {
    const elsewhere = await signIn(at, eve);
    for (const account of [eve.sub, '', 'nobody', handles()[0]!, '__proto__']) {
      const page = await choose();
      expect(stepOf(await proceed(browser, page, { account }))).toBe('select-account');
    }
    expect(await currentOf()).toBe('bob');
    expect(await currentOf(elsewhere)).toBe('eve');
  });

  test('whose session was ended elsewhere is neither shown nor taken', async () => {
    const page = await choose();
    const [adas] = await findSessions(at.deps, handles().slice(1), at.clock.now());
    await transact(at.deps.db, (trx) =>
      endSession(trx, adas!, { ip: '', network: '', request_id: '' }, at.clock.now()),
    );
    expect(stepOf(await proceed(browser, page, { account: ada.sub }))).toBe('select-account');
    expect((await choose()).response.body).not.toContain(ada.email);
  });

  test('whose session ended after the choice is asked again, and nobody steps in', async () => {
    const page = await choose();
    const { headers } = await submit(browser, page, { account: ada.sub });
    await accounts.setPassword(at.deps, ada.sub, PASSWORD, BY, at.clock.now());
    expect((await browser.get(headers.location!)).headers.location).toBe(page.url);
  });

  test('another account: the sign-in is choice enough, and the others stay', async () => {
    const login = await proceed(browser, await choose(), { action: 'another' });
    expect(stepOf(login)).toBe('login');
    at.clock.advance(1);
    expect(await subOf(answerTo(client, (await signInAt(browser, login, eve)).response))).toBe(eve.sub);
    expect(handles()).toHaveLength(3);
    const again = await choose();
    for (const { email } of [ada, bob, eve]) expect(again.response.body).toContain(email);
  });

  test('"Not you?" and "Not Bob?" lead to the others who are signed in, too', async () => {
    for (const prompt of ['consent', 'login']) {
      await signInToo(browser, bob);
      at.clock.advance(5);
      const page = await open(browser, client, { prompt });
      const url = /href="([^"]*\/select-account)"/.exec(page.response.body)![1]!;
      const chosen = await proceed(browser, { url, response: await browser.get(url) }, { account: ada.sub });
      expect([stepOf(chosen), chosen.response.body]).toEqual([prompt, expect.stringContaining(ada.email!)]);
      expect(chosen.response.body).not.toContain(bob.email);
    }
  });

  test('a sign-in in another tab is no choice for this one', async () => {
    const page = await choose();
    at.clock.advance(1);
    await signInToo(browser, eve);
    expectErrorPage(await submit(browser, page, { account: ada.sub }));
    expect((await browser.get(page.url)).body).toContain(eve.email);
  });
});

describe('OpenID Connect Core §3.1.2.1: hints select among those signed in', () => {
  let hint: string;
  beforeEach(async () => {
    hint = (await someTokens(at, { client, user: ada, browser: withCookie(handles()[1]!) })).tokens.id_token;
  });

  test('id_token_hint answers silently for its person, also with prompt=none, and leaves the current one', async () => {
    expect(await subOf(await silently({ id_token_hint: hint }))).toBe(ada.sub);
    const walked = await open(browser, client, { id_token_hint: hint });
    expect(await subOf(answerTo(client, walked.response))).toBe(ada.sub);
    expect(await currentOf()).toBe('bob');
  });

  test('id_token_hint of somebody who is not signed in here is login_required, whoever else is', async () => {
    const others = await signIn(at, bob);
    await signInToo(others, eve);
    const parameters = { prompt: 'none', id_token_hint: hint };
    const { response } = await open(others, client, parameters);
    expect(answerTo(client, response)).toMatchObject({ error: 'login_required' });
    const page = await open(others, client, { id_token_hint: hint });
    for (const { email } of [bob, eve]) expect(page.response.body).not.toContain(email);
  });

  test('another client’s id_token_hint does not tell who is signed in here, where nobody agreed', async () => {
    const asking = await aClient(at);
    const ofEve = (await someTokens(at, { client, user: eve })).tokens.id_token;
    for (const id_token_hint of [hint, ofEve]) {
      const { response } = await open(browser, asking, { prompt: 'none', id_token_hint });
      expect(answerTo(asking, response)).toMatchObject({ error: 'login_required' });
    }
    expect(stepOf(await open(browser, asking, { id_token_hint: hint }))).toBe('consent');
  });

  test('id_token_hint with select_account offers nobody else', async () => {
    const page = await open(browser, client, { prompt: 'select_account', id_token_hint: hint });
    expect(page.response.body).toContain(ada.email);
    expect(page.response.body).not.toContain(bob.email);
    expect(stepOf(await proceed(browser, page, { account: bob.sub }))).toBe('select-account');
  });

  test('max_age and auth_time are those of the session that is selected', async () => {
    await signInToo(browser, ada);
    at.clock.advance(30);
    await signInToo(browser, bob);
    const parameters = { max_age: '20' };
    expect(await subOf(await silently(parameters))).toBe(bob.sub);
    expect(await silently({ ...parameters, id_token_hint: hint })).toMatchObject({ error: 'login_required' });
    const page = await open(browser, client, { ...parameters, id_token_hint: hint });
    expect(valueOf(page.response, 'username')).toBe('ada');
    expect(page.response.body).toContain('Confirm it’s you');
  });

  test('OpenID Connect Core §3.1.2.2: sub asked for in the claims parameter selects its person, or nobody', async () => {
    const claims = (value: string): string => JSON.stringify({ id_token: { sub: { value } } });
    expect(await subOf(await silently({ claims: claims(ada.sub) }))).toBe(ada.sub);
    expect(await silently({ claims: claims(eve.sub) })).toMatchObject({ error: 'login_required' });
  });

  test('login_hint prefers the one it names, by username or e-mail in any case, where somebody could be asked', async () => {
    for (const login_hint of ['ADA', ada.email!.toUpperCase()]) {
      const { response } = await open(browser, client, { login_hint });
      expect(await subOf(answerTo(client, response))).toBe(ada.sub);
    }
  });

  test('login_hint tells nobody who is signed in: with prompt=none the current person answers', async () => {
    for (const login_hint of ['ada', 'bob', 'eve', 'nobody']) {
      expect(await subOf(await silently({ login_hint }))).toBe(bob.sub);
    }
  });
});

describe('RP-Initiated Logout §2: signing out', () => {
  const press = async (page: Awaited<ReturnType<TestBrowser['get']>>, action: string) =>
    browser.post('/logout', { action, form_token: formTokenOf(page) });

  test('ends the current person’s session; the others stay, and the page says so', async () => {
    const [bobs, adas] = handles();
    const page = await browser.get('/logout');
    expect(page.body).toMatch(/id="logout-confirm"[^]*id="logout-all"[^]*id="logout-cancel"/);
    expect(await press(page, 'logout')).toMatchObject({ statusCode: 303 });
    expect(handles()).toEqual([adas]);
    expect(await currentOf(withCookie(bobs!))).toBeUndefined();
    const done = await browser.get('/logout/done');
    expect(done.body).toContain('Ada Lovelace');
    expect(done.body).not.toContain('signed out of id.example.test in this browser');
  });

  test('of all accounts ends all of them', async () => {
    const before = handles();
    await press(await browser.get('/logout'), 'logout-all');
    expect(browser.cookies.has(SESSION)).toBe(false);
    for (const handle of before) expect(await currentOf(withCookie(handle))).toBeUndefined();
  });

  test('with an id_token_hint ends the session it names at once, and no other', async () => {
    const [bobs, adas] = handles();
    const { tokens } = await someTokens(at, { client, user: ada, browser: withCookie(adas!) });
    const query = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: 'https://app.example.test/bye',
      state: 's',
    });
    const answer = await browser.get(`/logout?${query.toString()}`);
    expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://app.example.test/bye?state=s']);
    expect(handles()).toEqual([bobs]);
    expect(await currentOf(withCookie(adas!))).toBeUndefined();
  });

  test('RFC 6749 §10.12: the page shown to one person does not sign out who is current now', async () => {
    const page = await browser.get('/logout');
    await signInToo(browser, ada);
    for (const action of ['logout', 'logout-all']) expectErrorPage(await press(page, action));
    expect(await currentOf()).toBe('ada');
  });
});

describe('/account', () => {
  test('shows the others and changes to one of them, with its own form only', async () => {
    const page = await browser.get('/account');
    expect(page.body).toContain(ada.email);
    const form_token = formTokenOf(page);
    const change = (fields: Record<string, string>, headers = {}) => browser.post('/account', fields, headers);
    for (const account of [eve.sub, '', 'x']) await change({ form_token, account });
    expect(await currentOf()).toBe('bob');
    expectErrorPage(await change({ form_token: 'x', account: ada.sub }));
    expectErrorPage(await change({ account: ada.sub }));
    expectErrorPage(await change({ form_token, account: ada.sub }, { origin: 'https://evil.example.test' }));
    expectErrorPage(await change({ form_token: formTokenOf(await browser.get('/logout')), account: ada.sub }));
    expect(await currentOf()).toBe('bob');
    expect(await change({ form_token, account: ada.sub })).toMatchObject({ statusCode: 303 });
    expect(await currentOf()).toBe('ada');
    // The page of the one before is over.
    expectErrorPage(await change({ form_token, account: bob.sub }));
  });
});

test('the answer is about whoever agreed, also when somebody else becomes the current person before it is given', async () => {
  const asking = await aClient(at);
  // Bob agreed once, so that nothing would keep his code back.
  await proceed(browser, await open(browser, asking), { action: 'approve' });
  await signInToo(browser, ada);
  const page = await open(browser, asking);
  expect(stepOf(page)).toBe('consent');
  const { location } = (await submit(browser, page, { action: 'approve' })).headers;
  const form_token = formTokenOf(await browser.get('/account'));
  await browser.post('/account', { form_token, account: bob.sub });
  expect(await currentOf()).toBe('bob');
  const { code } = answerTo(asking, await browser.get(location!));
  const given = { code: code!, code_verifier: '', client: asking, browser, user: ada };
  const { access_token } = (await redeem(at, given, { code_verifier: undefined })).json<Tokens>();
  expect((await userinfo(at, access_token)).json()).toMatchObject({ sub: ada.sub });
});

describe('ASVS 7.3.1: each session has its own end', () => {
  test('only the one in use is kept from growing idle', async () => {
    for (let days = 0; days < 2; days += 1) {
      at.clock.advance(86_400 - 120);
      expect(await currentOf()).toBe('bob');
    }
    expect(await currentOf(withCookie(handles()[1]!))).toBeUndefined();
    const chooser = await open(browser, client, { prompt: 'select_account' });
    expect(chooser.response.body).not.toContain(ada.email);
  });

  test('disabling one person leaves the other signed in', async () => {
    const carl = await aUser(at);
    await signInToo(browser, carl);
    await transact(at.deps.db, (trx) => accounts.setDisabled(trx, carl.sub, true, BY, at.clock.now()));
    expect(await currentOf()).toBe('bob');
  });
});

test('of a session cookie what is no live session of ours is nobody, and it is looked up but five times', async () => {
  const [bobs, adas] = handles();
  const strangers = Array.from({ length: 4 }, (_, index) => `g15_${String(index).repeat(43)}`);
  const rows: Array<[string, string | undefined]> = [
    [`${bobs}.${bobs}.${bobs}`, 'bob'],
    [`x.${adas}`, 'ada'],
    [`.${adas}.`, 'ada'],
    [`zzzzzz_${'a'.repeat(43)}.${adas}`, 'ada'],
    [`${strangers[0]}.${adas}.${strangers[1]}`, 'ada'],
    [[...strangers, adas].join('.'), 'ada'],
    [['', '', '', '', '', adas].join('.'), undefined],
    [`${bobs},${adas}`, undefined],
    [`${bobs}${adas}`, undefined],
    ['.'.repeat(200), undefined],
    [Array.from({ length: 100 }, () => adas).join('.'), undefined],
  ];
  for (const [cookie, expected] of rows) expect(await currentOf(withCookie(cookie)), cookie).toBe(expected);
});

test('two sessions of one person, put into one cookie by hand, are one', async () => {
  const other = await signIn(at, ada);
  const page = await open(withCookie([handles()[1], ...handles(other)].join('.')), client, {
    prompt: 'select_account',
  });
  expect(page.response.body.split(ada.email!)).toHaveLength(2);
});
