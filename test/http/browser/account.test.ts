/** The pages of one's own account: who comes to them, and by which sign-in. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aUser, formTokenOf, PASSWORD, signIn, TestBrowser } from '../../support/fixtures.ts';

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
