/** Passkeys as their party has them: what is believed of an authenticator, and what happens once. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { configWith } from '../../src/config.ts';
import { creationOptions, requestOptions } from '../../src/protocol/webauthn.ts';
import * as store from '../../src/store/passkeys.ts';
import * as users from '../../src/store/users.ts';
import type { User } from '../../src/store/users.ts';
import { setDisabled } from '../../src/users/accounts.ts';
import { makeChallenge, UnknownPasskey, type ChallengeBinding } from '../../src/users/factors/passkey.ts';
import { createPasskey, removePasskey, usePasskey, MAX_PASSKEYS } from '../../src/users/passkeys.ts';
import { transact, type Trx } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { Authenticator, type Manner } from '../support/authenticator.ts';
import { aUser, BY } from '../support/fixtures.ts';

let at: TestApp;
let ada: User;
let bob: User;
let by = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'r' };
beforeAll(async () => {
  at = await testApp();
  [ada, bob] = [await aUser(at, { password: undefined }), await aUser(at, { password: undefined })];
});
afterAll(() => at.close());
// Each has a network of its own: what one fails does not slow the next.
let count = 0;
beforeEach(() => {
  count += 1;
  by = { ...by, network: `198.51.${count}.0/24` };
});

const SIGN_IN: ChallengeBinding = ['sign-in', 'a browser', 'an interaction'];
const CREATE: ChallengeBinding = ['create', 'a browser', 'a session'];
const authenticator = (manner?: ConstructorParameters<typeof Authenticator>[1]): Authenticator =>
  new Authenticator(at.deps.config.ISSUER, manner);
const challenge = (binding: ChallengeBinding): string => makeChallenge(at.deps, binding, at.clock.now());

const held =
  ({ sub }: Pick<User, 'sub'>) =>
  (trx: Trx) =>
    users.findLocked(trx, sub);
async function create(device: Authenticator, user: User, manner: Manner = {}, name = ''): Promise<store.Passkey> {
  const handle = await store.userHandle(at.deps.db, user.sub, randomBytes(32));
  const person = { handle, name: user.username, display_name: user.username };
  const answer = device.create(creationOptions(at.deps.config.ISSUER, challenge(CREATE), person, []), manner);
  return createPasskey(
    at.deps,
    { sub: user.sub, answer, challenge: CREATE, name, hold: held(user) },
    by,
    at.clock.now(),
  );
}

const asked = (binding = SIGN_IN) => requestOptions(at.deps.config.ISSUER, challenge(binding), 'required');
const use = (answer: string, more: Partial<Parameters<typeof usePasskey>[1]> = {}) =>
  usePasskey(at.deps, { answer, challenge: SIGN_IN, user_verification: 'required', ...more }, by);
/** The check that refused, or nothing. */
const refusalOf = (used: Promise<unknown>): Promise<string | undefined> =>
  used.then(
    () => undefined,
    (error: { failed?: { check: string } }) => error.failed?.check ?? 'no refusal of ours',
  );

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a passkey of %s is made and used', async (algorithm) => {
  const device = authenticator({ algorithm });
  const made = await create(device, ada);
  at.clock.advance(5);
  const { passkey, user_verified } = await use(device.use(asked()));
  expect(passkey).toMatchObject({ sub: ada.sub, passkey_id: made.passkey_id, username: ada.username });
  expect(user_verified).toBe(true);
  const [kept] = (await store.allOf(at.deps.db, ada.sub)).filter(({ passkey_id }) => passkey_id === made.passkey_id);
  expect(kept).toMatchObject({ backup_eligible: false, backed_up: false, last_used_at: at.clock.now() });
});

test('Web Authentication §7.2: what does not fit in an assertion is refused, and spends nothing', async () => {
  const device = authenticator();
  await create(device, ada);
  const wrong: Record<string, [Manner, string]> = {
    origin: [{ origin: 'https://id.example.test.evil.example' }, 'passkey'],
    'origin with a port': [{ origin: 'https://id.example.test:8443' }, 'passkey'],
    'relying party': [{ rp_id: 'example.test' }, 'passkey'],
    type: [{ type: 'webauthn.create' }, 'passkey'],
    'no person': [{ user_present: false, user_verified: false }, 'passkey'],
    'not verified': [{ user_verified: false }, 'passkey'],
    'another key': [{ other_key: true }, 'passkey'],
    'another person’s handle': [{ user_handle: randomBytes(32).toString('base64url') }, 'passkey'],
    'synchronised suddenly': [{ synchronised: true }, 'passkey'],
    'in a frame': [{ cross_origin: true }, 'passkey'],
    'made-up challenge': [{ challenge: randomBytes(54).toString('base64url') }, 'passkey_challenge'],
    'short challenge': [{ challenge: 'AAAA' }, 'passkey_challenge'],
  };
  const options = asked();
  for (const [name, [manner, check]] of Object.entries(wrong)) {
    expect(await refusalOf(use(device.use(options, manner))), name).toBe(check);
  }
  const honest = device.use(options);
  for (const text of [
    '',
    '{}',
    'null',
    '[]',
    '{"id":',
    honest.replace('"signature":"', '"signature":"AA'),
    'x'.repeat(20_000),
  ]) {
    expect(await refusalOf(use(text)), text.slice(0, 40)).toBe('passkey');
  }
  expect(await refusalOf(use(honest))).toBeUndefined();
});

