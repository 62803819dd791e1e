/** The ways into an account: every one that people sign in by counts, and the last of them stays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askForOwnAddress, requestOwnDeletion } from '../../src/authorize/own-account.ts';
import { addOwnTotp, removeOwnFactor, renewOwnCodes, setUpTotp } from '../../src/authorize/own-factors.ts';
import { createOwnPasskey, removeOwnPasskey } from '../../src/authorize/own-passkeys.ts';
import { changeOwnPassword } from '../../src/authorize/own-password.ts';
import { holdStanding, type Standing } from '../../src/authorize/standing.ts';
import { connectWaiting, disconnectFrom } from '../../src/authorize/upstream-connections.ts';
import * as passkeys from '../../src/store/passkeys.ts';
import { drawHandle, sha256 } from '../../src/protocol/handle.ts';
import { creationOptions } from '../../src/protocol/webauthn.ts';
import { endSessionOf, type LiveSession } from '../../src/sessions/index.ts';
import { endOwnSession } from '../../src/sessions/of-person.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as users from '../../src/store/users.ts';
import * as upstreamRequests from '../../src/store/upstream-requests.ts';
import * as upstreamLinks from '../../src/store/upstream-links.ts';
import { makeChallenge } from '../../src/users/factors/passkey.ts';
import { requestDeletion } from '../../src/users/deletion.ts';
import { checkSetup } from '../../src/users/enrolment.ts';
import { sealWaiting } from '../../src/users/upstream/sealed.ts';
import { waysIn } from '../../src/users/ways-in.ts';
import { Authenticator } from '../support/authenticator.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser, PASSWORD } from '../support/fixtures.ts';
import { aPasskey } from '../support/passkeys.ts';
import { overtaken } from '../support/races.ts';
import { codeOf, withTotp } from '../support/second-factor.ts';
import { aStanding } from '../support/standing.ts';
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
  const session = await aStanding(at, user);
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

/** The same sign-in, as a browser has it. */
async function inBrowser(standing: Standing): Promise<LiveSession> {
  const row = await at.deps.db.selectFrom('sessions').selectAll().where('sid', '=', standing.sid).executeTakeFirst();
  return { vouched: true, ...row!, ...standing } as unknown as LiveSession;
}

/** Somebody came back from a provider and waits in this browser. */
async function waits(browser: string, upstream_sub: string): Promise<void> {
  const { db, random } = at.deps;
  const created_at = at.clock.now();
  const expires_at = new Date(created_at.getTime() + 3_600_000);
  const { handle: _, ...key } = drawHandle(random, expires_at);
  const visit = { upstream: 'elsewhere', browser_hash: sha256(browser) };
  await upstreamRequests.insert(db, { ...key, ...visit, sealed: random(8), created_at, expires_at });
  await upstreamRequests.answer(db, key, visit, created_at);
  const who = { issuer: provider.issuer, upstream_sub, name: null, way: { kind: 'login' as const } };
  await transact(db, (trx) => upstreamRequests.keepIdentity(trx, key, sealWaiting(at.deps, key, who)));
}

/** Every change of somebody's own ways in, and of the account itself, each in its own sign-in. */
const changes: Record<string, (standing: Standing, user: users.User) => Promise<unknown>> = {
  async 'a new passkey'(standing, user) {
    const challenge = ['create', 'a browser', standing.sid] as const;
    const handle = await passkeys.userHandle(at.deps.db, user.sub, Buffer.alloc(32, user.sub));
    const person = { handle, name: user.username, display_name: user.username };
    const made = makeChallenge(at.deps, challenge, at.clock.now());
    const device = new Authenticator(at.deps.config.ISSUER, {});
    const answer = device.create(creationOptions(at.deps.config.ISSUER, made, person, []));
    return createOwnPasskey(at.deps, standing, { answer, challenge, name: '' }, BY, at.clock.now());
  },
  'a new password': (standing, user) => {
    const change = { current: PASSWORD, password: 'a quite different staple 17', end_others: true, device: undefined };
    return changeOwnPassword(at.deps, standing, user, change, BY);
  },
  'a passkey removed': (standing) => removeOwnPasskey(at.deps, standing, 'any', BY, at.clock.now()),
  'a connection ended': (standing) =>
    disconnectFrom(at.deps, standing, { upstream: 'elsewhere', upstream_sub: 'any' }, BY, at.clock.now()),
  'an authenticator app removed': (standing) => removeOwnFactor(at.deps, standing, 'totp', BY, at.clock.now()),
  'new recovery codes': (standing) => renewOwnCodes(at.deps, standing, BY, at.clock.now()),
  'an authenticator app, by a token': (standing) => {
    const secret = Buffer.alloc(20, standing.sub);
    const totp = checkSetup(at.deps, standing, secret, codeOf(at, secret), at.clock.now())!;
    return addOwnTotp(at.deps, standing, totp, BY, at.clock.now());
  },
  async 'an authenticator app'(standing) {
    const secret = Buffer.alloc(20, standing.sub);
    const totp = checkSetup(at.deps, standing, secret, codeOf(at, secret), at.clock.now())!;
    return setUpTotp(
      at.deps,
      await inBrowser(standing),
      totp,
      { browser: 'a browser', via: 'account', fresh: true },
      BY,
    );
  },
  async 'a connection'(standing) {
    await waits(standing.sid, standing.sub);
    return connectWaiting(at.deps, standing.sid, await inBrowser(standing), BY, at.clock.now());
  },
  'another address': (standing, user) => {
    const wanted = { address: `new-${user.email}`, lang: 'en', browser_hash: sha256('a browser') };
    return askForOwnAddress(at.deps, standing, user, wanted, BY, at.clock.now());
  },
  'the end of the account': (standing) => requestOwnDeletion(at.deps, standing, BY, at.clock.now()),
};
const mailsAsked = () => at.deps.db.selectFrom('mail_requests').selectAll().execute();
const over = (lack: string) => expect.objectContaining({ lack });

