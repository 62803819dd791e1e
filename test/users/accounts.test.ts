/** Accounts: which names and passwords there may be, who is who, and what ends with a person. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeClient } from '../../src/clients/register.ts';
import * as accounts from '../../src/users/accounts.ts';
import { presets } from '../../src/protocol/client-metadata.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  BY,
  introspect,
  PASSWORD,
  refresh,
  signIn,
  someTokens,
  userinfo,
} from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const now = (): Date => at.clock.now();
const taken = { name: 'WriteError', reason: 'conflict' };
const invalid = { name: 'WriteError', reason: 'invalid' };

test('sub is 22 random base64url characters and says nothing of the person', async () => {
  const users = await Promise.all([aUser(at), aUser(at), aUser(at)]);
  for (const { sub, username } of users) {
    expect(sub).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(sub).not.toContain(username);
  }
  expect(new Set(users.map(({ sub }) => sub)).size).toBe(3);
});

test.each([
  ['another case', 'Grace-H', 'grace-h'],
  ['full-width letters', 'grace-i', 'ｇｒａｃｅ－ｉ'],
  ['a ligature', 'o\uFB03ce', 'office'],
  ['a composed letter', 'rené', 'rene\u0301'],
  ['a superscript', 'x2', 'x²'],
  ['a final sigma', 'ΝΙΚΟΣ', 'νικοσ'],
  ['a sharp s', 'straße', 'STRASSE'],
  ['a sharp s in capitals, the other first', 'grosse', 'GROẞE'],
  ['letters of Cherokee', 'ᏣᎳᎩ', 'ꮳꮃꭹ'],
])('usernames are one in folded form: %s', async (_what, first, second) => {
  await aUser(at, { username: first });
  await expect(aUser(at, { username: second })).rejects.toMatchObject(taken);
});

test('e-mail addresses are one in folded form', async () => {
  await aUser(at, { email: 'Grace@Example.test' });
  await expect(aUser(at, { email: 'grace@example.TEST' })).rejects.toMatchObject(taken);
});

test.each([
  ['an @', 'ada@home'],
  ['an @ in disguise', 'ada＠home'],
  ['a small @', 'ada﹫home'],
  ['a space', 'ada lovelace'],
  ['a no-break space', 'ada\u00A0l'],
  ['what unfolds to a space', 'ada\u00A8'],
  ['a line break', 'ada\n'],
  ['a null byte', 'ada\0'],
  ['a zero-width space', 'ada\u200B'],
  ['a zero-width joiner', 'a\u200Dda'],
  ['a soft hyphen', 'a\u00ADda'],
  ['a byte order mark', '\uFEFFada'],
  ['an invisible filler', 'ada\u3164'],
  ['an invisible joiner', 'a\u034Fda'],
  ['a direction override', 'ada\u202Enimda'],
  ['a lone surrogate', 'ada\uD800'],
  ['Cyrillic among Latin', 'аda'],
  ['Greek among Latin', 'adα'],
  ['nothing', ''],
  ['129 characters', 'a'.repeat(129)],
])('a username with %s is refused', async (_what, username) => {
  await expect(aUser(at, { username, email: `x${Math.random()}@example.test` })).rejects.toMatchObject(invalid);
});

test.each(['Ελένη', 'Дмитрий', '田中さん', 'José-María_3.x', 'O’Brien', 'محمد', 'a'])(
  'a username in one script is fine: %s',
  async (username) => {
    const user = await aUser(at, { username, email: `n${Buffer.from(username).toString('hex')}@example.test` });
    const browser = await signIn(at, user);
    expect((await browser.get('/account')).body).toContain(username);
  },
);

test.each([
  'no-at',
  '@example.test',
  'ada@',
  'a da@example.test',
  'a@b@c',
  'ada＠x.test',
  'a@\u200Bx',
  `${'a'.repeat(65)}@x`,
])('%s is not an e-mail address', async (email) => {
  await expect(aUser(at, { email })).rejects.toMatchObject(invalid);
});

test.each([
  ['seven characters', 'seven77'],
  ['seven code points of many units', '👍👍👍👍👍👍👍'],
  ['more than 1024 bytes', 'é'.repeat(513)],
])('ASVS 6.2.1, NIST 800-63B-4 §3.1.1.2: a password of %s is refused, not cut', async (_what, password) => {
  await expect(aUser(at, { password })).rejects.toMatchObject(invalid);
});

test('ASVS 6.2.12: a password that is the account’s own name is refused, in any case', async () => {
  await expect(aUser(at, { username: 'longenough', password: 'LongEnough' })).rejects.toMatchObject(invalid);
  await expect(aUser(at, { email: 'ada@longenough.test', password: 'ADA@longenough.test' })).rejects.toMatchObject(
    invalid,
  );
});

test.each(['password', '12345678', 'QWERTY123', 'iloveyou', 'sunshine'])(
  'NIST 800-63B-4 §3.1.1.2, ASVS 6.2.4: %s is refused: it is among the first that anybody tries',
  async (password) => {
    await expect(aUser(at, { password })).rejects.toMatchObject(invalid);
  },
);

/** As long as a password may be, and not easy to guess. */
const LONGEST = Array.from({ length: 1024 }, (_, n) => String.fromCodePoint(33 + ((n * n * 7 + n * 13) % 94))).join('');