test('a challenge is of its purpose, its browser and its page, once, for ten minutes', async () => {
  const device = authenticator();
  await create(device, ada);
  for (const binding of [
    ['second-factor', 'a browser', 'an interaction'],
    ['sign-in', 'another browser', 'an interaction'],
    ['sign-in', 'a browser', 'another interaction'],
  ] as const) {
    expect(await refusalOf(use(device.use(asked(binding)))), binding.join()).toBe('passkey_challenge');
  }
  const answer = device.use(asked());
  expect(await refusalOf(use(answer))).toBeUndefined();
  expect(await refusalOf(use(answer))).toBe('passkey_challenge');
  const late = device.use(asked());
  at.clock.advance(601);
  expect(await refusalOf(use(late))).toBe('passkey_challenge');
});

test('of fifty who send one answer at once, over two servers, one is heard', async () => {
  const device = authenticator();
  await create(device, ada);
  const answer = device.use(asked());
  const other = await testApp({ database: at.database, clock: at.clock });
  const used = Array.from({ length: 50 }, (_, index) => {
    const { deps } = index % 2 ? at : other;
    return refusalOf(usePasskey(deps, { answer, challenge: SIGN_IN, user_verification: 'required' }, by));
  });
  const outcomes = await Promise.all(used);
  await other.close();
  expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
  expect(new Set(outcomes)).toEqual(new Set([undefined, 'passkey_challenge']));
});

test('Web Authentication §6.1.1: a count that does not go on is refused and recorded, where the authenticator counts', async () => {
  const device = authenticator({ counts: true });
  const { passkey_id } = await create(device, bob);
  expect(await refusalOf(use(device.use(asked())))).toBeUndefined();
  const stored = device.count;
  for (const sign_count of [stored, stored - 1, 0]) {
    expect(await refusalOf(use(device.use(asked(), { sign_count })))).toBe('passkey_count');
  }
  // Whoever cannot sign does not raise an alarm.
  expect(await refusalOf(use(device.use(asked(), { sign_count: 1, other_key: true })))).toBe('passkey');
  const events = await at.deps.db
    .selectFrom('audit_events')
    .select(['sub', 'detail', 'ip'])
    .where('event', '=', 'passkey_count_went_back')
    .orderBy('event_id')
    .execute();
  expect(events).toHaveLength(3);
  expect(events[0]).toEqual({ sub: bob.sub, ip: by.ip, detail: { passkey_id, stored, received: stored } });
  expect(await refusalOf(use(device.use(asked(), { sign_count: stored + 9 })))).toBeUndefined();
});

test('where user verification is only preferred, a touch is enough; alone it never is', async () => {
  const device = authenticator();
  await create(device, ada);
  const touched = await use(device.use(asked(), { user_verified: false }), { user_verification: 'preferred' });
  expect(touched.user_verified).toBe(false);
});

test('a disabled account, another account, and a removed passkey are refused alike', async () => {
  const device = authenticator();
  const { passkey_id } = await create(device, bob);
  expect(await refusalOf(use(device.use(asked()), { sub: ada.sub }))).toBe('passkey');
  await transact(at.deps.db, (trx) => setDisabled(trx, bob.sub, true, BY, at.clock.now()));
  expect(await refusalOf(use(device.use(asked())))).toBe('passkey');
  await transact(at.deps.db, (trx) => setDisabled(trx, bob.sub, false, BY, at.clock.now()));
  expect(await refusalOf(use(device.use(asked())))).toBeUndefined();
  await transact(at.deps.db, (trx) => removePasskey(trx, at.deps, bob.sub, passkey_id, BY, at.clock.now()));
  await expect(use(device.use(asked()))).rejects.toMatchObject({ failed: { check: 'passkey_unknown' } });
});

