/** Several tabs of one browser that sign in at once: whatever answer comes last, the cookie names every session that lives. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/protocol/handle.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { aUser, formTokenOf, PASSWORD, signIn, TestBrowser } from '../support/fixtures.ts';
import { atOnce, connected } from '../support/races.ts';

let database: TestDatabase;
let at: TestApp;
let other: TestApp;
beforeAll(async () => {
  database = await createTestDatabase({ max: 20 });
  await connected(database.db, 20);
  at = await testApp({ database });
  other = await testApp({ database, clock: at.clock });
});
afterAll(async () => {
  await at.close();
  await other.close();
  await database.close();
});

const SESSION = '__Host-postern_session';

/** As many tabs of one browser, half of them answered by another process, each with the cookies of before. */
async function tabs(browser: TestBrowser, n: number): Promise<TestBrowser[]> {
  const page = await browser.get('/login');
  const form_token = formTokenOf(page);
  return Array.from({ length: n }, (_, index) => {
    const tab = new TestBrowser(index % 2 === 0 ? at : other);
    for (const [name, value] of browser.cookies) tab.cookies.set(name, value);
    return Object.assign(tab, { form_token });
  });
}
const enter = async (tab: TestBrowser, user: User): Promise<number> => {
  const { form_token } = tab as TestBrowser & { form_token: string };
  return (await tab.post('/login', { username: user.username, password: PASSWORD, form_token })).statusCode;
};
/** The live sessions of people, and which of them a cookie names. */
async function liveOf(...people: User[]): Promise<string[]> {
  const rows = await at.deps.db
    .selectFrom('sessions')
    .select('hash')
    .where(
      'sub',
      'in',
      people.map(({ sub }) => sub),
    )
    .where('ended_at', 'is', null)
    .execute();
  return rows.map(({ hash }) => hash.toString('hex')).toSorted();
}
const namedBy = ({ cookies }: TestBrowser): string[] =>
  (cookies.get(SESSION) ?? '')
    .split('.')
    .filter((handle) => handle !== '')
    .map((handle) => sha256(handle).toString('hex'))
    .toSorted();

test('ASVS 7.2.4: six tabs that sign one person in at once get one session, whichever answer comes last', async () => {
  for (let round = 0; round < 3; round += 1) {
    const user = await aUser(at);
    const all = await tabs(new TestBrowser(at), 6);
    expect(await atOnce(6, (n) => enter(all[n]!, user))).toEqual(Array(6).fill(303));
    const live = await liveOf(user);
    expect(live).toHaveLength(1);
    for (const tab of all) expect(namedBy(tab)).toEqual(live);
  }
});

test('ASVS 7.2.4: so do they when the person is signed in already, beside somebody else', async () => {
  const [ada, bob] = [await aUser(at), await aUser(at)];
  const browser = await signIn(at, bob);
  at.clock.advance(1);
  const [first] = await tabs(browser, 1);
  expect(await enter(first!, ada)).toBe(303);
  at.clock.advance(1);
  const before = namedBy(first!);
  const all = await tabs(first!, 4);
  expect(await atOnce(4, (n) => enter(all[n]!, ada))).toEqual(Array(4).fill(303));
  const live = await liveOf(ada, bob);
  expect(live).toHaveLength(2);
  expect(live).not.toEqual(before);
  for (const tab of all) expect(namedBy(tab)).toEqual(live);
});

test('of two people who sign in in one browser at once one does, and the other is asked to try again', async () => {
  for (let round = 0; round < 3; round += 1) {
    const [ada, bob] = [await aUser(at), await aUser(at)];
    const all = await tabs(new TestBrowser(at), 2);
    const statuses = await atOnce(2, (n) => enter(all[n]!, n === 0 ? ada : bob));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 400]);
    const [winner, loser] = statuses[0] === 303 ? [all[0]!, all[1]!] : [all[1]!, all[0]!];
    expect(await liveOf(ada, bob)).toEqual(namedBy(winner));
    expect(namedBy(loser)).toEqual([]);
  }
});

test('a session whose answer never reached its browser ends with the next sign-in there, and no other browser’s', async () => {
  const user = await aUser(at);
  const elsewhere = await signIn(at, user);
  const browser = new TestBrowser(at);
  const [lost, again] = await tabs(browser, 2);
  expect(await enter(lost!, user)).toBe(303);
  at.clock.advance(1);
  expect(await enter(again!, user)).toBe(303);
  expect(await liveOf(user)).toEqual([...namedBy(again!), ...namedBy(elsewhere)].toSorted());
});

test('ASVS 7.2.4: each sign-in has a session id of its own, also in the same browser', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const first = browser.cookies.get(SESSION);
  at.clock.advance(1);
  const [tab] = await tabs(browser, 1);
  await enter(tab!, user);
  expect(tab!.cookies.get(SESSION)).not.toBe(first);
  expect(await liveOf(user)).toEqual(namedBy(tab!));
});
