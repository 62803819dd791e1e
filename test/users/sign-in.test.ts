/** Signing in: one answer for every way to fail, one verification for each, and names and passwords as people type them. */
import argon2 from 'argon2';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import { setDisabled, setPassword } from '../../src/users/accounts.ts';
import { loadArgon2 } from '../../src/users/factors/argon2.ts';
import { createPasswordHasher } from '../../src/users/factors/password.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser, BY, PASSWORD, TestBrowser, formTokenOf } from '../support/fixtures.ts';

let at: TestApp;
let ada: User;
let disabled: User;
beforeAll(async () => {
  at = await testApp({ hashing: 'anew' });
  ada = await aUser(at);
  disabled = await aUser(at);
  await transact(at.deps.db, (trx) => setDisabled(trx, disabled.sub, true, BY, at.clock.now()));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => at.close());

let address = 0;
/** POST /login as a script, each from an address of its own, so that no throttle is met. */
const login = (username: unknown, password: unknown, app = at.app) =>
  app.inject({
    method: 'POST',
    url: '/login',
    remoteAddress: `10.${Math.floor((address += 1) / 250)}.${address % 250}.1`,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ username, password }),
  });
const statusOf = async (username: string, password = PASSWORD): Promise<number> =>
  (await login(username, password)).statusCode;

/** All ways to fail, named. */
const failures = (): Array<[name: string, username: string, password: string]> => [
  ['unknown user', 'nobody-of-that-name', PASSWORD],
  ['unknown e-mail', 'nobody@example.test', PASSWORD],
  ['wrong password', ada.username, 'not the password'],
  ['disabled, right password', disabled.username, PASSWORD],
  ['disabled, wrong password', disabled.username, 'not the password'],
];

test('ASVS 6.3.8: unknown user, wrong password and disabled account have one status and one body', async () => {
  const answers = [];
  for (const [, username, password] of failures()) answers.push(await login(username, password));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(answers[0]!.json()).toEqual({
    error: 'invalid_credentials',
    error_description: 'the username or the password is not right',
  });
  const names = answers.map(({ headers }) => Object.keys(headers).toSorted().join());
  expect(new Set(names).size).toBe(1);
});

test('ASVS 6.3.8: each of them does exactly one argon2 verification, with the same parameters', async () => {
  const engine = await loadArgon2();
  const verify = vi.fn<typeof engine.verify>(engine.verify);
  const passwords = createPasswordHasher(undefined, async () => ({ ...engine, verify }));
  const app = await buildApp({ ...at.deps, passwords });
  try {
    for (const [name, username, password] of failures()) {
      verify.mockClear();
      await login(username, password, app);
      expect(verify, name).toHaveBeenCalledTimes(1);
      expect(verify.mock.calls[0]![0], name).toMatch(
        /^\$argon2id\$v=19\$m=19456,p=1,t=2\$|^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
      );
    }
  } finally {
    await app.close();
  }
});

test('ASVS 6.3.8: on the page, too, the failures look alike', async () => {
  const pages = [];
  for (const [, username, password] of failures()) {
    const browser = new TestBrowser(at);
    const form_token = formTokenOf(await browser.get('/login'));
    const page = await browser.post('/login', { username, password, form_token });
    pages.push(
      `${page.statusCode} ${page.body
        .replaceAll(username, 'NAME')
        .replaceAll(String(page.headers['x-request-id']), 'ID')
        .replaceAll(/nonce="[^"]*"|name="form_token" value="[^"]*"|data-get="[^"]*"/g, '')}`,
    );
  }
  expect(new Set(pages).size).toBe(1);
  expect(pages[0]).toMatch(/^400 /);
  expect(pages[0]).toContain('There is a problem');
});

test('ASVS 16.3.1: a failed sign-in is logged with its reason, and never with the password', async () => {
  const before = at.logged.length;
  for (const [, username, password] of failures()) await login(username, password);
  const lines = at.logged.slice(before).join('');
  for (const cause of ['unknown account', 'wrong password', 'disabled account']) expect(lines).toContain(cause);
  expect(lines).not.toContain('not the password');
  expect(lines).not.toContain(PASSWORD);
});

