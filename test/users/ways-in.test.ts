/** The ways into an account: every one that people sign in by counts, and the last of them stays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOwnPasskey } from '../../src/authorize/own-passkeys.ts';
import { disconnectFrom } from '../../src/authorize/upstream-connections.ts';
import * as passkeys from '../../src/store/passkeys.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as upstreamLinks from '../../src/store/upstream-links.ts';
import { waysIn } from '../../src/users/ways-in.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser } from '../support/fixtures.ts';
import { aPasskey } from '../support/passkeys.ts';
import { anUpstream } from '../support/upstream-provider.ts';

let at: TestApp;
const BY = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'a test' };
const provider = { issuer: 'https://up.example.test', client_id: 'us', client_secret: 'a secret' };
beforeAll(async () => {
  at = await testApp();
  await anUpstream(at, provider, 'elsewhere');
});
afterAll(() => at.close());

/** Somebody with a passkey and a connection, and no password. */
async function somebody() {
  const user = await aUser(at, { password: undefined });
  await aPasskey(at, user, { algorithm: 'EdDSA' });
  const created_at = at.clock.now();
  const link = { upstream: 'elsewhere', issuer: provider.issuer, upstream_sub: user.sub, sub: user.sub, name: null };
  const row = { ...link, sealed_tokens: null, created_at, used_at: created_at };
  await transact(at.deps.db, (trx) => upstreamLinks.insert(trx, row));
  const [passkey] = await passkeys.allOf(at.deps.db, user.sub);
  const session = { sub: user.sub, sid: 'a session' };
  return {
    sub: user.sub,
    removePasskey: (deps = at.deps) => removeOwnPasskey(deps, session, passkey!.passkey_id, BY, created_at),
    disconnect: (deps = at.deps) => disconnectFrom(deps, session, link, BY, created_at),
  };
}

const count = (sub: string, deps = at.deps) => transact(at.deps.db, (trx) => waysIn(trx, deps, sub));

test('of a passkey and a connection the one that is taken away last stays, also when both go at once', async () => {
  const first = await somebody();
  expect([await first.removePasskey(), await first.disconnect()]).toEqual(['removed', 'last']);
  const second = await somebody();
  expect([await second.disconnect(), await second.removePasskey()]).toEqual(['disconnected', 'only_way']);
  for (let round = 0; round < 5; round += 1) {
    const raced = await somebody();
    const went = await Promise.all([raced.removePasskey(), raced.disconnect()]);
    expect([
      ['removed', 'last'],
      ['only_way', 'disconnected'],
    ]).toContainEqual(went);
    expect(await count(raced.sub)).toBe(1);
  }
});

test('a verified address counts where people sign in by mail, and a provider that is off does not', async () => {
  const deps = { ...at.deps, config: { ...at.deps.config, EMAIL_SIGN_IN: 'on' as const } };
  const { sub, removePasskey, disconnect } = await somebody();
  expect([await count(sub), await count(sub, deps)]).toEqual([2, 3]);
  await at.deps.db.updateTable('users').set({ email_verified: false }).where('sub', '=', sub).execute();
  expect(await count(sub, deps)).toBe(2);
  await anUpstream(at, provider, 'elsewhere', { disabled: true });
  expect([await count(sub, deps), await removePasskey(deps)]).toEqual([1, 'only_way']);
  await at.deps.db.updateTable('users').set({ email_verified: true }).where('sub', '=', sub).execute();
  expect([await removePasskey(deps), await disconnect(deps)]).toEqual(['removed', 'disconnected']);
  expect([await count(sub), await count(sub, deps)]).toEqual([0, 1]);
});
