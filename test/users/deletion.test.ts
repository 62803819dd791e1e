/** Deleting one's account: everything ends at once, a week to come back, then nothing is left that names anybody. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY } from '../../src/protocol/numeric-date.ts';
import { transact, type Trx } from '../../src/store/postgres/db.ts';
import { sweep } from '../../src/store/postgres/sweep.ts';
import * as upstreamLinks from '../../src/store/upstream-links.ts';
import * as users from '../../src/store/users.ts';
import type { User } from '../../src/store/users.ts';
import * as waitingPages from '../../src/store/waiting-pages.ts';
import { postMail, postNotice } from '../../src/mail/outbox.ts';
import { eraseDue, keepAccount } from '../../src/users/deletion.ts';
import { addTotp } from '../../src/users/enrolment.ts';
import { drawRequest, makeLink } from '../../src/users/links.ts';
import { downloadData } from '../../src/users/personal-data.ts';
import { startWaiting, waitingKey } from '../../src/users/waiting.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  authorize,
  aUser,
  BY,
  formTokenOf,
  PASSWORD,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  userinfo,
  type AClient,
  type ACode,
} from '../support/fixtures.ts';
import { open, proceed, stepOf } from '../support/pages.ts';
import { aPasskey } from '../support/passkeys.ts';
import { overtaken } from '../support/races.ts';
import { withTotp } from '../support/second-factor.ts';
import { anUpstream } from '../support/upstream-provider.ts';
import { deletionAsked } from '../support/standing.ts';

const REQUESTER = { ip: '192.0.2.1', network: '192.0.2.1', request_id: 'a race' };
let at: TestApp;
let beside: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  beside = await testApp({ database: at.database, clock: at.clock });
  client = await aClient(at, { skip_consent: true });
});
afterAll(async () => {
  await beside.close();
  await at.close();
});

const offline = { scope: 'openid profile email offline_access' };

/** Somebody who asked for it, on the page. */
async function leaving() {
  const has = await someTokens(at, { client, parameters: offline });
  const form_token = formTokenOf(await has.browser.get('/account/delete'));
  const answer = await has.browser.post('/account/delete', { form_token, action: 'delete' });
  expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining('id="erase-after"')]);
  return has;
}

test('a request needs a sign-in of the last five minutes, and leads back to the page', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const form_token = formTokenOf(await browser.get('/account/delete'));
  at.clock.advance(301);
  const stale = await browser.post('/account/delete', { form_token, action: 'delete' });
  expect([stale.statusCode, stale.headers.location]).toEqual([303, 'https://id.example.test/login?to=delete']);
  const login = await browser.get('/login?to=delete');
  const fields = { username: user.username, password: PASSWORD, form_token: formTokenOf(login) };
  expect((await browser.post('/login?to=delete', fields)).headers.location).toContain('/account/delete');
  // The form of before counts: it is the same session.
  expect((await browser.post('/account/delete', { form_token, action: 'delete' })).statusCode).toBe(200);
});

test('every session, grant and token ends with the request, and who signs in meanwhile decides first', async () => {
  const { user, browser, tokens } = await leaving();
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  expect((await browser.get('/account')).headers.location).toBe('https://id.example.test/login');

  const back = await signIn(at, user);
  for (const page of ['', '/sessions', '/applications']) {
    expect((await back.get(`/account${page}`)).headers.location).toBe('https://id.example.test/account/delete');
  }
  expect((await authorize(back, client, { prompt: 'none' })).get('error')).toBe('interaction_required');
  const asked = await open(back, client);
  expect(stepOf(asked)).toBe('keep-account');
  const kept = await proceed(back, asked, { action: 'keep' });
  expect(kept.response.headers.location).toMatch(/^https:\/\/app\.example\.test\/callback\?code=/);
  expect((await back.get('/account')).statusCode).toBe(200);
  // What had ended stays ended.
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  at.clock.advance(8 * DAY);
  await eraseDue(at.deps, BY, at.clock.now());
  expect(await users.find(at.deps.db, user.sub)).toBeDefined();
});

test('the page keeps the account, too, and a form of somebody else does not', async () => {
  const { user } = await leaving();
  const back = await signIn(at, user);
  const stranger = await signIn(at, await aUser(at));
  const theirs = formTokenOf(await stranger.get('/account/delete'));
  expect((await back.post('/account/delete', { form_token: theirs, action: 'keep' })).statusCode).toBe(400);
  const form_token = formTokenOf(await back.get('/account/delete'));
  const answer = await back.post('/account/delete', { form_token, action: 'keep' });
  expect(answer.headers.location).toBe('https://id.example.test/account?done=kept');
});

