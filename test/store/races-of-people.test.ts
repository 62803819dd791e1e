/** People at the same door at once: consent, sign-in, sessions, accounts, throttles. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endSession, startSession } from '../../src/sessions/index.ts';
import { endOthersOf } from '../../src/sessions/of-person.ts';
import { transact, type Trx } from '../../src/store/postgres/db.ts';
import * as failures from '../../src/store/failures.ts';
import * as groups from '../../src/store/groups.ts';
import { drawHandle, readHandle } from '../../src/protocol/handle.ts';
import * as replays from '../../src/store/replays.ts';
import * as roles from '../../src/store/roles.ts';
import * as sessions from '../../src/store/sessions.ts';
import * as users from '../../src/store/users.ts';
import type { User } from '../../src/store/users.ts';
import { removeAccount, setDisabled, setPassword } from '../../src/users/accounts.ts';
import { signIn as checkPassword } from '../../src/users/sign-in.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  aClient,
  authorizationUrl,
  aUser,
  aVerifier,
  BY,
  formTokenOf,
  PASSWORD,
  postForm,
  redeem,
  signIn,
  someTokens,
  TestBrowser,
  type AClient,
} from '../support/fixtures.ts';
import { atOnce, connected, overtaken, tally } from '../support/races.ts';

const REQUESTER = { ip: '192.0.2.1', network: '192.0.2.1', request_id: 'a race' };

let database: TestDatabase;
let at: TestApp;
let client: AClient;
beforeAll(async () => {
  database = await createTestDatabase({ max: 20 });
  await connected(database.db, 20);
  at = await testApp({ database });
  client = await aClient(at);
});
afterAll(async () => {
  await at.close();
  await database.close();
});

describe('a page submitted again and again', () => {
  /** A request that waits at the page of its next step. */
  async function waiting(browser: TestBrowser): Promise<{ page: string; interaction: string; code_verifier: string }> {
    const { code_verifier, code_challenge } = aVerifier();
    const parameters = { code_challenge, code_challenge_method: 'S256', prompt: 'consent' };
    const answer = await browser.get(authorizationUrl(browser.issuer, client, parameters));
    const page = answer.headers.location!;
    return { page, interaction: page.slice(0, page.lastIndexOf('/')), code_verifier };
  }
  const answersToClient = (answers: Array<Awaited<ReturnType<TestBrowser['get']>>>): URLSearchParams[] =>
    answers
      .map(({ headers }) => headers.location)
      .filter((location) => location?.startsWith(client.redirect_uri))
      .map((location) => new URL(location!).searchParams);

  test('ten approvals are one consent, and twenty returns are one answer to the client', async () => {
    const user = await aUser(at);
    const browser = await signIn(at, user);
    const { page, interaction, code_verifier } = await waiting(browser);
    const form_token = formTokenOf(await browser.get(page));
    const approvals = await atOnce(10, () => browser.post(page, { form_token, action: 'approve' }));
    expect(tally(approvals.map(({ statusCode }) => statusCode))).toEqual({ 303: 10 });

    const returns = await atOnce(20, () => browser.get(interaction));
    expect(tally(returns.map(({ statusCode }) => statusCode))).toEqual({ 302: 1, 400: 19 });
    const [answer, ...others] = answersToClient(returns);
    expect(others).toEqual([]);
    const redeemed = await redeem(at, { code: answer!.get('code')!, code_verifier, client, user, browser });
    expect(redeemed.statusCode).toBe(200);
    const { db } = at.deps;
    expect(await db.selectFrom('consents').selectAll().where('sub', '=', user.sub).execute()).toHaveLength(1);
    expect(await db.selectFrom('grants').selectAll().where('sub', '=', user.sub).execute()).toHaveLength(1);
  });

  test('approving and denying at once is answered once, one way or the other', async () => {
    const browser = await signIn(at, await aUser(at));
    for (let round = 0; round < 4; round += 1) {
      const { page, interaction } = await waiting(browser);
      const form_token = formTokenOf(await browser.get(page));
      const decided = await atOnce(6, (index) =>
        browser.post(page, { form_token, action: index % 2 === 0 ? 'approve' : 'deny' }),
      );
      expect(decided.every(({ statusCode }) => statusCode === 303)).toBe(true);
      const returns = await atOnce(10, () => browser.get(interaction));
      expect(tally(returns.map(({ statusCode }) => statusCode))).toEqual({ 302: 1, 400: 9 });
      expect(answersToClient(returns)).toHaveLength(1);
    }
  });

  test('a decision and twenty returns at once never give two answers', async () => {
    const browser = await signIn(at, await aUser(at));
    for (let round = 0; round < 4; round += 1) {
      const { page, interaction } = await waiting(browser);
      const form_token = formTokenOf(await browser.get(page));
      const answers = await atOnce(21, (index) =>
        index === 3 ? browser.post(page, { form_token, action: 'approve' }) : browser.get(interaction),
      );
      expect(answers.every(({ statusCode }) => statusCode < 500)).toBe(true);
      expect(answersToClient(answers).length).toBeLessThanOrEqual(1);
    }
  });

  test('a sign-in form sent five times signs in five times, and the request goes on', async () => {
    const user = await aUser(at);
    const browser = new TestBrowser(at);
    const { page, interaction } = await waiting(browser);
    const form_token = formTokenOf(await browser.get(page));
    const fields = { form_token, username: user.username, password: PASSWORD, action: 'login' };
    const answers = await atOnce(5, () => browser.post(page, fields));
    expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 303: 5 });
    expect((await browser.get(interaction)).headers.location).toBe(`${interaction}/consent`);
  });
});

