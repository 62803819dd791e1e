/** Guessing passwords: a delay that grows for the guesser, and never a lock that a stranger can close for good. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { configWith } from '../../src/config.ts';
import { answerMailRequests } from '../../src/mail/requests.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { sha256 } from '../../src/protocol/handle.ts';
import type { User } from '../../src/store/users.ts';
import { revokeEverything } from '../../src/users/access.ts';
import { removePassword, setDisabled, setPassword } from '../../src/users/accounts.ts';
import { DEVICE_LANES } from '../../src/users/device.ts';
import { mailAnswers } from '../../src/users/mail-answers.ts';
import { createPasswordHasher } from '../../src/users/factors/password.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser, BY, formTokenOf, PASSWORD, signIn, TestBrowser } from '../support/fixtures.ts';
import { errorOn, titleOf } from '../support/pages.ts';
import { aUserWithTotp } from '../support/second-factor.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => at.close());

/** Wrong passwords cost nothing here; how they are hashed is tested elsewhere. */
const verifyFast = () =>
  vi.spyOn(at.deps.passwords, 'verify').mockImplementation(async (phc, text) => phc !== null && text === PASSWORD);

let next = 0;
/** An address in a network that nobody else uses. */
const anAddress = (): string => `10.${Math.floor((next += 1) / 250)}.${next % 250}.7`;

const login = (username: string, password: string, remoteAddress: string, app = at.app) =>
  app.inject({
    method: 'POST',
    url: '/login',
    remoteAddress,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ username, password }),
  });

/** Status, and Retry-After where there is one. */
async function tried(user: Pick<User, 'username'>, from: string, password = 'wrong'): Promise<string> {
  const { statusCode, headers } = await login(user.username, password, from);
  return headers['retry-after'] === undefined ? String(statusCode) : `${statusCode} ${headers['retry-after']}`;
}
async function fail(user: Pick<User, 'username'>, from: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) expect(await tried(user, from)).toBe('401');
}

test('five failures are free, then the wait doubles from one second up to 15 minutes', async () => {
  verifyFast();
  const user = await aUser(at);
  const from = anAddress();
  await fail(user, from, 5);
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
    expect(await tried(user, from)).toBe(`429 ${seconds}`);
    at.clock.advance(seconds - 1);
    expect(await tried(user, from)).toBe('429 1');
    at.clock.advance(1);
    await fail(user, from, 1);
  }
});

test('while it lasts not even the right password is looked at; when it ends it signs in and resets', async () => {
  const user = await aUser(at);
  const from = anAddress();
  const verify = verifyFast();
  await fail(user, from, 5);
  verify.mockClear();
  expect(await tried(user, from, PASSWORD)).toBe('429 1');
  expect(verify).not.toHaveBeenCalled();
  at.clock.advance(1);
  expect(await tried(user, from, PASSWORD)).toBe('200');
  await fail(user, from, 5);
});

test('a success in between starts the count again', async () => {
  verifyFast();
  const user = await aUser(at);
  const from = anAddress();
  for (let round = 0; round < 3; round += 1) {
    await fail(user, from, 4);
    expect(await tried(user, from, PASSWORD)).toBe('200');
  }
});

test('the count is per address prefix: neighbours share it, others do not', async () => {
  verifyFast();
  const user = await aUser(at);
  await fail(user, '192.0.2.1', 5);
  expect(await tried(user, '192.0.2.200')).toBe('429 1');
  expect(await tried(user, '::ffff:192.0.2.9')).toBe('429 1');
  expect(await tried(user, '192.0.3.1')).toBe('401');
  await fail(user, '2001:db8:0:1::1', 5);
  expect(await tried(user, '2001:db8:0:ff::9')).toBe('429 1');
  expect(await tried(user, '2001:db8:0:100::9')).toBe('401');
});