/** Gives somebody one of everything that an account can have. */
async function furnish(user: User) {
  const now = at.clock.now();
  await aPasskey(at, user, { algorithm: 'EdDSA' }, `Key ${user.username}`);
  await withTotp(at, user);
  const provider = { issuer: 'https://up.example.test', client_id: 'us', client_secret: 'a secret' };
  await anUpstream(at, provider, 'elsewhere');
  const link = { upstream: 'elsewhere', issuer: provider.issuer, upstream_sub: user.username };
  const seen = { name: `${user.username}@up.example.test`, sealed_tokens: null, created_at: now, used_at: now };
  await transact(at.deps.db, (trx) => upstreamLinks.insert(trx, { ...link, ...seen, sub: user.sub }));
}

/** What names somebody by their address, as before they had an account, and what was sent to them since. */
async function write(user: User) {
  const now = at.clock.now();
  const email = user.email!;
  const page = { request: drawRequest(at.deps, 'verify-email', now).handle, browser_hash: at.deps.random(32) };
  await transact(at.deps.db, async (trx) => {
    await postNotice(trx, at.deps, { sub: user.sub, notice: 'password_changed' }, now);
    const props = { url: 'https://id.example.test/verify/x', code: '123456', lifetime: 3600 };
    await postMail(trx, at.deps, { template: 'verify-email', lang: 'en', props, to: email }, now);
    await makeLink(trx, at.deps, { purpose: 'verify-email', email: email.toUpperCase(), page }, now);
    await makeLink(trx, at.deps, { purpose: 'reset-password', sub: user.sub, email }, now);
    // Their page, which went on to their account.
    const waiting = await startWaiting(trx, at.deps, 'verify-email', page.browser_hash, { email, lang: 'en' }, now);
    await waitingPages.finish(trx, waitingKey(waiting)!, user.sub, now);
  });
}

