/** What happens to keys by itself: publish, use, retire, erase, remove, by one process, however many try. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyRing, ensureKeys, keepKeys, keyStates, type KeyRing } from '../../src/keys/index.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import type { KeyAlg } from '../../src/protocol/key-alg.ts';
import type { SigningAlg } from '../../src/protocol/signing-alg.ts';
import * as store from '../../src/store/keys.ts';
import { put } from '../../src/store/resources.ts';
import { TEST_SECRET_KEY, testClock, type TestClock } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { BY } from '../support/fixtures.ts';
import { atOnce } from '../support/races.ts';
import { retireKey, rotateKey } from '../support/rotation.ts';

const secrets = createSecrets([TEST_SECRET_KEY], random);
const DAY = 86_400;
const INTERVAL = 30 * DAY;
const LEAD = 360;

let database: TestDatabase;
let clock: TestClock;
let ring: KeyRing;
beforeEach(async () => {
  database = await createTestDatabase();
  clock = testClock();
  ring = createKeyRing(database.db, secrets);
});
afterEach(() => database.close());

interface Settings {
  SIGNING_ALGS: SigningAlg[];
  ENCRYPTION_ALGS: Array<'RSA-OAEP-256' | 'ECDH-ES'>;
  KEY_ROTATION_INTERVAL: number;
}
/** Elliptic curves only: RSA keys take a while to make. */
const config: Settings = { SIGNING_ALGS: ['ES256'], ENCRYPTION_ALGS: ['ECDH-ES'], KEY_ROTATION_INTERVAL: INTERVAL };
const keep = async (settings: Partial<Settings> = {}): Promise<boolean> => {
  const done = await keepKeys({ db: database.db, secrets, config: { ...config, ...settings } }, BY, clock.now());
  await ring.reload();
  return done;
};
const start = (algs: readonly KeyAlg[] = ['ES256', 'ECDH-ES']): Promise<void> =>
  ensureKeys(database.db, secrets, algs, clock.now());
const statesOf = async (alg: KeyAlg): Promise<string[]> =>
  keyStates(await store.all(database.db), clock.now())
    .filter((key) => key.alg === alg)
    .map(({ state, published }) => (published ? state : `${state}, unpublished`));
const kidOf = async (alg: KeyAlg): Promise<string> =>
  (await store.all(database.db)).findLast((row) => row.alg === alg)!.kid;
const events = async (): Promise<string[]> =>
  (await database.db.selectFrom('audit_events').select('event').orderBy('event_id').execute()).map(
    ({ event }) => event,
  );

test('the life of a signing key: next, active, retired, without its private half, gone', async () => {
  await start(['ES256']);
  const first = await kidOf('ES256');
  const only = { ENCRYPTION_ALGS: [] };
  expect(await keep(only)).toBe(false);
  clock.advance(INTERVAL - LEAD - 1);
  expect(await keep(only)).toBe(false);
  clock.advance(1);
  expect(await keep(only)).toBe(true);
  expect(await statesOf('ES256')).toEqual(['active', 'next']);
  expect(await keep(only)).toBe(false);

  clock.advance(LEAD - 1);
  expect(ring.active('ES256', clock.now()).kid).toBe(first);
  clock.advance(1);
  expect(await statesOf('ES256')).toEqual(['retired', 'active']);
  expect(ring.active('ES256', clock.now()).kid).toBe(await kidOf('ES256'));

  // While a token may live that it signed.
  clock.advance(DAY + 59);
  expect(await keep(only)).toBe(false);
  expect(await ring.find(first, clock.now())).toBeDefined();
  clock.advance(1);
  expect(await keep(only)).toBe(true);
  expect(await statesOf('ES256')).toEqual(['retired, unpublished', 'active']);
  expect((await store.all(database.db))[0]).toMatchObject({ kid: first, sealed_private_key: null });
  expect(await keep(only)).toBe(false);

  // ID tokens are hints for as long as a grant can live.
  const resting = { ...only, KEY_ROTATION_INTERVAL: 0 };
  clock.advance(400 * DAY - 1);
  expect(await keep(resting)).toBe(false);
  expect(await ring.find(first, clock.now())).toBeUndefined();
  expect((await ring.find(first, clock.now(), { retired: true }))?.kid).toBe(first);
  clock.advance(1);
  expect(await keep(resting)).toBe(true);
  expect(await ring.find(first, clock.now(), { retired: true })).toBeUndefined();
  expect(await statesOf('ES256')).toEqual(['active']);
  expect(await events()).toEqual(['key_rotated', 'key_erased', 'key_removed']);
});

