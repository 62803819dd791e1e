/** A passkey after a password: where a second factor is asked for, and not for being there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { aClient, aUser, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { answerTo, follow, open, proceed, signInAt, stepOf, submit, titleOf, type At } from '../../support/pages.ts';
import { aPasskey, askedOn } from '../../support/passkeys.ts';
import { codesOn } from '../../support/second-factor.ts';

let at: TestApp;
let strict: AClient;
let client: AClient;
let ada: User;
let bob: User;
let device: Authenticator;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  strict = await aClient(at, { skip_consent: true, require_second_factor: true });
  [ada, bob] = [await aUser(at), await aUser(at)];
  device = await aPasskey(at, ada, { counts: true });
});
afterAll(() => at.close());

const amrOf = async ({ sub }: User) =>
  at.deps.db
    .selectFrom('sessions')
    .select(['amr', 'acr'])
    .where('sub', '=', sub)
    .where('ended_at', 'is', null)
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
const asked = async (browser: TestBrowser, by = strict): Promise<At> => {
  const page = await signInAt(browser, await open(browser, by), ada);
  expect(stepOf(page)).toBe('second-factor');
  return page;
};

test('whoever has a passkey goes on signing in by password, where no second factor is asked for', async () => {
  const browser = await signIn(at, ada);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect(answerTo(client, (await open(browser, client)).response).code).toBeDefined();
});

test('a passkey is the second factor that a client requires; a touch is enough after a password', async () => {
  at.clock.advance(1);
  for (const [manner, method] of [
    [{}, 'hwk'],
    [{ user_verified: false }, 'hwk'],
  ] as const) {
    const browser = new TestBrowser(at);
    const page = await asked(browser);
    const options = askedOn(page.response);
    expect(options).toMatchObject({ userVerification: 'preferred', allowCredentials: [{ type: 'public-key' }] });
    const done = await proceed(browser, page, { action: 'passkey', passkey: device.use(options, manner) });
    expect(answerTo(strict, done.response).code).toBeDefined();
    expect(await amrOf(ada)).toEqual({ amr: ['pwd', method, 'mfa'], acr: '2' });
    at.clock.advance(1);
  }
});

test('as a wish of the client it can be left out', async () => {
  const browser = new TestBrowser(at);
  const page = await signInAt(browser, await open(browser, client, { acr_values: '2' }), ada);
  expect(stepOf(page)).toBe('second-factor');
  expect(answerTo(client, (await proceed(browser, page, { action: 'later' })).response).code).toBeDefined();
});

test('another person’s passkey, another page’s answer, one sent twice, and a count that went back are refused', async () => {
  const browser = new TestBrowser(at);
  const page = await asked(browser);
  const bobs = await aPasskey(at, bob);
  const options = askedOn(page.response);
  const other = new TestBrowser(at);
  const elsewhere = askedOn((await asked(other)).response);
  const alone = askedOn((await open(new TestBrowser(at), client)).response);
  const used = device.use(options);
  for (const passkey of [
    bobs.use({ ...options, allowCredentials: [] }),
    device.use(elsewhere),
    device.use(alone),
    device.use(options, { origin: 'https://evil.example.test' }),
    device.use(options, { sign_count: 0 }),
    '{}',
  ]) {
    const answer = await submit(browser, page, { action: 'passkey', passkey });
    expect([answer.statusCode, titleOf(answer)]).toEqual([400, expect.stringMatching(/^Error: Two-step/)]);
    // Each guess counts, and the sixth waits.
    at.clock.advance(1);
  }
  at.clock.advance(60);
  const again = await open(browser, strict);
  const fresh = device.use(askedOn(again.response));
  expect(
    answerTo(strict, (await proceed(browser, again, { action: 'passkey', passkey: fresh })).response).code,
  ).toBeDefined();
  const third = await asked(new TestBrowser(at)).catch(() => undefined);
  expect(third).toBeDefined();
  const replayed = await submit(other, await open(other, strict), { action: 'passkey', passkey: used });
  expect(replayed.statusCode).toBe(400);
});

test('of ten who finish one sign-in by one answer at once, one does', async () => {
  const browser = new TestBrowser(at);
  const page = await asked(browser);
  const passkey = device.use(askedOn(page.response));
  const shown = async (): Promise<number> => {
    const events = at.deps.db.selectFrom('audit_events').select('event_id').where('event', '=', 'second_factor');
    return (await events.where('sub', '=', ada.sub).execute()).length;
  };
  const before = await shown();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => submit(browser, page, { action: 'passkey', passkey })),
  );
  expect(answers.filter(({ statusCode }) => statusCode >= 500)).toEqual([]);
  expect((await shown()) - before).toBe(1);
});

test('who has none and needs one makes a passkey on the way, with recovery codes; one answer makes one', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await signInAt(browser, await open(browser, strict), user);
  const made = new Authenticator(browser.issuer);
  const passkey = made.create(askedOn(page.response));
  // An answer to the page of another person makes none.
  const other = new TestBrowser(at);
  const theirs = await signInAt(other, await open(other, strict), await aUser(at));
  expect((await submit(other, theirs, { action: 'create', passkey })).statusCode).toBe(400);
  // Nor does one of somebody else’s: and the session has not shown what was refused as it was kept.
  const credential_id = Buffer.from((JSON.parse(passkey) as { id: string }).id, 'base64url');
  await at.deps.db.updateTable('passkeys').set({ credential_id }).where('sub', '=', bob.sub).execute();
  expect((await submit(browser, page, { action: 'create', passkey })).statusCode).toBe(400);
  expect(await amrOf(user)).toEqual({ amr: ['pwd'], acr: '1' });
  await at.deps.db.deleteFrom('passkeys').where('sub', '=', bob.sub).execute();
  const kept = await submit(browser, page, { action: 'create', passkey });
  expect([kept.statusCode, codesOn(kept).length]).toEqual([200, 10]);
  expect(await amrOf(user)).toMatchObject({ amr: ['pwd', expect.stringMatching(/wk$/), 'mfa'], acr: '2' });
  const done = await follow(browser, await browser.get(page.url.replace('/second-factor', '')));
  expect(answerTo(strict, done.response).code).toBeDefined();
});
