/** Names in any case: full folding, and those that were given when only lower case was looked at. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepare, up } from '../../migrations/0040-names-found-folded.ts';
import { checks } from '../../src/cli/doctor/diagnosis.ts';
import type { Opened } from '../../src/cli/command.ts';
import { foldName, isReservedName, lowerName, typedName } from '../../src/protocol/names.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as users from '../../src/store/users.ts';
import type { User } from '../../src/store/users.ts';
import { updateAccount } from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser, BY, PASSWORD } from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

let address = 0;
/** Whom a name signs in, with the password of all. */
const enter = async (username: string): Promise<number> => {
  const payload = JSON.stringify({ username, password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const remoteAddress = `10.9.${(address += 1)}.1`;
  return (await at.app.inject({ method: 'POST', url: '/login', headers, payload, remoteAddress })).statusCode;
};
const ownerOf = async (name: string): Promise<string | undefined> => (await users.findForSignIn(at.deps.db, name))?.sub;

/** An account as a server of the version before writes it: in lower case alone. */
async function aUserOfBefore(username: string, email?: string): Promise<User> {
  const made = await aUser(at, { email: undefined });
  await at.deps.db
    .updateTable('users')
    .set({
      username,
      username_folded: lowerName(username),
      email: email ?? null,
      email_folded: email === undefined ? null : lowerName(email),
      created_at: at.clock.now(),
    })
    .where('sub', '=', made.sub)
    .execute();
  at.clock.advance(1);
  return made;
}
const migrated = async (): Promise<void> => {
  await prepare(at.deps.db as never);
  await up(at.deps.db as never);
};
const doctor = async (): Promise<string[]> =>
  (await checks.names({ deps: at.deps } as unknown as Opened)).map(({ message }) => message);

test('Unicode §5.18: folding makes one of what the engine compares without case, and is done once', () => {
  for (let code = 0; code < 0x1_0000; code += 1) {
    const letter = String.fromCodePoint(code);
    if (letter === 'ı' || !/\p{L}/u.test(letter)) continue;
    const folded = foldName(letter);
    for (const other of [letter.toUpperCase(), letter.toLowerCase()]) {
      expect(foldName(other), `${letter} ${other}`).toBe(folded);
    }
    expect(foldName(folded), letter).toBe(folded);
  }
  expect(foldName('ı')).not.toBe(foldName('i'));
  expect(foldName('ΝΙΚΟΣ')).toBe(foldName('νικοσ'));
  expect(foldName('ΜΆΙΟΣ')).toBe(foldName('μάιος'));
});

test('whoever has a name signs in by it in any case', async () => {
  const nikos = await aUser(at, { username: 'ΝίκοςΣ', email: 'ΝΙΚΟΣ@example.test' });
  for (const name of ['ΝίκοςΣ', 'νίκοσς', 'ΝΊΚΟΣΣ', 'νικοσ@EXAMPLE.test', 'νικος@example.test']) {
    expect(await ownerOf(name), name).toBe(nikos.sub);
  }
  expect(await enter('νίκοσσ')).toBe(200);
  await aUser(at, { username: 'Weiß' });
  expect(await enter('WEISS')).toBe(200);
  expect(await enter('weiẞ')).toBe(200);
});

test('names from before are found in every case once they are migrated, and servers of before find them still', async () => {
  const fuss = await aUserOfBefore('Fuß', 'fuß@example.test');
  expect(await ownerOf('fuß')).toBe(fuss.sub);
  expect(await ownerOf('FUSS')).toBeUndefined();
  expect(await doctor()).toEqual([
    'Fuß is not found in every case yet',
    'fuß@example.test is not found in every case yet',
  ]);
  await migrated();
  for (const name of ['fuß', 'FUSS', 'Fuss', 'FUSS@example.test']) expect(await ownerOf(name), name).toBe(fuss.sub);
  expect((await users.find(at.deps.db, fuss.sub))?.username_folded).toBe('fuß');
  expect(await doctor()).toEqual(['no two accounts differ only in the case of a name']);
  await expect(aUser(at, { username: 'fuss' })).rejects.toMatchObject({ reason: 'conflict' });
});

test('of two accounts that have one name by now neither loses it, and doctor names both', async () => {
  const older = await aUserOfBefore('γιώργος');
  const younger = await aUserOfBefore('γιώργοσ');
  const third = await aUserOfBefore('ελένης');
  await migrated();
  expect(await ownerOf('γιώργος')).toBe(older.sub);
  expect(await ownerOf('ΓΙΏΡΓΟΣ')).toBe(older.sub);
  expect(await ownerOf('γιώργοσ')).toBe(younger.sub);
  expect(await ownerOf('ΕΛΈΝΗσ')).toBe(third.sub);
  for (const name of ['γιώργος', 'γιώργοσ', 'ελένησ']) expect(await enter(name), name).toBe(200);
  expect(await doctor()).toEqual([
    `γιώργος (${older.sub}) and γιώργοσ (${younger.sub}) are one username: each signs in as it is written here`,
  ]);
  // Each goes on being changed, and no third one gets the name.
  for (const { sub } of [older, younger]) {
    expect(
      await transact(at.deps.db, (trx) => updateAccount(trx, sub, { claims: { name: 'George' } }, BY, at.clock.now())),
    ).toBeDefined();
  }
  const same = { username: 'γιώργος' };
  expect(await transact(at.deps.db, (trx) => updateAccount(trx, older.sub, same, BY, at.clock.now()))).toMatchObject({
    username_casefold: null,
  });
  await expect(aUser(at, { username: 'Γιώργοσ' })).rejects.toMatchObject({ reason: 'conflict' });
  // When one has another name the other has the whole.
  await transact(at.deps.db, (trx) => updateAccount(trx, younger.sub, { username: 'giorgos' }, BY, at.clock.now()));
  await transact(at.deps.db, (trx) => updateAccount(trx, older.sub, same, BY, at.clock.now()));
  expect(await ownerOf('γιώργοσ')).toBe(older.sub);
  expect(await doctor()).toEqual(['no two accounts differ only in the case of a name']);
});

test('a name that an older server changes is not found by the one before', async () => {
  const user = await aUser(at, { username: 'Spaß' });
  await sql`update users set username = 'laune', username_folded = 'laune' where sub = ${user.sub}`.execute(at.deps.db);
  expect(await ownerOf('SPASS')).toBeUndefined();
  expect(await ownerOf('Laune')).toBe(user.sub);
  await aUser(at, { username: 'spass', email: undefined });
});

test('a name may become another of the same folding, and stays one with it', async () => {
  const user = await aUser(at, { username: 'maß' });
  await transact(at.deps.db, (trx) => updateAccount(trx, user.sub, { username: 'mass' }, BY, at.clock.now()));
  expect(await ownerOf('MAß')).toBe(user.sub);
  await expect(aUser(at, { username: 'maß' })).rejects.toMatchObject({ reason: 'conflict' });
});

test('of twenty accounts made at once under one name in several cases one is made', async () => {
  const forms = ['gruß', 'GRUSS', 'gruss', 'GRUẞ'];
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => aUser(at, { username: forms[n % 4]!, email: `gruss${n}@example.test` })),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test.each([
  ['full-width letters', 'ｐａｓｓｗｏｒｄ１２３'],
  ['mathematical letters, in capitals', '𝐏𝐀𝐒𝐒𝐖𝐎𝐑𝐃123'],
])('NIST 800-63B-4 §3.1.1.2: the blocklist sees through %s', async (_what, password) => {
  await expect(aUser(at, { password })).rejects.toThrow(/most common/);
});

test('a password is judged as it is hashed: its length, and whether it is the name of the account', async () => {
  await expect(aUser(at, { password: '\u0041\u030A'.repeat(7) })).rejects.toThrow(/at least/);
  await expect(aUser(at, { password: '\uFDFA'.repeat(40) })).rejects.toThrow(/at most/);
  await expect(aUser(at, { username: 'παπαδόπουλοσ', password: 'ΠΑΠΑΔΌΠΟΥΛΟΣ' })).rejects.toThrow(
    /name of the account/,
  );
});

test('nobody comes from elsewhere under a name of the service, and a drawn name is not shown where there is an address', () => {
  for (const name of ['admin', 'ADMIN', 'Ａdmin', 'no-reply', 'root', 'support.1'])
    expect(isReservedName(name), name).toBe(true);
  for (const name of ['grace', 'administer', 'rooted', 'ada.root']) expect(isReservedName(name), name).toBe(false);
  const email = 'ada@example.test';
  expect(typedName({ username: 'user-0123456789abcdef', email })).toBe(email);
  expect(typedName({ username: 'person-01234567', email: null })).toBe('person-01234567');
  expect(typedName({ username: 'ada', email })).toBe('ada');
});