test('once the week is over nothing names the person, in any table', async () => {
  const marker = 'zyxwvut';
  const claims = { name: `Name ${marker}`, phone_number: `+1 ${marker}` };
  const user = await aUser(at, { username: marker, email: `${marker}@example.test`, claims });
  const { browser } = await someTokens(at, { client: await aClient(at), user, parameters: offline });
  await new TestBrowser(at).post('/login', { username: marker, password: 'not it', form_token: '' });
  await browser.get('/account');
  await sql`insert into audit_events (at, event, sub, ip, detail) values (now(), 'user_updated', ${user.sub}, '192.0.2.1',
    ${JSON.stringify({ before: { email: `${marker}@old.example.test` }, claims: ['name'] })})`.execute(at.deps.db);
  await furnish(user);
  await write(user);
  const told = await downloadData(at.deps, user.sub, BY, at.clock.now());
  expect(told).toMatchObject({
    credentials: [
      { type: 'password' },
      { type: 'recovery_codes', left: 3 },
      { type: 'totp', used_at: null },
      { type: 'passkey', name: `Key ${marker}`, last_used_at: null },
    ],
    connections: [{ upstream: 'elsewhere', name: `${marker}@up.example.test` }],
    mails: expect.arrayContaining([
      expect.objectContaining({ template: 'notice', recipient: user.email }),
      expect.objectContaining({ template: 'verify-email', recipient: user.email }),
    ]) as unknown,
    requests: [
      { purpose: 'reset-password', email: user.email },
      { purpose: 'verify-email', email: user.email?.toUpperCase() },
    ],
  });
  // It can be left lying about: nothing in it signs anybody in.
  expect(JSON.stringify(told)).not.toMatch(/sealed|"(hash|phc|public_key|code_mac|credential_id)"/);
  await deletionAsked(at.deps, user.sub, BY, at.clock.now());
  at.clock.advance(7 * DAY - 1);
  // Others of this file go first.
  while ((await eraseDue(at.deps, BY, at.clock.now())) > 0);
  // Until the last moment something is written.
  await signIn(at, user);
  await write(user);
  at.clock.advance(2);
  // Over two processes it is done once.
  const turns = await Promise.all([at, beside, at].map(({ deps }) => eraseDue(deps, BY, at.clock.now())));
  expect(turns.reduce((a, b) => a + b)).toBe(1);
  // Requests in progress and tokens of minutes went with their day.
  while ((await sweep(at.deps.db, at.clock.now(), at.clock.now(), null)) > 0);

  const { rows: tables } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`.execute(
    at.deps.db,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(
      at.deps.db,
    );
    for (const text of [marker, user.sub])
      if (rows.some(({ row }) => row.includes(text))) found.push(`${name}: ${text}`);
  }
  // A `sub` is never given out twice.
  expect(found).toEqual([`subjects: ${user.sub}`]);
  const { rows: log } = await sql<{ sub: string; ip: string | null; detail: object }>`
    select sub, ip, detail from audit_events where event = 'user_updated' and sub like 'erased:%'`.execute(at.deps.db);
  expect(log).toEqual([
    { sub: expect.stringMatching(/^erased:[0-9a-f]{32}$/), ip: null, detail: { claims: ['name'] } },
  ]);
  await expect(aUser(at, { sub: user.sub })).rejects.toThrow('given out before');
});

test('the log names somebody anew only when their account is gone', async () => {
  const { sub } = await aUser(at);
  for (const person of [sub, 'nobody', client.client_id]) {
    await expect(sql`select pseudonymise_audit_events(${person}, '{}')`.execute(at.deps.db)).rejects.toThrow('erased');
  }
});

test('a request raced with twenty sign-ins, refreshes and codes leaves no grant, no token, and no session of before', async () => {
  const { user, tokens, browser } = await someTokens(at, { client, parameters: offline });
  const codes: ACode[] = [];
  for (let n = 0; n < 20; n += 1)
    codes.push(await anAuthorizationCode(at, { client, user, browser, parameters: offline }));
  const fields = { username: user.username, password: PASSWORD };
  const on = (n: number) => (n % 2 ? at : beside);
  const [asked, ...answers] = await Promise.all([
    deletionAsked(beside.deps, user.sub, BY, at.clock.now()),
    ...codes.flatMap((code, n) => [
      redeem(on(n), code),
      refresh(on(n), client, tokens.refresh_token),
      postForm(on(n), '/login', fields, { accept: 'application/json' }),
    ]),
  ]);
  expect(asked).toBeDefined();
  // Who waits too long on a busy machine is told to try again.
  for (const { statusCode } of answers) expect([200, 400, 401, 429, 503]).toContain(statusCode);
  for (const answer of answers.filter(({ statusCode }) => statusCode === 200)) {
    const { access_token } = answer.json<{ access_token: string }>();
    expect((await userinfo(at, access_token)).statusCode).toBe(401);
  }
  for (const table of ['grants', 'sessions'] as const) {
    const live = at.deps.db.selectFrom(table).selectAll().where('sub', '=', user.sub);
    const end = table === 'grants' ? 'revoked_at' : 'ended_at';
    expect(await live.where(sql.ref(end), 'is', null).execute(), table).toEqual([]);
  }
  expect((await authorize(await signIn(at, user), client, { prompt: 'none' })).get('error')).toBe(
    'interaction_required',
  );
});

test.each([
  [
    'asks for the end of the account',
    async (trx: Trx, sub: string) => {
      await users.update(trx, sub, { erase_after: at.clock.now() });
    },
  ],
  [
    'sets up a second factor',
    async (trx: Trx, sub: string) => {
      await users.findLocked(trx, sub);
      await addTotp(trx, at.deps, sub, { sealed: Buffer.alloc(1), last_step: 0 }, REQUESTER, at.clock.now());
    },
  ],
])('a script that shows its password while the person %s gets no token', async (_what, change) => {
  const { sub, username } = await aUser(at);
  const [, answer] = await overtaken(
    at.deps.db,
    (trx) => change(trx, sub),
    () => postForm(beside, '/login', { username, password: PASSWORD }, { accept: 'application/json' }),
  );
  expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([401, 'invalid_credentials']);
  expect(await at.deps.db.selectFrom('sessions').select('sid').where('sub', '=', sub).execute()).toEqual([]);
});

test('kept and erased at once: one of them wins, and the other knows', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { sub } = await aUser(at, { password: undefined });
    await deletionAsked(at.deps, sub, BY, at.clock.now());
    const due = new Date(at.clock.now().getTime() + 7 * DAY * 1000);
    // Who waits too long for the other on a busy machine is told to try again, and did nothing.
    const [kept] = await Promise.all([
      keepAccount(at.deps, sub, BY, due).catch(() => false),
      eraseDue(beside.deps, BY, due).catch(() => 0),
    ]);
    const isThere = (await users.find(at.deps.db, sub)) !== undefined;
    expect(kept ? isThere : (await keepAccount(at.deps, sub, BY, due)) === isThere).toBe(true);
  }
});