describe('sessions and what ends them', () => {
  const start = { kind: 'browser', ttl: 3600, via: 'test' } as const;
  const person = { amr: ['pwd'], acr: '1' };
  const proof = { ...person, password_changed_at: null };
  const proven = async (user: User): Promise<Awaited<ReturnType<typeof checkPassword>>> =>
    checkPassword(at.deps, { username: user.username, password: PASSWORD, device: undefined }, REQUESTER);
  const liveOf = (user: User): Promise<unknown[]> =>
    at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).where('ended_at', 'is', null).execute();
  const rowOf = (sub: string): Parameters<typeof sessions.insert>[1] => {
    const now = at.clock.now();
    const { handle: _, ...key } = drawHandle(at.deps.random, new Date(now.getTime() + 3_600_000));
    const times = { auth_time: now, created_at: now, seen_at: now, expires_at: new Date(now.getTime() + 3_600_000) };
    return { ...key, sid: `sid ${key.hash.toString('hex')}`, kind: 'browser', sub, ...person, ...times };
  };
  const liveSession = async (browser: TestBrowser): Promise<sessions.LiveSession> => {
    const key = readHandle(browser.cookies.get('__Host-postern_session')!)!;
    return (await sessions.findLive(at.deps.db, [key], at.clock.now(), new Date(0)))[0]!;
  };

  test('a sign-in waits for a disabling in flight and is refused', async () => {
    const user = await aUser(at);
    const [, inserted] = await overtaken(
      at.deps.db,
      (trx) => users.update(trx, user.sub, { disabled_at: at.clock.now() }),
      () => at.deps.db.transaction().execute((trx) => sessions.insert(trx, rowOf(user.sub), null)),
    );
    expect(inserted).toBe(false);
  });

  test('a disabling waits for a sign-in in flight and ends its session', async () => {
    const user = await aUser(at);
    await overtaken(
      at.deps.db,
      (trx) => sessions.insert(trx, rowOf(user.sub), null),
      () => transact(at.deps.db, (trx) => setDisabled(trx, user.sub, true, BY, at.clock.now())),
    );
    expect(await liveOf(user)).toEqual([]);
  });

  test('a password change waits for a sign-in in flight and ends its session', async () => {
    const user = await aUser(at);
    const { password_changed_at } = await proven(user);
    const [inserted] = await overtaken(
      at.deps.db,
      (trx) => sessions.insert(trx, rowOf(user.sub), password_changed_at),
      () => setPassword(at.deps, user.sub, 'another long password', BY, at.clock.now()),
    );
    expect(inserted).toBe(true);
    expect(await liveOf(user)).toEqual([]);
  });

  test('a sign-in waits for a password change in flight and is refused', async () => {
    const user = await aUser(at);
    const { password_changed_at } = await proven(user);
    at.clock.advance(1);
    const [, inserted] = await overtaken(
      at.deps.db,
      (trx) => users.setPassword(trx, user.sub, 'a hash', at.clock.now()),
      () => at.deps.db.transaction().execute((trx) => sessions.insert(trx, rowOf(user.sub), password_changed_at)),
    );
    expect(inserted).toBe(false);
  });

  test('twenty sign-ins racing a disabling leave no live session', async () => {
    for (let round = 0; round < 5; round += 1) {
      const user = await aUser(at, { password: undefined });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          index === 4 * round
            ? transact(at.deps.db, (trx) => setDisabled(trx, user.sub, true, BY, at.clock.now()))
            : startSession(at.deps, { sub: user.sub, ...proof }, start, REQUESTER, at.clock.now()),
        ),
      );
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused.every(({ reason }) => (reason as { error?: string }).error === 'access_denied')).toBe(true);
      expect(await liveOf(user)).toEqual([]);
    }
  });

  test('of twenty sign-ins racing the end of all other sessions only those that began after it are left', async () => {
    const user = await aUser(at, { password: undefined });
    const begin = () => startSession(at.deps, { sub: user.sub, ...proof }, start, REQUESTER, at.clock.now());
    const { sid } = await begin();
    await begin();
    await atOnce<unknown>(21, (index) =>
      index === 7 ? endOthersOf(at.deps, { sub: user.sub, sid }, BY, at.clock.now()) : begin(),
    );
    const events = await at.deps.db
      .selectFrom('audit_events')
      .select(['event', 'detail'])
      .where('sub', '=', user.sub)
      .where('event', 'in', ['sign_in', 'other_sessions_ended'])
      .execute();
    const ended = events.find(({ event }) => event === 'other_sessions_ended')!.detail['sessions_ended'] as number;
    const live = (await liveOf(user)) as Array<{ sid: string }>;
    expect(live.map((session) => session.sid)).toContain(sid);
    expect([ended > 0, ended + live.length]).toEqual([true, 22]);
    // Nobody who began before is left, however the rest fell: once more, with nobody else, one is left.
    await endOthersOf(at.deps, { sub: user.sub, sid }, BY, at.clock.now());
    expect(await liveOf(user)).toHaveLength(1);
  });

  test('the end of all other sessions waits for a sign-in in flight, and ends it', async () => {
    const user = await aUser(at);
    const { sid } = await startSession(at.deps, { sub: user.sub, ...proof }, start, REQUESTER, at.clock.now());
    await overtaken(
      at.deps.db,
      (trx) => sessions.insert(trx, rowOf(user.sub), null),
      () => endOthersOf(at.deps, { sub: user.sub, sid }, BY, at.clock.now()),
    );
    expect(await liveOf(user)).toHaveLength(1);
  });

  test('signing in again while the account is disabled, deleted or given a password never deadlocks', async () => {
    const endings = [
      (sub: string) => transact(at.deps.db, (trx) => setDisabled(trx, sub, true, BY, at.clock.now())),
      (sub: string) => transact(at.deps.db, (trx) => removeAccount(trx, sub, BY, at.clock.now())),
      (sub: string) => setPassword(at.deps, sub, 'another long password', BY, at.clock.now()),
    ];
    for (let round = 0; round < 12; round += 1) {
      const user = await aUser(at);
      const replaces = await liveSession(await signIn(at, user));
      const signedIn = await proven(user);
      at.clock.advance(1);
      const outcomes = await Promise.allSettled([
        ...Array.from({ length: 6 }, () =>
          startSession(at.deps, signedIn, { ...start, browser_sessions: [replaces] }, REQUESTER, at.clock.now()),
        ),
        endings[round % endings.length]!(user.sub),
      ]);
      const reasons = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));
      expect(reasons.filter((reason) => !reason.includes('access_denied'))).toEqual([]);
      expect(await liveOf(user)).toEqual([]);
    }
  });

  test('whoever proved the old password gets no session after it was changed', async () => {
    const user = await aUser(at);
    const signedIn = await proven(user);
    at.clock.advance(1);
    await setPassword(at.deps, user.sub, 'another long password', BY, at.clock.now());
    const session = startSession(at.deps, signedIn, start, REQUESTER, at.clock.now());
    await expect(session).rejects.toMatchObject({ error: 'access_denied' });
    expect(await liveOf(user)).toEqual([]);
  });

  test('a sign-out overtaken by a new sign-in of the same browser still ends the grants of the session', async () => {
    const { tokens, user, browser } = await someTokens(at, { client });
    const replaces = await liveSession(browser);
    const now = at.clock.now();
    await overtaken(
      at.deps.db,
      async (trx) => {
        await sessions.insert(trx, { ...rowOf(user.sub), sid: replaces.sid }, null);
        await sessions.supersede(trx, replaces, now);
      },
      () => transact(at.deps.db, (trx) => endSession(trx, replaces, REQUESTER, now)),
    );
    const answer = await postForm(at, '/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.client_id,
      client_secret: client.client_secret,
    });
    expect(answer.json()).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('counters', () => {
  test('of twenty claims of one jti one passes', async () => {
    const expires_at = new Date(at.clock.now().getTime() + 60_000);
    for (let round = 0; round < 5; round += 1) {
      const claims = await atOnce(20, () => replays.claim(at.deps.db, `client jti ${round}`, expires_at));
      expect(claims.filter(Boolean)).toHaveLength(1);
    }
  });

  test('a hundred failures at once, on keys in any order, are counted one by one', async () => {
    const now = at.clock.now();
    const keys = ['a', 'b', 'c'];
    const counts = await atOnce(100, (index) =>
      failures.count(at.deps.db, index % 2 === 0 ? keys : keys.toReversed(), now, new Date(0)),
    );
    expect(counts.map((count) => count.get('b')!).toSorted((a, b) => a - b)).toEqual(
      [...Array(100).keys()].map((i) => i + 1),
    );
    const read = await failures.read(at.deps.db, keys, new Date(0));
    expect([...read.values()].map(({ count }) => count)).toEqual([100, 100, 100]);
  });

  test('of sixty guesses reserved at once, in two lanes, as many are granted as are free in both, and no others count', async () => {
    const now = at.clock.now();
    const lanes = [
      { key: 'narrow', policy: { free: 5, first: 1, longest: 900 } },
      { key: 'a wide one', policy: { free: 30, first: 1, longest: 300 } },
    ];
    const since = new Date(now.getTime() - 1000);
    const reservations = await atOnce(60, (index) =>
      failures.reserve(at.deps.db, index % 2 === 0 ? lanes : lanes.toReversed(), now, since),
    );
    expect(reservations.filter(({ granted }) => granted)).toHaveLength(5);
    const keys = lanes.map(({ key }) => key);
    const counts = async () => [...(await failures.read(at.deps.db, keys, since)).values()].map(({ count }) => count);
    expect(await counts()).toEqual([5, 5]);
    // One is heard when the delay is over, and one alone.
    const later = new Date(now.getTime() + 1000);
    const next = await atOnce(10, () => failures.reserve(at.deps.db, lanes, later, since));
    expect(next.filter(({ granted }) => granted)).toHaveLength(1);
    await failures.release(at.deps.db, keys);
    expect(await counts()).toEqual([5, 5]);
    await Promise.all([
      ...Array.from({ length: 10 }, () => failures.forget(at.deps.db, keys)),
      ...Array.from({ length: 10 }, () => failures.reserve(at.deps.db, lanes, later, since)),
      ...Array.from({ length: 10 }, () => failures.release(at.deps.db, keys.toReversed())),
    ]);
  });

  test('of forty wrong passwords at once no more are heard than are free and have a turn', async () => {
    const user = await aUser(at);
    const fields = { username: user.username, password: 'not the right password' };
    const answers = await atOnce(40, () => postForm(at, '/login', fields, { accept: 'application/json' }));
    const { 401: heard = 0, 429: refused = 0 } = tally(answers.map(({ statusCode }) => statusCode));
    expect(heard + refused).toBe(40);
    expect(heard).toBeGreaterThanOrEqual(5);
    expect(heard).toBeLessThanOrEqual(5 + 2);
    const name = `password:${at.deps.secrets.mac('typed-name', [user.username]).toString('base64url')}`;
    const read = await failures.read(at.deps.db, [name], new Date(0));
    expect(read.get(name)?.count).toBe(heard);
  });
});

describe('a person or a group with room for one more', () => {
  const MOST = 1;
  const named = { name: '', description: null, created_at: new Date(), updated_at: new Date() };
  const aGroup = (name: string): Promise<void> =>
    transact(at.deps.db, (trx) => groups.insert(trx, { ...named, group_id: name, name }));
  const aRole = (name: string): Promise<boolean> =>
    transact(at.deps.db, (trx) => roles.insert(trx, { ...named, role_id: name, resource: null, name }));

  test('two groups at once: the second waits for the first, and finds no room', async () => {
    const { sub } = await aUser(at);
    await Promise.all(['first', 'second'].map(aGroup));
    const join = (trx: Trx, name: string) => groups.addMembers(trx, name, [sub], MOST, at.clock.now());
    const [first, second] = await overtaken(
      at.deps.db,
      (trx) => join(trx, 'first'),
      () => transact(at.deps.db, (trx) => join(trx, 'second')),
    );
    expect([first, second]).toMatchObject([{ added: [sub], crowded: [] }, { crowded: [sub] }]);
  });

  test.each(['users', 'groups'] as const)('two roles for one of the %s at once: the same', async (kind) => {
    const { sub } = await aUser(at);
    await aGroup(`holding ${kind}`);
    const id = kind === 'users' ? sub : `holding ${kind}`;
    await Promise.all([`first of ${kind}`, `second of ${kind}`].map(aRole));
    const assign = (trx: Trx, name: string) => roles.assign(trx, kind, `${name} of ${kind}`, id, MOST, at.clock.now());
    const [first, second] = await overtaken(
      at.deps.db,
      (trx) => assign(trx, 'first'),
      () => transact(at.deps.db, (trx) => assign(trx, 'second')),
    );
    expect([first, second]).toMatchObject([{ added: true, crowded: false }, { crowded: true }]);
  });
});
