/** Hashes that other systems made: which are taken, that they are compared as there, and what becomes of them at a sign-in. */
import { createRequire } from 'node:module';
import argon2 from 'argon2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { DECOY, isOutdated, loadArgon2 } from '../../src/users/factors/argon2.ts';
import { readForeignHash } from '../../src/users/factors/foreign/index.ts';
import type { Given } from '../../src/users/factors/foreign/scheme.ts';
import { createPasswordHasher } from '../../src/users/factors/password.ts';
import * as foreign from '../../src/users/foreign-secrets.ts';
import * as users from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser, PASSWORD } from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const passwords = createPasswordHasher();
const keycloak = (data: object, secret: object): Given => ({
  type: 'password',
  credentialData: JSON.stringify(data),
  secretData: JSON.stringify(secret),
});
const FIREBASE = {
  algorithm: 'firebase-scrypt',
  hash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  salt: '42xEC+ixf3L2lw==',
  signer_key: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  salt_separator: 'Bw==',
  rounds: 8,
  mem_cost: 14,
};
// As their makers publish them: OpenBSD's and PHP's bcrypt, github.com/firebase/scrypt, RFC 7914 §12, the tests of Django and of
// ASP.NET Core Identity, Drepper's text. Others are by hashlib and OpenSSL.
test.each<[string, Given, string]>([
  ['bcrypt 2a', '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe', 'a'],
  ['bcrypt 2b', '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  ['bcrypt 2y', '$2y$10$.vGA1O9wmRjrwAVXD98HNOgsNpDczlqm3Jq7KnEd1rVAGv3Fykk1a', 'rasmuslerdorf'],
  ['bcrypt of Django', 'bcrypt$$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i', 'abc'],
  ['scrypt of Firebase', FIREBASE, 'user1password'],
  [
    'scrypt of Django',
    'scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==',
    'lètmein',
  ],
  ['PBKDF2 of Django', 'pbkdf2_sha256$36000$seasalt$mEUPPFJkT/xtwDU8rB7Q+puHRZnR07WRjerTkt/3HI0=', 'lètmein'],
  ['PBKDF2 of Django, SHA-1', 'pbkdf2_sha1$30000$seasalt2$pMzU1zNPcydf6wjnJFbiVKwgULc=', 'lètmein'],
  ['ASP.NET Identity 2', 'AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggHIVY0sdEUfdyeM+E1LtH1uJg==', 'my password'],
  ['ASP.NET Identity 3, SHA-1', 'AQAAAAAAAAD6AAAAEAhftMyfTJylOlZT+eEotFXd1elee8ih5WsjXaR3PA9M', 'my password'],
  [
    'ASP.NET Identity 3, SHA-256',
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
    'my password',
  ],
  [
    'SHA-512-crypt',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    'Hello world!',
  ],
  [
    'SHA-512-crypt with rounds',
    '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
    'Hello world!',
  ],
  [
    'SHA-512-crypt of a long password',
    '$6$rounds=77777$short$WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0',
    'we have a short salt string but not a short password',
  ],
  [
    'scrypt as PHC string',
    '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw',
    'pleaseletmein',
  ],
  [
    'PBKDF2 as PHC string',
    '$pbkdf2-sha512$i=1000$c2l4dGVlbiBieXRlcyBvaw$+/1YJ5+XAgY/Y78G0GcCblh0lyxVNGun/cquePEEnymt5RNVDPSBML1zfaSXd16LI2+miSdHsE6KfAEuQCx+Uw',
    'pw',
  ],
  [
    'PBKDF2 of Keycloak',
    keycloak(
      { hashIterations: 27500, algorithm: 'pbkdf2-sha256', additionalParameters: {} },
      {
        value: '6RAJggWEyq+XyVQeqf/4EBPJcqFtHGCu4+KrjfnkBkwQRtPMYAN8a3cPWYYmShYozxf5BeIAb3Kl+p6BWdG01w==',
        salt: 'MDEyMzQ1Njc4OWFiY2RlZg==',
      },
    ),
    'pw',
  ],
])('a password whose hash is %s is told from others', async (_what, given, password) => {
  const { phc, secret } = readForeignHash(given);
  const secretOf = async (): Promise<Buffer | undefined> => secret?.value;
  expect(await passwords.verify(phc, password, secretOf)).toBe(true);
  expect(await passwords.verify(phc, `${password} `, secretOf)).toBe(false);
  expect(isOutdated(phc)).toBe(true);
  // What is kept is read as itself: an export of ours can be imported.
  expect(secret ? phc : readForeignHash(phc).phc).toBe(phc);
});

test('Argon2 of Keycloak and of Django are compared as our own', async () => {
  const phc = await argon2.hash('pw', { type: argon2.argon2id, memoryCost: 7168, timeCost: 5, parallelism: 1 });
  const [, , , , salt, value] = phc.split('$');
  const additionalParameters = {
    hashLength: ['32'],
    memory: ['7168'],
    type: ['id'],
    version: ['1.3'],
    parallelism: ['1'],
  };
  const exported = keycloak({ hashIterations: 5, algorithm: 'argon2', additionalParameters }, { value, salt });
  for (const given of [exported, `argon2${phc}`, phc]) {
    const read = readForeignHash(given).phc;
    expect(await passwords.verify(read, 'pw')).toBe(true);
    expect(await passwords.verify(read, 'pv')).toBe(false);
  }
});

test('what was typed counts there, and its compatible form here', async () => {
  const { hashSync } = createRequire(import.meta.url)('bcrypt') as { hashSync(data: string, cost: number): string };
  for (const hashed of ['ﬁnd the ﬁsh', 'find the fish']) {
    const { phc } = readForeignHash(hashSync(hashed, 4));
    expect(await passwords.verify(phc, 'ﬁnd the ﬁsh')).toBe(true);
  }
});

test.each<[string, Given, RegExp]>([
  ['text that is no hash', 'sunshine', /is of none of these: Argon2, bcrypt/],
  ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99', /is of none of these/],
  ['a long text', 'x'.repeat(3000), /longer than 2000/],
  ['bcrypt of cost 31', `$2b$31$${'a'.repeat(53)}`, /cost is above 14/],
  ['bcrypt that is cut', `$2b$10$${'a'.repeat(52)}`, /not a bcrypt hash/],
  ['$2x$', `$2x$10$${'a'.repeat(53)}`, /not a bcrypt hash/],
  ['scrypt of 1 GiB', '$scrypt$ln=20,r=8,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA', /more memory or time/],
  ['scrypt of many lanes', '$scrypt$ln=17,r=8,p=16$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA', /more memory or time/],
  ['scrypt of a cost between', 'scrypt$16385$salt$8$1$aGFzaGhhc2hoYXNoaGFzaA==', /power of two/],
  [
    'PBKDF2 for minutes',
    'pbkdf2_sha256$999999999$salt$mEUPPFJkT/xtwDU8rB7Q+puHRZnR07WRjerTkt/3HI0=',
    /iterations is above/,
  ],
  ['PBKDF2 of three blocks', `$pbkdf2-sha1$i=2000000$c2FsdA$${'a'.repeat(80)}`, /iterations is above 1666666/],
  [
    'PBKDF2 with MD5',
    keycloak({ hashIterations: 1, algorithm: 'pbkdf2-md5' }, { value: 'aaaa', salt: 'aaaa' }),
    /digest/,
  ],
  ['SHA-512-crypt for hours', `$6$rounds=999999999$salt$${'a'.repeat(86)}`, /rounds is above 500000/],
  ['Argon2 of 4 GiB', '$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g', /memory is above/],
  [
    'Argon2 of many passes',
    '$argon2id$v=19$m=262144,t=100,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
    /goes through/,
  ],
  ['Firebase without its signer key', { ...FIREBASE, signer_key: undefined }, /signer_key/],
  ['Firebase of another length', { ...FIREBASE, hash: 'bGVzcw==' }, /another length than its signer_key/],
  ['a one-time password of Keycloak', { type: 'otp', credentialData: '{}', secretData: '{}' }, /of no password/],
  ['Keycloak with broken JSON', { credentialData: '{', secretData: '{}' }, /not JSON/],
  ['another object', { hash: 'x' }, /none of these/],
])('%s is not taken: no sign-in hurts by what was imported', (_what, given, said) => {
  expect(() => readForeignHash(given)).toThrow(said);
});

const enter = async (username: string, password: string): Promise<number> =>
  (await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } })).statusCode;