test.each([
  ['upper case', (name: string) => name.toUpperCase()],
  [
    'full-width letters',
    (name: string) => name.replaceAll(/[a-z0-9]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  ],
])('the username signs in in %s, the e-mail address too', async (_what, written) => {
  expect(await statusOf(written(ada.username))).toBe(200);
  expect(await statusOf(written(ada.email!))).toBe(200);
});

test('an e-mail address typed with a full-width @ is still an e-mail address', async () => {
  expect(await statusOf(ada.email!.replace('@', '＠'))).toBe(200);
});

test('no spaces are trimmed and no part of a name is enough', async () => {
  for (const name of [
    ` ${ada.username}`,
    `${ada.username} `,
    ada.username.slice(1),
    `${ada.username}%`,
    `${ada.username}@`,
  ]) {
    expect(await statusOf(name), name).toBe(401);
  }
});

test('NIST 800-63B-4 §3.1.1.2: a password is compared whole, with its case, its spaces and its end', async () => {
  for (const password of [PASSWORD.toUpperCase(), ` ${PASSWORD}`, `${PASSWORD} `, PASSWORD.slice(0, -1)]) {
    expect(await statusOf(ada.username, password), JSON.stringify(password)).toBe(401);
  }
  // Nobody can have a password with U+0000: it is no text.
  expect(await statusOf(ada.username, `${PASSWORD}\0`)).toBe(400);
});

test('ASVS 6.2.8: a password that differs only after 72 bytes is another', async () => {
  const long = 'nine zebras wander past the old mill at noon while seven brass kettles sing of the harbour and rain';
  const user = await aUser(at, { password: `${long}a` });
  expect(await statusOf(user.username, `${long}a`)).toBe(200);
  expect(await statusOf(user.username, `${long}b`)).toBe(401);
  expect(await statusOf(user.username, long)).toBe(401);
});

test('NIST 800-63B-4 §3.1.1.2: Unicode passwords are normalised alike when set and when typed', async () => {
  const user = await aUser(at, { password: 'pássword café' });
  expect(await statusOf(user.username, 'pássword café')).toBe(200);
  expect(await statusOf(user.username, 'pa\u0301ssword cafe\u0301')).toBe(200);
  expect(await statusOf(user.username, 'password cafe')).toBe(401);
});

test('specification §Authentication 8: passwords are never stored in plaintext: argon2id of 19 MiB and 2 passes, each with its salt', async () => {
  const rows = await at.deps.db.selectFrom('password_credentials').select('phc').execute();
  for (const { phc } of rows)
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(new Set(rows.map(({ phc }) => phc.split('$')[4])).size).toBe(rows.length);
  expect(JSON.stringify(rows)).not.toContain(PASSWORD);
});

test('ASVS 11.4.2: a hash of weaker parameters signs in, and is replaced by one of today’s', async () => {
  const user = await aUser(at);
  const weak = await argon2.hash(PASSWORD, { type: argon2.argon2id, memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await at.deps.db.updateTable('password_credentials').set({ phc: weak }).where('sub', '=', user.sub).execute();
  const stored = () =>
    at.deps.db.selectFrom('password_credentials').select('phc').where('sub', '=', user.sub).executeTakeFirstOrThrow();
  expect(await statusOf(user.username, 'not the password')).toBe(401);
  expect((await stored()).phc).toBe(weak);
  expect(await statusOf(user.username)).toBe(200);
  expect((await stored()).phc).toContain('m=19456');
  expect(await statusOf(user.username)).toBe(200);
});

test('an account without a password cannot be signed in to, and tells nobody so', async () => {
  const user = await aUser(at, { password: undefined });
  for (const password of [PASSWORD, 'nobody has this password', 'x']) {
    const answer = await login(user.username, password);
    expect([answer.statusCode, answer.json()]).toMatchObject([401, { error: 'invalid_credentials' }]);
  }
});

test('after a change only the new password signs in', async () => {
  const user = await aUser(at);
  await setPassword(at.deps, user.sub, 'an entirely new one', BY, at.clock.now());
  expect(await statusOf(user.username)).toBe(401);
  expect(await statusOf(user.username, 'an entirely new one')).toBe(200);
});

test('ASVS 7.4.2: a disabled person signs in again only after being enabled', async () => {
  const user = await aUser(at);
  await transact(at.deps.db, (trx) => setDisabled(trx, user.sub, true, BY, at.clock.now()));
  expect(await statusOf(user.username)).toBe(401);
  await transact(at.deps.db, (trx) => setDisabled(trx, user.sub, false, BY, at.clock.now()));
  expect(await statusOf(user.username)).toBe(200);
});

test('ASVS 16.3.1: a successful sign-in leaves an audit row with who, from where and how', async () => {
  const user = await aUser(at);
  await login(user.username, PASSWORD);
  const rows = await at.deps.db.selectFrom('audit_events').selectAll().where('sub', '=', user.sub).execute();
  expect(rows).toContainEqual(
    expect.objectContaining({
      event: 'sign_in',
      ip: expect.stringMatching(/^10\./),
      detail: { amr: ['pwd'], via: 'login' },
    }),
  );
});
