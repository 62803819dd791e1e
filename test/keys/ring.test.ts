/** The ring among other processes: keys they made, keys they took away, and those this one cannot open. */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../src/cli/doctor/diagnosis.ts';
import { configWith } from '../../src/config.ts';
import { createKeyRing, keepKeys } from '../../src/keys/index.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { reloadKeys } from '../../src/workers/reload-keys.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aService,
  BY,
  changeClient,
  credentials,
  postForm,
  refresh,
  someTokens,
  userinfo,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { retireKey, rotateKey } from '../support/rotation.ts';

const DAY = 86_400;
let at: TestApp;
let other: TestApp;
beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

const headerOf = (token: string): { alg: string; kid: string } => decode(token).header as { alg: string; kid: string };
const tokensOfPerson = async (): Promise<string> => (await someTokens(at)).tokens.access_token;

describe('keys that another process made', () => {
  test('a token of a key this process has not read yet is good: a kid never seen is looked for', async () => {
    at.clock.advance(1);
    const { kid } = await rotateKey(at.deps.db, at.deps.secrets, 'RS256', BY, at.clock.now(), { immediately: true });
    await at.deps.keys.reload();
    const token = await tokensOfPerson();
    expect(headerOf(token).kid).toBe(kid);
    expect((await userinfo(other, token)).statusCode).toBe(200);
  });

  test('made-up kids cost one reading a second, however many there are', async () => {
    let statements = 0;
    const db = at.deps.db.withPlugin({
      transformQuery: ({ node }) => ((statements += 1), node),
      transformResult: async ({ result }) => result,
    });
    const ring = createKeyRing(db, at.deps.secrets);
    await ring.reload();
    const perReading = statements;
    const readings = (): number => statements / perReading;
    const [first] = JSON.parse(ring.jwks(at.clock.now()).body.toString()).keys as Array<{ kid: string }>;
    const ask = (kids: string[]): Promise<unknown[]> =>
      Promise.all(kids.map((kid) => ring.find(kid, at.clock.now(), { retired: true })));
    const madeUp = Array.from({ length: 50 }, (_, n) => `made-up-${n}`);

    expect(new Set(await ask(madeUp))).toEqual(new Set([undefined]));
    await ask(madeUp);
    await ring.decryption({ kid: 'made-up', alg: 'ECDH-ES' }, at.clock.now());
    expect(readings()).toBe(2);
    at.clock.advance(1);
    await ask(madeUp);
    expect(readings()).toBe(3);
    // What is known, retired or not, is not asked for.
    at.clock.advance(1);
    await ask([first!.kid]);
    expect(readings()).toBe(3);
  });

  test('a reading that began earlier and ends later does not bring back what a later one saw go', async () => {
    const entered = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let hold = false;
    const db = at.deps.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (!hold) return result;
        hold = false;
        entered.resolve();
        await held.promise;
        return result;
      },
    });
    const ring = createKeyRing(db, at.deps.secrets);
    await ring.reload();
    const { kid } = ring.active('ES256', at.clock.now());
    hold = true;
    const slow = ring.reload();
    await entered.promise;
    await retireKey(at.deps.db, at.deps.secrets, kid, BY, at.clock.now());
    await ring.reload();
    held.resolve();
    await slow;
    expect(await ring.find(kid, at.clock.now())).toBeUndefined();
  });
});

test('a key that was retired is refused by every process at its next turn, and gone from every JWKS', async () => {
  const token = await tokensOfPerson();
  expect((await userinfo(other, token)).statusCode).toBe(200);
  const done = await retireKey(at.deps.db, at.deps.secrets, headerOf(token).kid, BY, at.clock.now());
  for (const process of [at, other]) {
    const worker = reloadKeys(process.deps);
    expect(worker.every).toBeLessThanOrEqual(5);
    await worker.run();
    expect((await userinfo(process, token)).statusCode).toBe(401);
    const { body } = await process.app.inject('/jwks');
    expect(body).not.toContain(headerOf(token).kid);
    expect(body).toContain(done!.replacement);
  }
});

test('a key sealed under another key verifies and is not signed with; the others are still up to date', async () => {
  const newer = createSecrets(['another key, of more than thirty-two characters', TEST_SECRET_KEY], random);
  at.clock.advance(1);
  await other.deps.keys.reload();
  const before = other.deps.keys.active('ES256', at.clock.now()).kid;
  const { kid } = await rotateKey(at.deps.db, newer, 'ES256', BY, at.clock.now(), { immediately: true });
  at.clock.advance(1);
  await reloadKeys(other.deps).run();
  expect(other.deps.keys.active('ES256', at.clock.now()).kid).toBe(before);
  expect(await other.deps.keys.find(kid, at.clock.now())).toBeDefined();
  expect(other.logged.filter((line) => line.includes('SECRET_KEYS') && line.includes(kid))).toHaveLength(1);
  // At the start each has to open, else the process would sign with what others are about to give up.
  await expect(createKeyRing(at.deps.db, at.deps.secrets).reload()).rejects.toThrow('SECRET_KEYS');
  await retireKey(at.deps.db, newer, kid, BY, at.clock.now());
  expect(await other.deps.keys.reload()).toMatchObject({ unreadable: [expect.any(String)] });
});

