import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLanes } from '../../src/sessions/lanes.ts';
import { deliverNotices } from '../../src/sessions/notices.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { setDisabled } from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  asOfBefore,
  aUser,
  BY,
  formTokenOf,
  signIn,
  someTokens,
  type TestBrowser,
} from '../support/fixtures.ts';

let at: TestApp;
let server: Server;
let uri: string;
let status = 200;
let received: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push(new URLSearchParams(body).get('logout_token') ?? '');
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  uri = `http://${host}/backchannel`;
  at = await testApp({ config: { OUTBOUND_ALLOW: [host] } });
});
afterAll(async () => {
  server.close();
  await at.close();
});
beforeEach(() => {
  status = 200;
  received = [];
});

const signOut = async (browser: TestBrowser): Promise<void> => {
  const page = await browser.get('/logout');
  await browser.post('/logout', { action: 'logout', form_token: formTokenOf(page) });
};

const deliver = async (): Promise<void> => {
  while ((await deliverNotices(at.deps)) > 0);
};

const verify = async (token: string, audience: string) => {
  const jwks = (await at.app.inject('/jwks')).json<JSONWebKeySet>();
  return jwtVerify(token, createLocalJWKSet(jwks), {
    issuer: 'https://id.example.test',
    audience,
    typ: 'logout+jwt',
    currentDate: at.clock.now(),
  });
};

test('Back-Channel Logout §2.4: a sign-out is told by a logout token, without nonce and with the one event', async () => {
  const client = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const { browser, user, tokens } = await someTokens(at, { client });
  const { sid } = JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString()) as { sid: string };
  await signOut(browser);
  expect(received).toEqual([]);
  await deliver();
  expect(received).toHaveLength(1);
  const { payload } = await verify(received[0]!, client.client_id);
  expect(payload).toMatchObject({
    sub: user.sub,
    sid,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  expect(Object.keys(payload['events'] as object)).toHaveLength(1);
  expect(payload).not.toHaveProperty('nonce');
  expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(120);
});

test('Back-Channel Logout §2.3: clients that know nothing of the session, or do not want to be told, are not told', async () => {
  const quiet = await aClient(at, { skip_consent: true });
  await aClient(at, { backchannel_logout_uri: uri });
  const { browser } = await someTokens(at, { client: quiet });
  await signOut(browser);
  await deliver();
  expect(received).toEqual([]);
});

test('Back-Channel Logout §2.8: a client that fails is asked again, later and later, with a fresh jti each time', async () => {
  const client = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const { browser } = await someTokens(at, { client });
  status = 500;
  await signOut(browser);
  await deliver();
  expect(received).toHaveLength(1);
  await deliver();
  expect(received).toHaveLength(1);
  at.clock.advance(21);
  status = 204;
  await deliver();
  expect(received).toHaveLength(2);
  const [first, second] = await Promise.all(received.map((token) => verify(token, client.client_id)));
  expect(first!.payload.jti).not.toBe(second!.payload.jti);
  at.clock.advance(3600);
  await deliver();
  expect(received).toHaveLength(2);
});

test('a client that never answers ends as a dead letter, and nobody waits for it at sign-out', async () => {
  const client = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const { browser } = await someTokens(at, { client });
  status = 503;
  await signOut(browser);
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await deliver();
    at.clock.advance(12_000);
  }
  expect(received).toHaveLength(10);
  const dead = await at.deps.db
    .selectFrom('logout_notices')
    .selectAll()
    .where('client_id', '=', client.client_id)
    .execute();
  expect(dead).toMatchObject([{ attempts: 10, last_failure: 'the client answered 503', dead_at: expect.any(Date) }]);
});

test('two processes deliver each notice once', async () => {
  const other = await testApp({ config: at.deps.config, database: at.database, clock: at.clock });
  const client = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const user = await aUser(at);
  for (let sessions = 0; sessions < 5; sessions += 1) {
    const browser = await signIn(at, user);
    await someTokens(at, { client, user, browser });
    await signOut(browser);
  }
  await Promise.all([deliverNotices(at.deps), deliverNotices(other.deps), deliverNotices(at.deps)]);
  expect(received).toHaveLength(5);
  await other.close();
});

test('disabling a person tells the clients of every session', async () => {
  const client = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const { user } = await someTokens(at, { client });
  await transact(at.deps.db, (trx) => setDisabled(trx, user.sub, true, BY, at.clock.now()));
  await deliver();
  expect(received).toHaveLength(1);
});