test('a browser is told to forget a passkey only where its person is one of ours', async () => {
  const device = authenticator();
  const { passkey_id, credential_id } = await create(device, bob);
  await transact(at.deps.db, (trx) => removePasskey(trx, at.deps, bob.sub, passkey_id, BY, at.clock.now()));
  const forgotten = async (manner: Manner) =>
    use(device.use(asked(), manner)).catch((error: unknown) =>
      error instanceof UnknownPasskey ? error.forget : error,
    );
  expect(await forgotten({})).toBe(credential_id.toString('base64url'));
  // That of another server at this host, or of nobody.
  expect(await forgotten({ user_handle: randomBytes(32).toString('base64url') })).toBeUndefined();
  expect(await forgotten({ user_handle: undefined })).toBeUndefined();
});

test('Web Authentication §7.1: what does not fit in a new passkey is refused', async () => {
  const wrong: Record<string, [Manner, string]> = {
    origin: [{ origin: 'https://elsewhere.example' }, 'passkey'],
    'relying party': [{ rp_id: 'elsewhere.example' }, 'passkey'],
    type: [{ type: 'webauthn.get' }, 'passkey'],
    'not verified': [{ user_verified: false }, 'passkey'],
    'in a frame': [{ cross_origin: true }, 'passkey'],
    challenge: [{ challenge: challenge(SIGN_IN) }, 'passkey_challenge'],
  };
  for (const [name, [manner, check]] of Object.entries(wrong)) {
    expect(await refusalOf(create(authenticator(), ada, manner)), name).toBe(check);
  }
});

test('a credential that is registered is nobody else’s, and an answer makes one passkey', async () => {
  const device = authenticator();
  const handle = await store.userHandle(at.deps.db, ada.sub, randomBytes(32));
  const options = creationOptions(
    at.deps.config.ISSUER,
    challenge(CREATE),
    { handle, name: 'ada', display_name: 'Ada' },
    [],
  );
  const answer = device.create(options);
  const of = (sub: string, sent = answer) =>
    refusalOf(
      createPasskey(
        at.deps,
        { sub, answer: sent, challenge: CREATE, name: '', hold: held({ sub }) },
        by,
        at.clock.now(),
      ),
    );
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => of(ada.sub)));
  expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
  // The same credential again, under a challenge that Bob was given.
  const parsed = JSON.parse(answer) as { response: { clientDataJSON: string } };
  const data = { type: 'webauthn.create', challenge: challenge(CREATE), origin: at.deps.config.ISSUER };
  parsed.response.clientDataJSON = Buffer.from(JSON.stringify(data)).toString('base64url');
  expect(await of(bob.sub, JSON.stringify(parsed))).toBe('passkey');
  expect((await use(device.use(asked()))).passkey.sub).toBe(ada.sub);
});

test('a passkey has the name that its person gives it, or one that says what made it', async () => {
  const carol = await aUser(at, { password: undefined });
  const named = async (manner: Manner, name?: string) => (await create(authenticator(), carol, manner, name)).name;
  const google = 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4';
  expect(await named({ aaguid: google, synchronised: true })).toBe('Google Password Manager');
  expect(await named({ aaguid: google, synchronised: true })).toBe('Google Password Manager 2');
  expect(await named({ transports: ['usb'] })).toBe('Security key');
  expect(await named({})).toBe('Passkey');
  expect(await named({}, '  My \u202E\n phone ')).toBe('My phone');
  expect(await named({}, 'x'.repeat(200))).toBe('x'.repeat(64));
  for (let more = 6; more < MAX_PASSKEYS; more += 1) await named({ algorithm: 'EdDSA' });
  await expect(named({})).rejects.toMatchObject({ error: 'invalid_request' });
});

test('a network that only fails waits', async () => {
  for (let failed = 0; failed < 30; failed += 1) await refusalOf(use('{}'));
  expect(await refusalOf(use('{}'))).toBe('sign_in_attempts');
});

test('an issuer with a path is the same relying party, by its host', async () => {
  const config = configWith(at.deps.config, { ISSUER: 'https://id.example.test/realm' });
  const device = new Authenticator(config.ISSUER);
  await create(device, ada);
  const options = requestOptions(config.ISSUER, challenge(SIGN_IN), 'required');
  expect(options.rpId).toBe('id.example.test');
  const answer = device.use(options);
  const used = await usePasskey(
    { ...at.deps, config },
    { answer, challenge: SIGN_IN, user_verification: 'required' },
    by,
  );
  expect(used.passkey.sub).toBe(ada.sub);
});