test('ASVS 6.3.8: an account that does not exist is throttled like one that does, in any spelling', async () => {
  verifyFast();
  const from = anAddress();
  await fail({ username: 'Nobody-Here' }, from, 3);
  await fail({ username: 'nobody-here' }, from, 2);
  expect(await tried({ username: 'NOBODY-HERE' }, from)).toBe('429 1');
  expect(await tried({ username: 'nobody-else' }, from)).toBe('401');
});

test('ASVS 6.3.8: no count tells that a name and an address are of one account, nor does the crawl', async () => {
  verifyFast();
  const user = await aUser(at);
  const address = { username: user.email! };
  const from = anAddress();
  await fail(user, from, 5);
  expect(await tried(user, from)).toBe('429 1');
  // Just like an address that is nobody's.
  await fail(address, from, 5);
  expect(await tried(address, from)).toBe('429 1');
  for (let network = 0; network < 9; network += 1) await fail(user, anAddress(), 5);
  expect(await tried(user, anAddress())).toBe('429 3600');
  await fail(address, anAddress(), 1);
  // A sign-in by the one ends nothing of the other.
  expect(await tried(address, anAddress(), PASSWORD)).toBe('200');
  expect(await tried(user, anAddress())).toBe('429 3600');
});

test('ASVS 6.3.5: whoever is guessed at is told, once a day: by a worker, so that a name that nobody has is answered like theirs', async () => {
  verifyFast();
  const { db } = at.deps;
  const deps = { ...at.deps, config: { ...at.deps.config, SMTP_URL: 'smtp://localhost' } };
  const told = async (sub: string) => {
    const mails = await db.selectFrom('mails').select('recipient').where('sub', '=', sub).execute();
    const events = await db.selectFrom('audit_events').select(['event', 'ip']).where('sub', '=', sub).execute();
    return [mails.length, events.filter(({ event }) => event.endsWith('_guessed'))];
  };
  const noted = async () => (await db.selectFrom('mail_requests').select('kind').execute()).length;
  const { user } = await aUserWithTotp(at);
  const before = await noted();
  const from = anAddress();
  const guesses = { event: 'passwords_guessed', ip: from };
  await fail(user, from, 4);
  await fail({ username: 'nobody-at-all' }, from, 5);
  expect(await noted()).toBe(before + 1);
  await fail(user, from, 1);
  await fail({ username: user.email! }, anAddress(), 5);
  expect([await noted(), await told(user.sub)]).toEqual([before + 3, [0, []]]);
  await answerMailRequests(deps, mailAnswers);
  expect(await told(user.sub)).toEqual([1, [guesses]]);
  at.clock.advance(86_399);
  await fail(user, anAddress(), 5);
  await answerMailRequests(deps, mailAnswers);
  expect(await told(user.sub)).toEqual([1, [guesses]]);
  at.clock.advance(1);
  const later = anAddress();
  await fail(user, later, 5);
  await answerMailRequests(deps, mailAnswers);
  expect(await told(user.sub)).toEqual([2, [guesses, { ...guesses, ip: later }]]);
  // Whoever has the password and guesses the second factor is another matter, and told of on the same day.
  const at_once = anAddress();
  const guess = { username: user.username, password: PASSWORD, otp: '000000' };
  for (let n = 0; n < 5; n += 1) {
    const answer = await at.app.inject({ method: 'POST', url: '/login', remoteAddress: at_once, payload: guess });
    expect(answer.statusCode).toBe(401);
  }
  await answerMailRequests(deps, mailAnswers);
  const codes = { event: 'second_factors_guessed', ip: at_once };
  expect(await told(user.sub)).toEqual([3, [guesses, { ...guesses, ip: later }, codes]]);
});