const phcOf = async (sub: string): Promise<string> =>
  (await at.deps.db.selectFrom('password_credentials').selectAll().where('sub', '=', sub).executeTakeFirstOrThrow())
    .phc;
const imported = async (given: Given): Promise<users.User> => {
  const user = await aUser(at, { password: undefined });
  const { phc, secret } = readForeignHash(given);
  if (secret) await foreign.keepForeignSecret(at.deps, secret);
  await users.setPassword(at.deps.db, user.sub, phc, at.clock.now());
  return user;
};

test('ASVS 6.3.8: beside a hash from elsewhere the decoy is compared, too, be the password right or wrong', async () => {
  const engine = await loadArgon2();
  const compared: string[] = [];
  const counting = createPasswordHasher(undefined, async () => ({
    ...engine,
    verify(phc, text) {
      compared.push(phc);
      return engine.verify(phc, text);
    },
  }));
  const phc = readForeignHash('$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe');
  for (const text of ['a', 'wrong']) expect(await counting.verify(phc.phc, text)).toBe(text === 'a');
  expect(await counting.verify(null, 'wrong')).toBe(false);
  expect(compared).toEqual([DECOY, DECOY, DECOY]);
});

test('whoever signs in by a hash from elsewhere is hashed anew, and nothing is changed by a wrong password', async () => {
  for (const [given, password] of [
    ['$2y$10$.vGA1O9wmRjrwAVXD98HNOgsNpDczlqm3Jq7KnEd1rVAGv3Fykk1a', 'rasmuslerdorf'],
    [FIREBASE, 'user1password'],
  ] as const) {
    const { username, sub } = await imported(given);
    const before = await phcOf(sub);
    expect(await enter(username, PASSWORD)).toBe(401);
    expect(await phcOf(sub)).toBe(before);
    expect(await enter(username, password)).toBe(200);
    expect(isOutdated(await phcOf(sub))).toBe(false);
    expect(await enter(username, password)).toBe(200);
    expect(await enter(username, PASSWORD)).toBe(401);
  }
});

