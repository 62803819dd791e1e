/** The pages of one's own account: who comes to them, and by which sign-in. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { record } from '../../../src/events/index.ts';
import * as users from '../../../src/store/users.ts';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  formTokenOf,
  PASSWORD,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  userinfo,
} from '../../support/fixtures.ts';

let at: TestApp;
let ada: User;
let bob: User;
beforeAll(async () => {
  at = await testApp();
  ada = await aUser(at);
  bob = await aUser(at, { claims: { name: 'Bob' } });
});
afterAll(() => at.close());

const sessionsOf = (sub: string) =>
  at.deps.db
    .selectFrom('sessions')
    .select(['sid', 'auth_time'])
    .where('sub', '=', sub)
    .where('ended_at', 'is', null)
    .execute();

test('on the way to a page of the account whoever is signed in confirms that it is them, in the same session', async () => {
  const browser = await signIn(at, ada);
  const [before] = await sessionsOf(ada.sub);
  at.clock.advance(400);
  const page = await browser.get('/login?to=overview');
  expect(page.body).toContain('Confirm it’s you');
  expect(page.body).toContain(`value="${ada.username}"`);
  const fields = { username: ada.username, form_token: formTokenOf(page) };
  const wrong = await browser.post('/login?to=overview', { ...fields, password: 'not it' });
  expect([wrong.statusCode, wrong.body]).toEqual([400, expect.stringContaining('Confirm it’s you')]);
  const right = await browser.post('/login?to=overview', { ...fields, password: PASSWORD });
  expect([right.statusCode, right.headers.location]).toEqual([303, 'https://id.example.test/account']);
  const [after, ...more] = await sessionsOf(ada.sub);
  expect(more).toEqual([]);
  expect(after).toEqual({ sid: before!.sid, auth_time: at.clock.now() });
});

test('the bare address of the server, and one slash too many, lead to the account', async () => {
  const browser = new TestBrowser(at);
  for (const path of ['/', '/account/', '/?utm=1']) {
    const answer = await browser.get(path);
    expect([answer.statusCode, answer.headers.location], path).toEqual([302, 'https://id.example.test/account']);
  }
  expect((await browser.post('/', {})).statusCode).toBe(405);
});

test('a sign-in leads to pages of the account by their names only', async () => {
  for (const to of ['https://evil.example.test', '//evil.example.test', '/account', '__proto__', 'constructor', '']) {
    const browser = new TestBrowser(at);
    const path = `/login?to=${encodeURIComponent(to)}`;
    const page = await browser.get(path);
    expect(page.body).not.toContain('evil');
    const fields = { username: bob.username, password: PASSWORD, form_token: formTokenOf(page) };
    const answer = await browser.post(path, fields);
    expect(answer.headers.location).toBe('https://id.example.test/account');
  }
});

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const sidsOn = (page: { body: string }): string[] =>
  [...page.body.matchAll(/id="session-end-([\w-]+)"/g)].map(([, sid]) => sid!);

test('/account/sessions shows each session with its device and network, and ends one or all others', async () => {
  const eve = await aUser(at);
  const here = await signIn(at, eve);
  const there = new TestBrowser(at);
  const login = await there.get('/login');
  const fields = { username: eve.username, password: PASSWORD, form_token: formTokenOf(login) };
  await there.post('/login', fields, { 'user-agent': `${FIREFOX} <script>` });
  await signIn(at, eve);
  const page = await here.get('/account/sessions');
  expect(page.body).toContain('Firefox, Windows');
  expect(page.body).toContain('This computer');
  expect(page.body).toContain('An unknown device');
  expect(page.body).not.toContain('Gecko');
  expect(page.body.split('This one')).toHaveLength(2);
  expect(sidsOn(page)).toHaveLength(2);

  // Somebody else's session does not end by its sid.
  const form_token = formTokenOf(page);
  const stranger = await signIn(at, bob);
  const theirs = formTokenOf(await stranger.get('/account/sessions'));
  for (const end of [sidsOn(page)[0]!, '', '__proto__']) {
    const answer = await stranger.post('/account/sessions', { form_token: theirs, end });
    expect(answer.headers.location).toContain('done=gone');
  }
  expect(sidsOn(await here.get('/account/sessions'))).toHaveLength(2);
  // Nor by a form of theirs, or of another page.
  for (const forged of [theirs, formTokenOf(await here.get('/account')), '']) {
    expect((await here.post('/account/sessions', { form_token: forged, others: 'end' })).statusCode).toBe(400);
  }

  const mine = (await sessionsOf(eve.sub)).find(({ sid }) => !sidsOn(page).includes(sid))!.sid;
  const [first] = sidsOn(page);
  expect((await here.post('/account/sessions', { form_token, end: first! })).headers.location).toContain('done=ended');
  await here.post('/account/sessions', { form_token, others: 'end' });
  expect((await sessionsOf(eve.sub)).map(({ sid }) => sid)).toEqual([mine]);
  expect((await there.get('/account')).statusCode).toBe(302);
  expect((await here.get('/account/sessions?done=others')).body).toContain('All other sessions have ended');
  const events = await at.deps.db
    .selectFrom('audit_events')
    .select(['event', 'detail'])
    .where('sub', '=', eve.sub)
    .execute();
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['sign_out', 'other_sessions_ended']));
});

test('/account/applications says what each may do, and takes it back with every token', async () => {
  const client = await aClient(at, { client_name: 'Diary' });
  const other = await aClient(at);
  const { user, browser, tokens } = await someTokens(at, {
    client,
    parameters: { scope: 'openid email offline_access' },
  });
  const { tokens: kept } = await someTokens(at, { client: other, user, browser });
  const page = await browser.get('/account/applications');
  expect(page.body).toContain('Diary');
  expect(page.body).toContain('Keep access when you are away');
  const stranger = await signIn(at, bob);
  await someTokens(at, { client: other, user: bob, browser: stranger });
  const theirs = formTokenOf(await stranger.get('/account/applications'));
  const gone = await stranger.post('/account/applications', { form_token: theirs, revoke: client.client_id });
  expect(gone.headers.location).toContain('done=gone');
  const form_token = formTokenOf(page);
  expect(
    (await browser.post('/account/applications', { form_token: theirs, revoke: client.client_id })).statusCode,
  ).toBe(400);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);

  const answer = await browser.post('/account/applications', { form_token, revoke: client.client_id });
  expect(answer.headers.location).toContain('done=revoked');
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  expect((await userinfo(at, kept.access_token)).statusCode).toBe(200);
  expect((await browser.get('/account/applications')).body).not.toContain('Diary');
});

test('ASVS 10.7.3: one thing that an application may do is taken back alone, and what it got with it ends', async () => {
  const client = await aClient(at, { client_name: 'Calendar' });
  const scope = 'openid email offline_access';
  const { user, browser, tokens } = await someTokens(at, { client, parameters: { scope } });
  const plain = await someTokens(at, { client, user, browser, parameters: { scope: 'openid' } });
  const page = await browser.get('/account/applications');
  const value = `${client.client_id} email`;
  expect(page.body).toContain(`value="${value}"`);
  expect(page.body).not.toContain(`value="${client.client_id} openid"`);
  const form_token = formTokenOf(page);
  const narrow = (what: string) => browser.post('/account/applications', { form_token, narrow: what });
  for (const other of [client.client_id, `${client.client_id} phone`, `nobody email`, ' ']) {
    expect((await narrow(other)).headers.location, other).toContain('done=gone');
  }
  expect((await narrow(value)).headers.location).toContain('done=narrowed');
  expect((await narrow(value)).headers.location).toContain('done=gone');

  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  expect((await userinfo(at, plain.tokens.access_token)).statusCode).toBe(200);
  const after = await browser.get('/account/applications?done=narrowed');
  expect(after.body).toContain('It may not do that any more');
  expect(after.body).not.toContain(`value="${value}"`);
  expect(after.body).toContain(`value="${client.client_id} offline_access"`);
  // What is left is not asked for again; what was taken back is.
  const agreed = await at.deps.db
    .selectFrom('consents')
    .select('scope')
    .where('client_id', '=', client.client_id)
    .execute();
  expect(agreed.map((row) => row.scope.toSorted())).toEqual([['offline_access', 'openid']]);
  const [event] = await at.deps.db
    .selectFrom('audit_events')
    .select('detail')
    .where('sub', '=', user.sub)
    .where('event', '=', 'consent_withdrawn')
    .execute();
  expect(event!.detail).toEqual({ grants_revoked: 1, scope: ['email'] });
});

test('ASVS 7.5.2: sessions are ended by whoever signed in a moment ago, and seen by everybody who is', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  await signIn(at, user);
  at.clock.advance(400);
  const page = await browser.get('/account/sessions');
  expect(sidsOn(page)).toHaveLength(1);
  for (const fields of [{ others: 'end' }, { end: sidsOn(page)[0]! }]) {
    const answer = await browser.post('/account/sessions', { form_token: formTokenOf(page), ...fields });
    expect(answer.headers.location).toBe('https://id.example.test/login?to=sessions');
  }
  expect(await sessionsOf(user.sub)).toHaveLength(2);
});

test('/account/profile changes the claims that the operator lets people edit, and no others', async () => {
  const user = await aUser(at, { claims: { name: 'Old', gender: 'kept', locale: 'tlh', phone_number_verified: true } });
  const browser = await signIn(at, user);
  const page = await browser.get('/account/profile');
  expect(page.body).toContain('<option value="tlh" selected');
  const form_token = formTokenOf(page);
  const save = (fields: Record<string, string>) => browser.post('/account/profile', { form_token, ...fields });
  const saved = await save({
    name: 'New Name',
    nickname: '',
    locale: 'de',
    zoneinfo: 'Europe/Berlin',
    gender: 'x',
    sub: 'x',
  });
  expect(saved.headers.location).toBe('https://id.example.test/account/profile?done=saved');
  expect((await users.find(at.deps.db, user.sub))!.claims).toEqual({
    name: 'New Name',
    gender: 'kept',
    locale: 'de',
    zoneinfo: 'Europe/Berlin',
    phone_number_verified: true,
  });
  for (const wrong of [{ zoneinfo: 'Mars/Base' }, { locale: 'no language' }, { nickname: 'x'.repeat(2001) }]) {
    const answer = await save({ ...wrong, given_name: 'lost?' });
    expect([answer.statusCode, answer.body], Object.keys(wrong)[0]).toEqual([400, expect.stringContaining('lost?')]);
  }
  const events = await at.deps.db
    .selectFrom('audit_events')
    .select('detail')
    .where('sub', '=', user.sub)
    .where('event', '=', 'user_updated')
    .execute();
  expect(events).toEqual([{ detail: { before: {}, after: {}, claims: ['locale', 'name', 'zoneinfo'] } }]);
});

test('/account/activity tells what happened in sentences, page by page, and nothing of others', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  for (let n = 0; n < 27; n += 1) {
    at.clock.advance(1);
    await record(
      at.deps.db,
      { event: 'data_downloaded', sub: user.sub },
      { ip: '192.0.2.77', network: '', request_id: '' },
      at.clock.now(),
    );
  }
  const first = await browser.get('/account/activity');
  expect(first.body.split('You downloaded your data')).toHaveLength(26);
  expect(first.body).toContain('192.0.2.0/24');
  expect(first.body).not.toContain('192.0.2.77');
  const older = /id="activity-older"\s+href="([^"]*)"/.exec(first.body)![1]!.replaceAll('&amp;', '&');
  const second = await browser.get(older);
  expect(second.body.split('You downloaded your data')).toHaveLength(3);
  expect(second.body).toContain('You signed in');
  expect(second.body).toContain('Your account was made');
  for (const before of ['x', '9999-99-99T00:00:00.000Z_1', "'; drop table users; --"]) {
    expect((await browser.get(`/account/activity?before=${encodeURIComponent(before)}`)).statusCode).toBe(200);
  }
});

test('/account/data is a file with everything about the person and no secret', async () => {
  const { user, browser, tokens } = await someTokens(at);
  const form_token = formTokenOf(await browser.get('/account/data'));
  const answer = await browser.post('/account/data', { form_token });
  expect(answer.headers['content-disposition']).toBe('attachment; filename="my-data.json"');
  const document = answer.json<Record<string, unknown>>();
  expect(Object.keys(document)).toEqual(
    expect.arrayContaining(['account', 'sessions', 'grants', 'consents', 'events', 'credentials']),
  );
  expect(answer.body).toContain(user.email);
  for (const secret of [
    'argon2',
    tokens.access_token,
    tokens.refresh_token,
    [...browser.cookies.values()][0]!,
    '"hash"',
    '"salt"',
  ]) {
    expect(answer.body).not.toContain(secret);
  }
  at.clock.advance(301);
  expect((await browser.post('/account/data', { form_token })).headers.location).toContain('/login?to=data');
});