test('the page says 429 with Retry-After, the form stays, and the request is not lost', async () => {
  verifyFast();
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const form_token = formTokenOf(await browser.get('/login'));
  const attempt = () => browser.post('/login', { username: user.username, password: 'wrong', form_token });
  for (let n = 0; n < 5; n += 1) expect((await attempt()).statusCode).toBe(400);
  const page = await attempt();
  expect([page.statusCode, page.headers['retry-after']]).toEqual([429, '1']);
  expect(titleOf(page)).toMatch(/^Error: Sign in/);
  expect(formTokenOf(page)).toBe(form_token);
});

test('a browser that signed in to the account before has a lane of its own', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  verifyFast();
  await fail(user, '127.0.0.1', 5);
  const stranger = new TestBrowser(at);
  const enter = async (from: TestBrowser, password = PASSWORD) => {
    const form_token = formTokenOf(await from.get('/login'));
    return (await from.post('/login', { username: user.username, password, form_token })).statusCode;
  };
  expect(await enter(stranger)).toBe(429);
  expect(await enter(browser)).toBe(303);
  // Its own failures do count.
  for (let n = 0; n < 5; n += 1) expect(await enter(browser, 'wrong')).toBe(400);
  expect(await enter(browser)).toBe(429);
});

const DEVICE = '__Host-postern_device';
/** A sign-in that shows this device cookie, from a network whose attempts are used up or not. */
async function withDevice(user: User, value: string, password = PASSWORD): Promise<number> {
  const headers = { 'content-type': 'application/json', cookie: `${DEVICE}=${value}` };
  const payload = JSON.stringify({ username: user.username, password });
  return (await at.app.inject({ method: 'POST', url: '/login', headers, payload })).statusCode;
}

test('a device cookie is good for its own account only, not forged, not after a year', async () => {
  const user = await aUser(at);
  const other = await signIn(at, await aUser(at));
  const own = (await signIn(at, user)).cookies.get(DEVICE)!;
  const [lane = '', exp = '', mac = ''] = own.split('.');
  verifyFast();
  await fail(user, '127.0.0.1', 5);
  const hostile = [
    `${lane}.${Number(exp) + 1}.${mac}`,
    `${(Number(lane) + 1) % DEVICE_LANES}.${exp}.${mac}`,
    `${lane}.${exp}.`,
    `${lane}.${exp}`,
    `..`,
    `${own}.x`,
    `~~~~~${own}`,
    'x'.repeat(600),
  ];
  for (const value of [other.cookies.get(DEVICE)!, ...hostile]) expect(await withDevice(user, value), value).toBe(429);
  at.clock.advance(1);
  await fail(user, '127.0.0.1', 1);
  expect(await withDevice(user, own)).toBe(200);
  at.clock.advance(366 * 86_400);
  await fail(user, '127.0.0.1', 5);
  expect(await withDevice(user, own)).toBe(429);
});

test.each([
  ['another password', (sub: string) => setPassword(at.deps, sub, PASSWORD, BY, at.clock.now())],
  [
    'a disabling, and being enabled again',
    async (sub: string) => {
      await transact(at.deps.db, (trx) => setDisabled(trx, sub, true, BY, at.clock.now()));
      await transact(at.deps.db, (trx) => setDisabled(trx, sub, false, BY, at.clock.now()));
    },
  ],
  [
    'a password taken away and set anew',
    async (sub: string) => {
      await transact(at.deps.db, (trx) => removePassword(trx, at.deps, sub, BY, at.clock.now()));
      await setPassword(at.deps, sub, PASSWORD, BY, at.clock.now());
    },
  ],
  [
    'the end of all access',
    (sub: string) => transact(at.deps.db, (trx) => revokeEverything(trx, sub, BY, at.clock.now())),
  ],
])('no device is known any more after %s', async (_what, change) => {
  const user = await aUser(at);
  const before = (await signIn(at, user)).cookies.get(DEVICE)!;
  at.clock.advance(1);
  await change(user.sub);
  const after = (await signIn(at, user)).cookies.get(DEVICE)!;
  verifyFast();
  await fail(user, '127.0.0.1', 5);
  expect(await withDevice(user, before)).toBe(429);
  expect(await withDevice(user, after)).toBe(200);
});