test('Firebase’s signer key is sealed once for all, follows SECRET_KEYS, and where it is lost nobody gets an error', async () => {
  const { username } = await imported(FIREBASE);
  const rows = await at.deps.db.selectFrom('salts').selectAll().where('name', 'like', 'firebase:%').execute();
  expect(rows).toHaveLength(1);
  expect(rows[0]!.sealed.includes(Buffer.from(FIREBASE.signer_key, 'base64'))).toBe(false);
  const { db, log } = at.deps;
  const [name] = rows.map((row) => row.name.slice('firebase:'.length));
  const [old] = at.deps.config.SECRET_KEYS;
  const fresh = 'n'.repeat(43);
  const [both, lost] = [createSecrets([fresh, old!], random), createSecrets([fresh], random)];
  expect(await foreign.lostForeignSecrets(db, lost)).toEqual([name]);
  expect(await foreign.openForeignSecret({ db, log, secrets: lost }, name!)).toBeUndefined();
  expect(at.logged.join('')).toContain('cannot be opened with SECRET_KEYS');
  await foreign.resealForeignSecrets(db, both);
  expect(await foreign.lostForeignSecrets(db, lost)).toEqual([]);
  // This server has the old key alone: it says no, and not why.
  expect(await enter(username, 'user1password')).toBe(401);
  await foreign.keepForeignSecret(at.deps, readForeignHash(FIREBASE).secret!);
  expect(await enter(username, 'user1password')).toBe(200);
});