test('a client that is slow to answer holds up nobody but itself', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let waiting = 0;
  const slow = createServer((_request, response) => {
    waiting += 1;
    void held.then(() => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const other = await testApp({
    config: { OUTBOUND_ALLOW: [host, new URL(uri).host] },
    database: at.database,
    clock: at.clock,
  });
  const now = at.clock.now();
  for (const [backchannel_logout_uri, sessions] of [
    [`http://${host}/`, 12],
    [uri, 3],
  ] as const) {
    const { client_id } = await aClient(at, { backchannel_logout_uri });
    const notice = { client_id, sub: 'somebody', attempts: 0, next_at: now, created_at: now };
    const rows = Array.from({ length: sessions }, (_, session) => ({ ...notice, sid: `session ${session}` }));
    await at.deps.db.insertInto('logout_notices').values(rows).execute();
  }
  const delivering = deliverNotices(other.deps);
  await expect.poll(() => received.length).toBe(3);
  expect(waiting).toBe(2);
  release();
  expect(await delivering).toBe(15);
  expect(waiting).toBe(12);
  await other.close();
  slow.close();
});

/** A receiver of its own, that answers when it is let. */
async function aReceiver(answers: Promise<number>): Promise<{ host: string; heard: () => number; close: () => void }> {
  let heard = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    heard += 1;
    void answers.then((status) => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  return { host, heard: () => heard, close: () => receiver.close() };
}

/** Owes a client some notices, as many sign-outs would. */
async function owe(backchannel_logout_uri: string, sessions: number): Promise<string> {
  const { client_id } = await aClient(at, { backchannel_logout_uri });
  const now = at.clock.now();
  const notice = { client_id, sub: 'somebody', attempts: 0, next_at: now, created_at: now };
  const rows = Array.from({ length: sessions }, (_, session) => ({ ...notice, sid: `session ${session}` }));
  await at.deps.db.insertInto('logout_notices').values(rows).execute();
  return client_id;
}
const owed = (client_id: string) =>
  at.deps.db.selectFrom('logout_notices').selectAll().where('client_id', '=', client_id).execute();

test('a dozen clients that are slow to answer delay nobody else’s notices, nor those that become due meanwhile', async () => {
  let release = (_status: number): void => undefined;
  const slow = await aReceiver(new Promise((resolve) => (release = resolve)));
  const other = await testApp({
    config: { OUTBOUND_ALLOW: [slow.host, new URL(uri).host] },
    database: at.database,
    clock: at.clock,
  });
  for (let n = 0; n < 12; n += 1) await owe(`http://${slow.host}/${n}`, 3);
  await owe(uri, 3);
  const delivering = deliverNotices(other.deps, createLanes(), 10);
  await expect.poll(() => received.length).toBe(3);
  await owe(uri, 2);
  await expect.poll(() => received.length).toBe(5);
  // Nobody was answered yet, and each has no more lanes than are its own.
  expect(slow.heard()).toBeLessThanOrEqual(24);
  release(200);
  expect(await delivering).toBe(41);
  await other.close();
  slow.close();
});

test('a client that cannot be told is tried once, not once a notice, and again when its back-off is over', async () => {
  const lanes = createLanes();
  const away = await owe(uri, 20);
  status = 503;
  await deliverNotices(at.deps, lanes);
  expect(received.length).toBeLessThanOrEqual(2);
  const tried = await owed(away);
  expect(new Set(tried.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  // What comes meanwhile waits for the same; others do not.
  const before = received.length;
  await at.deps.db
    .insertInto('logout_notices')
    .values({ ...tried[0]!, notice_id: undefined, sid: 'later', attempts: 0, next_at: at.clock.now() })
    .execute();
  status = 200;
  await owe(uri, 1);
  await deliverNotices(at.deps, lanes);
  expect(received).toHaveLength(before + 1);
  expect(await owed(away)).toHaveLength(21);
  at.clock.advance(20);
  await deliverNotices(at.deps, lanes);
  expect(await owed(away)).toEqual([]);
});

test('a notice that a client refuses is put off alone: its others are tried all the same', async () => {
  const picky = await owe(uri, 2);
  status = 400;
  await deliverNotices(at.deps);
  expect(received).toHaveLength(2);
  expect((await owed(picky)).map(({ attempts }) => attempts)).toEqual([1, 1]);
  await at.deps.db.deleteFrom('logout_notices').where('client_id', '=', picky).execute();
});

test('clients that no longer want to be told do not keep others waiting', async () => {
  const fickle = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const steady = await aClient(at, { backchannel_logout_uri: uri, skip_consent: true });
  const user = await aUser(at);
  for (let sessions = 0; sessions < 11; sessions += 1) {
    const browser = await signIn(at, user);
    await someTokens(at, { client: fickle, user, browser });
    await signOut(browser);
  }
  const { browser } = await someTokens(at, { client: steady, user });
  await signOut(browser);
  await asOfBefore(at, fickle, { backchannel_logout_uri: null });
  await deliver();
  expect(received).toHaveLength(1);
});