test('however many devices somebody made known, there are no more than so many lanes to guess in', async () => {
  verifyFast();
  const user = await aUser(at);
  const devices = [];
  for (let n = 0; n < 24; n += 1) devices.push((await signIn(at, user)).cookies.get(DEVICE)!);
  let heard = 0;
  for (const device of devices) {
    for (let guess = 0; guess < 6; guess += 1) heard += (await withDevice(user, device, 'wrong')) === 401 ? 1 : 0;
  }
  expect(heard).toBeLessThanOrEqual(5 * DEVICE_LANES);
});

test('a browser of several people is known to each of them, five at most, and the longest ago goes first', async () => {
  verifyFast();
  const browser = new TestBrowser(at);
  const people = [];
  for (let n = 0; n < 6; n += 1) people.push(await aUser(at));
  const enter = async (user: User, password = PASSWORD) => {
    const form_token = formTokenOf(await browser.get('/login'));
    return (await browser.post('/login', { username: user.username, password, form_token })).statusCode;
  };
  for (const user of people) expect(await enter(user)).toBe(303);
  // Again, in the lane that it has.
  expect(await enter(people[5]!)).toBe(303);
  const [first, ...others] = people;
  for (const user of people) await fail(user, '127.0.0.1', 5);
  const known = browser.cookies.get(DEVICE)!;
  expect(known.split('~')).toHaveLength(5);
  for (const user of others) expect(await withDevice(user, known)).toBe(200);
  expect(await withDevice(first!, known)).toBe(429);
});

test('NIST 800-63B-4 §3.2.2: after 100 consecutive failures, 50 of each of its names, strangers try once an hour, known browsers at once', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  verifyFast();
  for (let network = 0; network < 10; network += 1) await fail(user, anAddress(), 5);
  expect(await tried(user, anAddress())).toBe('429 3600');
  expect(await tried(user, anAddress(), PASSWORD)).toBe('429 3600');
  at.clock.advance(3600);
  await fail(user, anAddress(), 1);
  expect(await tried(user, anAddress(), PASSWORD)).toBe('429 3600');
  // The owner is never locked out, and with the owner's sign-in the alarm is over.
  const form_token = formTokenOf(await browser.get('/login'));
  expect((await browser.post('/login', { username: user.username, password: PASSWORD, form_token })).statusCode).toBe(
    303,
  );
  expect(await tried(user, anAddress(), PASSWORD)).toBe('200');
});

test('the window ends: a day without failures forgets them', async () => {
  verifyFast();
  const user = await aUser(at);
  const from = anAddress();
  await fail(user, from, 5);
  at.clock.advance(1);
  await fail(user, from, 1);
  at.clock.advance(86_400);
  await fail(user, from, 5);
  expect(await tried(user, from)).toBe('429 1');
});

test('of 100 wrong passwords at once no more are evaluated than the limit and those under way', async () => {
  const user = await aUser(at);
  const verify = vi.spyOn(at.deps.passwords, 'verify');
  const from = anAddress();
  const answers = await Promise.all(Array.from({ length: 100 }, () => login(user.username, 'wrong', from)));
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(verify.mock.calls.length).toBeLessThanOrEqual(5 + 2);
  expect(verify.mock.calls.length).toBe(statuses.filter((status) => status === 401).length);
  const name = `password:${at.deps.secrets.mac('typed-name', [user.username]).toString('base64url')}`;
  const row = await at.deps.db.selectFrom('failures').selectAll().where('key', '=', name).executeTakeFirstOrThrow();
  expect(row.count).toBe(verify.mock.calls.length);
});