test.each([
  ['gK7#wq2!', 'gK7#wq2!'],
  ['eight emoji', '👍🐙🦉🌵👍🐙🧭🦆'],
  ['one of 1024 bytes', LONGEST],
  ['words and spaces', '  ox at dawn  '],
  ['digits', '73195028461'],
])('NIST 800-63B-4 §3.1.1.2: no composition rules: %s signs in', async (_what, password) => {
  const browser = await signIn(at, await aUser(at, { password }), password);
  expect((await browser.get('/account')).statusCode).toBe(200);
});

test('RFC 9700 §4.15: a person’s sub is never reused, not even after deletion', async () => {
  const user = await aUser(at);
  expect(await transact(at.deps.db, (trx) => accounts.removeAccount(trx, user.sub, BY, now()))).toBe(true);
  await expect(aUser(at, { sub: user.sub })).rejects.toMatchObject(taken);
  // The name is free again, and is somebody else.
  expect((await aUser(at, { username: user.username })).sub).not.toBe(user.sub);
});

test('RFC 9700 §4.15: neither a client_id equal to a sub nor a sub equal to a client_id can be made', async () => {
  const user = await aUser(at);
  const metadata = { ...presets.m2m, redirect_uris: [] };
  await expect(aClient(at, { ...metadata, client_id: user.sub })).rejects.toThrow(user.sub);
  const { client_id } = await aClient(at);
  await expect(aUser(at, { sub: client_id })).rejects.toMatchObject(taken);
  // Also when the other is gone.
  await transact(at.deps.db, (trx) => accounts.removeAccount(trx, user.sub, BY, now()));
  await expect(aClient(at, { ...metadata, client_id: user.sub })).rejects.toThrow(user.sub);
  await transact(at.deps.db, (trx) => removeClient(trx, client_id, BY, now()));
  await expect(aUser(at, { sub: client_id })).rejects.toMatchObject(taken);
});

test('the built-in client’s name is taken, for clients and for people', async () => {
  const metadata = { ...presets.m2m, redirect_uris: [] };
  await expect(aClient(at, { ...metadata, client_id: 'postern' })).rejects.toThrow('postern');
  await expect(aUser(at, { sub: 'postern' })).rejects.toMatchObject(taken);
});

test.each<[what: string, end: (sub: string) => Promise<boolean>]>([
  ['a password change', (sub) => accounts.setPassword(at.deps, sub, 'an entirely new one', BY, now())],
  ['disabling', (sub) => transact(at.deps.db, (trx) => accounts.setDisabled(trx, sub, true, BY, now()))],
  ['deletion', (sub) => transact(at.deps.db, (trx) => accounts.removeAccount(trx, sub, BY, now()))],
])('ASVS 7.4.2, OAuth 2.1 §4.3.3: %s ends every session and grant at once, offline ones too', async (_what, end) => {
  const user = await aUser(at);
  const online = await someTokens(at, { user });
  const offline = await someTokens(at, { user, parameters: { scope: 'openid offline_access' } });
  const payload = JSON.stringify({ username: user.username, password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const own = await at.app.inject({ method: 'POST', url: '/login', headers, payload });
  const { access_token } = own.json<{ access_token: string }>();
  expect((await userinfo(at, access_token)).statusCode).toBe(200);

  expect(await end(user.sub)).toBe(true);
  for (const { tokens, client, browser } of [online, offline]) {
    expect((await browser.get('/account')).headers.location).toBe('https://id.example.test/login');
    expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
    expect(await introspect(at, client, tokens.access_token)).toEqual({ active: false });
    expect((await refresh(at, client, tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
  }
  expect((await userinfo(at, access_token)).statusCode).toBe(401);
});

test('a sign-in under way while the account is disabled leaves no session', async () => {
  const user = await aUser(at);
  const { passwords } = at.deps;
  const { verify } = passwords;
  passwords.verify = async (phc, password) => {
    const matches = await verify(phc, password);
    await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, true, BY, now()));
    return matches;
  };
  const payload = JSON.stringify({ username: user.username, password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const answer = await at.app.inject({ method: 'POST', url: '/login', headers, payload });
  passwords.verify = verify;
  expect(answer.statusCode).toBeLessThan(500);
  expect(answer.json()).not.toHaveProperty('access_token');
  await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, false, BY, now()));
  expect(await at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).execute()).toEqual([]);
});

test('a sign-in with the old password under way while it is changed leaves no session', async () => {
  const user = await aUser(at);
  at.clock.advance(1);
  const { passwords } = at.deps;
  const { verify } = passwords;
  passwords.verify = async (phc, password) => {
    const matches = await verify(phc, password);
    passwords.verify = verify;
    await accounts.setPassword(at.deps, user.sub, 'an entirely new one', BY, now());
    return matches;
  };
  const payload = JSON.stringify({ username: user.username, password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const answer = await at.app.inject({ method: 'POST', url: '/login', headers, payload });
  passwords.verify = verify;
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'access_denied' }]);
  expect(await at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).execute()).toEqual([]);
});

test('changes of an account leave rows in the audit', async () => {
  const user = await aUser(at);
  await transact(at.deps.db, (trx) => accounts.updateAccount(trx, user.sub, { email: 'new@example.test' }, BY, now()));
  await accounts.setPassword(at.deps, user.sub, 'an entirely new one', BY, now());
  await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, true, BY, now()));
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor'])
    .where('sub', '=', user.sub)
    .orderBy('event_id')
    .execute();
  expect(rows.map(({ event }) => event)).toEqual(['user_created', 'user_updated', 'password_changed', 'user_disabled']);
  expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['test']));
});
