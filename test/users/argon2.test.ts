/** Two packages hash passwords: which of them did makes no difference to anybody. */
import argon2, { type HashOptions } from 'argon2';
import { expect, test, vi } from 'vitest';
import { DECOY, ENGINES, isOutdated, isPhc, loadArgon2, type Argon2 } from '../../src/users/factors/argon2.ts';
import { loadArgon2Threads } from '../../src/users/factors/argon2-threads.ts';
import { createPasswordHasher } from '../../src/users/factors/password.ts';

const engines = Object.fromEntries(
  await Promise.all(Object.entries(ENGINES).map(async ([name, load]) => [name, await load()] as const)),
) as Record<keyof typeof ENGINES, Argon2>;
/** PHC: RFC 9106 §3.1 parameters of this string. */
const parametersOf = (phc: string): string[] => phc.split('$')[3]!.split(',').toSorted();

test.each(Object.entries(engines))('RFC 9106: what %s writes, both read', async (_name, { hash }) => {
  for (const password of ['pw', '', 'é 😀 \u0000 \n', 'x'.repeat(1024)]) {
    const phc = await hash(password);
    expect(phc).toMatch(/^\$argon2id\$v=19\$/);
    expect(parametersOf(phc)).toEqual(['m=19456', 'p=1', 't=2']);
    expect([isPhc(phc), isOutdated(phc)]).toEqual([true, false]);
    for (const { verify } of Object.values(engines)) {
      expect(await verify(phc, password)).toBe(true);
      expect(await verify(phc, `${password}.`)).toBe(false);
    }
  }
  const phc = await hash('pw');
  const other = phc.replace(/.{4}$/, 'AAAA');
  expect(isPhc(other)).toBe(true);
  for (const { verify } of Object.values(engines)) expect(await verify(other, 'pw')).toBe(false);
});

test.each([
  ['argon2i', { type: argon2.argon2i }],
  ['argon2d', { type: argon2.argon2d }],
  ['version 16', { version: 0x10 }],
  ['other costs', { memoryCost: 1024, timeCost: 3, parallelism: 4 }],
  ['other lengths', { hashLength: 16, salt: Buffer.from('12345678') }],
] satisfies Array<[string, HashOptions]>)(
  'RFC 9106: both read %s, for which there are stronger parameters now',
  async (name, options) => {
    const weaker: HashOptions = { type: argon2.argon2id, memoryCost: 256, timeCost: 1, parallelism: 1, ...options };
    const phc = await argon2.hash('pw', weaker);
    expect([isPhc(phc), isOutdated(phc)], name).toEqual([true, true]);
    for (const { verify } of Object.values(engines)) {
      expect(await verify(phc, 'pw')).toBe(true);
      expect(await verify(phc, 'no')).toBe(false);
    }
  },
);

test('a string that is no hash is the password of nobody, and costs the same as one', async () => {
  const real = await engines.argon2.hash('pw');
  const [salt, hash] = real.split('$').slice(4) as [string, string];
  const wrong = [
    '',
    'pw',
    '$argon2id$',
    '$2b$10$abcdefghijklmnopqrstuv',
    ` ${real}`,
    `${real}\n`,
    `${real}\0`,
    real.replace('v=19', 'v=20'),
    real.replace('$v=19', ''),
    real.replace('m=19456', 'm=0'),
    real.replace('m=19456', 'm=99999999999'),
    real.replace('t=2', 't=02'),
    real.replace('p=1', 'p=1,keyid=AAAA'),
    real.replace('p=1', 't=1'),
    real.replace(hash, ''),
    real.replace(hash, hash.replace(/.$/, '/')),
    real.replace(salt, ''),
    real.replace(salt, `${salt.slice(1)}*`),
  ];
  const verify = vi.fn<Argon2['verify']>(async () => true);
  const passwords = createPasswordHasher(undefined, async () => ({ ...engines.argon2, verify }));
  for (const phc of [...wrong, null]) {
    expect(await passwords.verify(phc, 'pw'), String(phc)).toBe(false);
    expect(verify.mock.lastCall?.[0]).toBe(DECOY);
  }
  expect(verify).toHaveBeenCalledTimes(wrong.length + 1);
  expect(await passwords.verify(real, 'pw')).toBe(true);
  expect(isOutdated(DECOY)).toBe(false);
  for (const engine of Object.values(engines)) expect(await engine.verify(DECOY, '')).toBe(false);
});

test('where the faster package is not installed, or has no binary, argon2 hashes', async () => {
  const missing = async (): Promise<Argon2> => {
    throw Object.assign(new Error("Cannot find package '@node-rs/argon2'"), { code: 'ERR_MODULE_NOT_FOUND' });
  };
  const { hash, verify } = await loadArgon2([missing, async () => engines.argon2]);
  expect([hash, verify]).toEqual([engines.argon2.hash, engines.argon2.verify]);
  await expect(loadArgon2([missing])).rejects.toThrow('Cannot find package');
  expect(Object.keys(ENGINES)).toEqual(['@node-rs/argon2', 'argon2']);
});

test('the threads of a server hash as all others do, one question after the other, and outlive what is wrong', async () => {
  const threads = await loadArgon2Threads(2);
  const phc = await threads.hash('pw');
  expect([isPhc(phc), isOutdated(phc), await engines.argon2.verify(phc, 'pw')]).toEqual([true, false, true]);
  const weak = await argon2.hash('pw', { type: argon2.argon2id, memoryCost: 256, timeCost: 1, parallelism: 1 });
  const guesses = ['pw', 'no', 'pw', 'pw', 'no'];
  expect(await Promise.all(guesses.map((guess) => threads.verify(weak, guess)))).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  const outcomes = await Promise.allSettled([threads.verify('no hash', 'pw'), threads.verify(weak, 'pw')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});