describe('algorithms come and go without a pause', () => {
  let old: TestApp;
  let fresh: TestApp;
  beforeAll(async () => {
    old = await testApp();
    const config = { SIGNING_ALGS: ['RS256', 'ES256', 'PS256'], ACCESS_TOKEN_SIGNING_ALG: 'PS256' } as const;
    const settings = { ...config, SIGNING_ALGS: [...config.SIGNING_ALGS] };
    fresh = await testApp({ config: settings, database: old.database, clock: old.clock });
  });
  afterAll(async () => {
    await fresh.close();
    await old.close();
  });
  const machineToken = async (process: TestApp): Promise<string> => {
    const service = await aService(process);
    const form = { grant_type: 'client_credentials', ...credentials(service) };
    return (await postForm(process, '/token', form)).json<{ access_token: string }>().access_token;
  };

  test('one that is new is published, and RS256 signs access tokens until every cache can have it', async () => {
    await old.deps.keys.reload();
    for (const { app } of [old, fresh]) expect((await app.inject('/jwks')).body).toContain('PS256');
    expect(headerOf(await machineToken(fresh)).alg).toBe('RS256');
    old.clock.advance(360);
    expect(headerOf(await machineToken(fresh)).alg).toBe('PS256');
    expect(headerOf(await machineToken(old)).alg).toBe('RS256');
  });

  test('RFC 7591 §2: a client that registers for it at once gets ID tokens it can verify', async () => {
    const process = await testApp({
      config: { SIGNING_ALGS: ['RS256', 'ES256', 'EdDSA'] },
      database: old.database,
      clock: old.clock,
    });
    const client = await aClient(process, { id_token_signed_response_alg: 'EdDSA' });
    const { tokens } = await someTokens(process, { client });
    expect(headerOf(tokens.id_token).alg).toBe('EdDSA');
    expect((await process.app.inject('/jwks')).body).toContain(headerOf(tokens.id_token).kid);
    await process.close();
  });

  test('one that is taken away goes on for the clients that registered for it, and doctor says so', async () => {
    const client = await aClient(fresh, { id_token_signed_response_alg: 'PS256', skip_consent: true });
    const { tokens } = await someTokens(fresh, { client });
    const keep = (): Promise<boolean> => keepKeys(old.deps, BY, old.clock.now());
    await keep();
    old.clock.advance(2 * DAY);
    await keep();
    await old.deps.keys.reload();
    const answer = await refresh(old, client, tokens.refresh_token);
    expect(answer.statusCode).toBe(200);
    expect(headerOf(answer.json<{ id_token: string }>().id_token).alg).toBe('PS256');

    const opened = { deps: old.deps } as Parameters<typeof checks.clients>[0];
    const message = `${client.client_id}: wants tokens signed with PS256, which is not among SIGNING_ALGS`;
    expect(await checks.clients(opened)).toContainEqual(expect.objectContaining({ level: 'warning', message }));

    // Its other metadata can be changed; nobody else gets that algorithm.
    const change = { client_name: 'Another name' };
    expect(await changeClient(old, client, change)).toMatchObject(change);
    await expect(aClient(old, { id_token_signed_response_alg: 'PS256' })).rejects.toThrow(
      'must be one of SIGNING_ALGS',
    );
  });
});

test('doctor names keys beyond their time, where a server replaces them and where an operator does', async () => {
  const process = await testApp();
  const messages = async (KEY_ROTATION_INTERVAL: number): Promise<string[]> => {
    const deps = { ...process.deps, config: configWith(process.deps.config, { KEY_ROTATION_INTERVAL }) };
    const found = await checks.keys({ deps } as Parameters<typeof checks.keys>[0]);
    return found.filter(({ level }) => level === 'warning').map(({ message }) => message);
  };
  expect(await messages(90 * DAY)).toEqual([]);
  process.clock.advance(91 * DAY + 1);
  expect(await messages(90 * DAY)).toHaveLength(4);
  expect((await messages(90 * DAY))[0]).toMatch(/^\S{43} has been the RS256 key for 91 days$/);
  expect(await messages(0)).toEqual([]);
  process.clock.advance(400 * DAY);
  expect(await messages(0)).toHaveLength(4);
  await process.close();
});

test('RFC 8725 §3.1: a token that names a key to encrypt to is not verified with it', async () => {
  const [{ kid } = { kid: '' }] = await at.deps.keys.decryption({ alg: 'RSA-OAEP-256' }, at.clock.now());
  const { private_key } = at.deps.keys.active('RS256', at.clock.now());
  const token = await new SignJWT({ sub: 'x' })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
    .sign(private_key);
  expect((await userinfo(at, token)).statusCode).toBe(401);
});