test('once one failed each guess is counted before it is looked at, by several processes, too', async () => {
  const user = await aUser(at);
  const from = anAddress();
  verifyFast();
  await fail(user, from, 1);
  const processes = [createPasswordHasher(undefined, undefined, 8), createPasswordHasher(undefined, undefined, 8)];
  const verify = vi.fn<() => Promise<boolean>>(async () => false);
  const apps = await Promise.all(processes.map((each) => buildApp({ ...at.deps, passwords: { ...each, verify } })));
  try {
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, n) => login(user.username, 'wrong', from, apps[n % 2])),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(4);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(76);
    expect(verify).toHaveBeenCalledTimes(4);
    // What was refused has left no count: the delay is that of five.
    expect(await tried(user, from)).toBe('429 1');
  } finally {
    await Promise.all(apps.map((app) => app.close()));
  }
});

test('what was typed for a name that nobody has is counted under a key of ours: people type passwords there', async () => {
  verifyFast();
  const typed = 'correct horse battery staple';
  await fail({ username: typed }, anAddress(), 1);
  const rows = await at.deps.db.selectFrom('failures').select('key').where('key', 'like', 'password:%').execute();
  const [bare, ours] = [sha256(typed), at.deps.secrets.mac('typed-name', [typed])].map((hash) =>
    hash.toString('base64url'),
  );
  expect(rows.filter(({ key }) => key.includes(bare!) || key.includes(typed))).toEqual([]);
  expect(rows.filter(({ key }) => key.startsWith(`password:${ours}`))).toHaveLength(2);
});

test('ASVS 15.4.4: more sign-ins at once than can be heard soon are answered 503 with Retry-After', async () => {
  let release = (): void => {};
  const held = new Promise<boolean>((resolve) => {
    release = () => resolve(false);
  });
  vi.spyOn(at.deps.passwords, 'verify').mockReturnValue(held);
  const waiting = Array.from({ length: 110 }, (_, n) => login(`crowd-${n}`, 'wrong', '10.200.0.1'));
  const first = await Promise.race(waiting);
  expect([first.statusCode, first.headers['retry-after']]).toEqual([503, '2']);
  expect(first.json()).toMatchObject({ error: 'temporarily_unavailable' });
  // Other requests do not wait behind them.
  expect((await at.app.inject({ url: '/.well-known/openid-configuration' })).statusCode).toBe(200);
  release();
  const statuses = (await Promise.all(waiting)).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 503)).toHaveLength(8);
});

test('the count is shared by every process', async () => {
  const user = await aUser(at);
  const from = anAddress();
  verifyFast();
  const other = await buildApp({ ...at.deps, passwords: createPasswordHasher() });
  try {
    await fail(user, from, 5);
    expect((await login(user.username, PASSWORD, from, other)).statusCode).toBe(429);
  } finally {
    await other.close();
  }
});

test('specification §Authentication 8, §Limits: login endpoints are rate limited, and limits are told in response headers', async () => {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, { LOGIN_RATE_LIMIT: 3 }) });
  try {
    verifyFast();
    const from = anAddress();
    for (let n = 0; n < 3; n += 1) expect((await login(`volume-${n}`, 'wrong', from, app)).statusCode).toBe(401);
    const limited = await login('volume-4', 'wrong', from, app);
    expect(limited.statusCode).toBe(429);
    expect(limited.json()).toMatchObject({ error: 'too_many_requests' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(limited.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '0' });
    // The page of a request in progress shares the count; showing a page costs nothing.
    const page = `/interaction/g15_${'a'.repeat(43)}/login`;
    const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await app.inject({ method: 'POST', url: page, headers: form, payload: 'a=b', remoteAddress: from });
    expect(sent.statusCode).toBe(429);
    expect(Number(sent.headers['retry-after'])).toBeGreaterThan(0);
    expect(errorOn(sent)).toBe('too_many_requests');
    const shown = await app.inject({ url: '/login', headers: { accept: 'text/html' }, remoteAddress: from });
    expect(shown.statusCode).toBe(200);
    expect((await login('volume-5', 'wrong', anAddress(), app)).statusCode).toBe(401);
  } finally {
    await app.close();
  }
});