test('keys to encrypt to come and go too, and leave the JWKS when another takes over', async () => {
  await start();
  clock.advance(INTERVAL - LEAD);
  await keep();
  expect(await statesOf('ECDH-ES')).toEqual(['active', 'next']);
  clock.advance(LEAD);
  expect(await statesOf('ECDH-ES')).toEqual(['retired, unpublished', 'active']);
  expect(await statesOf('ES256')).toEqual(['retired', 'active']);
  const opening = async (): Promise<number> => (await ring.decryption({ alg: 'ECDH-ES' }, clock.now())).length;
  expect(await opening()).toBe(2);
  clock.advance(DAY + 60);
  expect(await opening()).toBe(1);
  await keep();
  expect((await store.all(database.db)).filter(({ sealed_private_key }) => sealed_private_key === null)).toHaveLength(
    2,
  );
});

test('many processes whose turn comes at once make one key of each algorithm', async () => {
  await start();
  clock.advance(INTERVAL);
  const done = await atOnce(5, () => keep());
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(await statesOf('ES256')).toEqual(['active', 'next']);
  expect(await statesOf('ECDH-ES')).toEqual(['active', 'next']);
  clock.advance(INTERVAL - LEAD - 1);
  await keep();
  expect(await statesOf('ES256')).toHaveLength(2);
});

test('KEY_ROTATION_INTERVAL=0 leaves it to the operator, and one made by hand counts from its own start', async () => {
  await start();
  clock.advance(5 * INTERVAL);
  expect(await keep({ KEY_ROTATION_INTERVAL: 0 })).toBe(false);
  for (const alg of ['ES256', 'ECDH-ES'] as const) await rotateKey(database.db, secrets, alg, BY, clock.now());
  expect(await keep()).toBe(false);
  clock.advance(LEAD + INTERVAL - LEAD - 1);
  expect((await keep()) && (await statesOf('ES256'))).toEqual(['retired, unpublished', 'active']);
  clock.advance(1);
  await keep();
  expect(await statesOf('ES256')).toEqual(['retired, unpublished', 'active', 'next']);
});

test('a key that was retired has no private half any more, and its row goes like the others', async () => {
  await start(['ES256']);
  const kid = await kidOf('ES256');
  await retireKey(database.db, secrets, kid, BY, clock.now());
  const resting = { ENCRYPTION_ALGS: [], KEY_ROTATION_INTERVAL: 0 };
  expect((await store.all(database.db)).find((row) => row.kid === kid)!.sealed_private_key).toBeNull();
  clock.advance(400 * DAY - 1);
  expect(await keep(resting)).toBe(false);
  clock.advance(1);
  expect(await keep(resting)).toBe(true);
  expect(await statesOf('ES256')).toEqual(['active']);
});

describe('an algorithm that is taken out of SIGNING_ALGS', () => {
  const without = { ENCRYPTION_ALGS: [], KEY_ROTATION_INTERVAL: INTERVAL };

  test('signs for another day, and is published until what it signed has expired', async () => {
    await start(['ES256', 'EdDSA']);
    const kid = await kidOf('EdDSA');
    expect(await keep(without)).toBe(true);
    expect(await keep(without)).toBe(false);
    clock.advance(DAY - 1);
    expect(ring.active('EdDSA', clock.now()).kid).toBe(kid);
    clock.advance(1);
    expect(() => ring.active('EdDSA', clock.now())).toThrow('there is no active EdDSA key');
    clock.advance(DAY + 59);
    expect(await ring.find(kid, clock.now())).toBeDefined();
    clock.advance(1);
    expect(await ring.find(kid, clock.now())).toBeUndefined();
    expect(ring.active('ES256', clock.now()).alg).toBe('ES256');
    await keep(without);
    expect(await events()).toEqual(['key_withdrawn', 'key_erased']);
  });

  test('goes on when it is put back in time, and gets another key later', async () => {
    await start(['ES256', 'EdDSA']);
    await keep(without);
    clock.advance(DAY - 1);
    await start(['ES256', 'EdDSA']);
    clock.advance(DAY);
    await keep({ ...without, SIGNING_ALGS: ['ES256', 'EdDSA'] });
    expect(await statesOf('EdDSA')).toEqual(['active']);
    await keep(without);
    clock.advance(DAY);
    await start(['ES256', 'EdDSA']);
    expect(await statesOf('EdDSA')).toEqual(['retired', 'next']);
  });

  test('goes on for a resource that wants it, and is replaced like the others', async () => {
    await start(['ES256', 'EdDSA']);
    const resource = { resource: 'https://api.example.test', name: null, client_id: null, scope: [] };
    const terms = { access_token_format: null, access_token_ttl: null, access_token_signing_alg: 'EdDSA' } as const;
    await keep(without);
    await put(database.db, { ...resource, ...terms });
    expect(await keep(without)).toBe(true);
    clock.advance(INTERVAL);
    expect(await keep(without)).toBe(true);
    clock.advance(LEAD);
    expect(await statesOf('EdDSA')).toEqual(['retired', 'active']);
    expect((await events()).slice(0, 2)).toEqual(['key_withdrawn', 'key_restored']);
  });
});