test('ASVS 7.5.1: no change of the ways in is made in a sign-in that ended, grew old or lacks a second factor meanwhile', async () => {
  await anUpstream(at, provider, 'elsewhere', { disabled: false });
  for (const [what, change] of Object.entries(changes)) {
    const user = await aUser(at);
    const ways = (): Promise<number> => count(user.sub);
    const ended = await aStanding(at, user);
    expect(await endOwnSession(at.deps, user.sub, ended.sid, BY, at.clock.now())).toBe(true);
    await expect(change(ended, user), what).rejects.toEqual(over('ended'));
    const old = { ...(await aStanding(at, user)), auth_time: new Date(at.clock.now().getTime() - 301_000) };
    // The present password stands in for a fresh sign-in.
    const byPassword = what === 'a new password';
    const tried = byPassword ? 'as ever' : await change(old, user).catch((error: unknown) => error);
    expect(tried, what).toEqual(byPassword ? 'as ever' : over('stale'));
    const alone = await aStanding(at, user);
    await withTotp(at, user);
    await expect(change(alone, user), what).rejects.toEqual(over('second_factor'));
    expect(await ways(), what).toBe(1);
    expect([(await users.find(at.deps.db, user.sub))?.erase_after, await mailsAsked()]).toEqual([null, []]);
    // The same in a sign-in that bears it, so that nothing else refuses it above.
    await at.deps.db.deleteFrom('totp_credentials').where('sub', '=', user.sub).execute();
    const made = byPassword ? 'as ever' : await change(await aStanding(at, user), user);
    expect(made, what).not.toBe('gone');
    await at.deps.db.deleteFrom('mail_requests').execute();
  }
});

test('ASVS 7.5.1: of a change and the end of its session at once the first decides', async () => {
  for (const what of ['a new passkey', 'a new password', 'another address', 'the end of the account'] as const) {
    const user = await aUser(at);
    const standing = await aStanding(at, user);
    const before = await users.passwordHashOf(at.deps.db, user.sub);
    const [, refused] = await overtaken(
      at.deps.db,
      (trx) => endSessionOf(trx, standing.sid, { sub: user.sub }, BY, at.clock.now()),
      () => changes[what]!(standing, user).catch((error: unknown) => error),
    );
    expect(refused, what).toEqual(over('ended'));
    expect(await passkeys.countOf(at.deps.db, user.sub)).toBe(0);
    expect(await users.passwordHashOf(at.deps.db, user.sub)).toBe(before);
    expect([(await users.find(at.deps.db, user.sub))?.erase_after, await mailsAsked()]).toEqual([null, []]);
  }
  const user = await aUser(at);
  const standing = await aStanding(at, user);
  const [held, ended] = await overtaken(
    at.deps.db,
    (trx) => holdStanding(trx, at.deps, standing, { fresh: true }, at.clock.now()),
    () => endOwnSession(at.deps, user.sub, standing.sid, BY, at.clock.now()),
  );
  expect([held.sub, ended]).toEqual([user.sub, true]);
  const deleting = await aStanding(at, user);
  const [erase_after, found] = await overtaken(
    at.deps.db,
    async (trx) => {
      const held = await holdStanding(trx, at.deps, deleting, { fresh: true }, at.clock.now());
      return requestDeletion(trx, at.deps, held, BY, at.clock.now());
    },
    () => endOwnSession(at.deps, user.sub, deleting.sid, BY, at.clock.now()),
  );
  expect([erase_after, found]).toEqual([expect.any(Date), false]);
});
