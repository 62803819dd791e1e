/** /account/passkeys: made, renamed and removed by their person, and by nobody else. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import * as store from '../../../src/store/passkeys.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { Authenticator, type Manner } from '../../support/authenticator.ts';
import { aUser, formTokenOf, signIn, TestBrowser } from '../../support/fixtures.ts';
import { titleOf } from '../../support/pages.ts';
import { aPasskey, askedOn } from '../../support/passkeys.ts';

const PAGE = '/account/passkeys';
let at: TestApp;
let ada: User;
let bob: User;
beforeAll(async () => {
  at = await testApp({ config: { SMTP_URL: 'smtp://mail.example.test', MAIL_FROM: 'id@example.test' } });
  [ada, bob] = [await aUser(at), await aUser(at)];
});
afterAll(() => at.close());

const passkeysOf = ({ sub }: User) => store.allOf(at.deps.db, sub);
const noticed = async ({ sub }: User) => {
  const rows = await at.deps.db.selectFrom('mails').select(['template', 'recipient']).where('sub', '=', sub).execute();
  return rows.length;
};
const events = async ({ sub }: User) => {
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .select('event')
    .where('sub', '=', sub)
    .where('event', 'like', 'passkey%')
    .orderBy('event_id')
    .execute();
  return rows.map(({ event }) => event);
};

async function post(browser: TestBrowser, fields: Record<string, string>) {
  const page = await browser.get(PAGE);
  return browser.post(PAGE, { form_token: formTokenOf(page), ...fields });
}
async function create(
  browser: TestBrowser,
  name = '',
  manner: Manner = {},
  device = new Authenticator(browser.issuer),
) {
  const page = await browser.get(PAGE);
  const passkey = device.create(askedOn(page), manner);
  return browser.post(PAGE, { form_token: formTokenOf(page), action: 'create', 'passkey-name': name, passkey });
}

test('a passkey is made, named, used, renamed and removed; the person is told by mail, and the log knows', async () => {
  const browser = await signIn(at, ada);
  const device = new Authenticator(browser.issuer);
  const created = await create(browser, 'My phone', { synchronised: true }, device);
  expect([created.statusCode, created.headers.location]).toEqual([303, `${browser.issuer}${PAGE}?done=created`]);
  const page = await browser.get(created.headers.location!);
  expect(page.body).toContain('The passkey was created.');
  expect(page.body).toContain('My phone');
  expect(page.body).toContain('Synchronised between your devices');
  const [made] = await passkeysOf(ada);
  // The browser is told which there are, so that none is made twice on one device.
  expect(askedOn(page).excludeCredentials).toMatchObject([{ id: made!.credential_id.toString('base64url') }]);

  const stranger = new TestBrowser(at);
  const login = await stranger.get('/login');
  const passkey = device.use(askedOn(login), { synchronised: true });
  await stranger.post('/login', { form_token: formTokenOf(login), action: 'passkey', passkey });
  expect((await stranger.get(PAGE)).body).toContain('Last used on');

  const { passkey_id } = made!;
  const renamed = await post(browser, { action: 'rename', passkey_id, name: 'Old phone' });
  expect(renamed.headers.location).toContain('done=renamed');
  expect((await passkeysOf(ada)).map(({ name }) => name)).toEqual(['Old phone']);
  const unnamed = await post(browser, { action: 'rename', passkey_id, name: ' \t ' });
  expect([unnamed.statusCode, titleOf(unnamed)]).toEqual([400, 'Error: Passkeys']);
  expect(unnamed.body).toContain(`href="#passkey-name-${passkey_id}"`);

  expect((await stranger.get('/account')).statusCode).toBe(200);
  const removed = await post(browser, { action: 'remove', passkey_id });
  expect(removed.headers.location).toContain('done=removed');
  expect(await passkeysOf(ada)).toEqual([]);
  // Whoever else was signed in is not any more, and who removed it is.
  expect((await stranger.get('/account')).statusCode).toBe(302);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect(await events(ada)).toEqual(['passkey_created', 'passkey_renamed', 'passkey_deleted']);
  expect(await noticed(ada)).toBe(2);
});

test('nobody makes, renames or removes a passkey without a fresh sign-in, or in another session, or for another person', async () => {
  const device = await aPasskey(at, bob);
  const [bobs] = await passkeysOf(bob);
  const browser = await signIn(at, ada);
  for (const fields of [{ action: 'rename', name: 'mine' }, { action: 'remove' }]) {
    const answer = await post(browser, { ...fields, passkey_id: bobs!.passkey_id });
    expect(answer.statusCode).toBe(400);
  }
  expect(await passkeysOf(bob)).toEqual([bobs]);

  // What a page of Bob’s asked for does not make a passkey of Ada’s.
  const his = await signIn(at, bob);
  const asked = askedOn(await his.get(PAGE));
  const page = await browser.get(PAGE);
  const made = {
    form_token: formTokenOf(page),
    action: 'create',
    passkey: new Authenticator(browser.issuer).create(asked),
  };
  expect((await browser.post(PAGE, made)).statusCode).toBe(400);
  // Nor does a use, or a second passkey of one answer.
  const used = device.use({ ...askedOn(page), rpId: 'id.example.test' });
  expect((await post(browser, { action: 'create', passkey: used })).statusCode).toBe(400);
  for (const passkey of ['', '{}', '[]', 'x'.repeat(30_000)]) {
    expect((await post(browser, { action: 'create', passkey })).statusCode).toBe(400);
  }
  expect(await passkeysOf(ada)).toEqual([]);

  at.clock.advance(301);
  const stale = await browser.post(PAGE, made);
  expect([stale.statusCode, stale.headers.location]).toEqual([303, `${browser.issuer}/login?to=passkeys`]);
  expect((await browser.get(PAGE)).headers.location).toBe(`${browser.issuer}/login?to=passkeys`);
  expect((await new TestBrowser(at).get(PAGE)).statusCode).toBe(302);
});

test('the last way in stays, also when two are removed at once', async () => {
  const carol = await aUser(at, { password: undefined });
  const devices = [await aPasskey(at, carol), await aPasskey(at, carol)];
  const browser = new TestBrowser(at);
  const login = await browser.get('/login');
  const passkey = devices[0]!.use(askedOn(login));
  await browser.post('/login', { form_token: formTokenOf(login), action: 'passkey', passkey });
  const page = await browser.get(PAGE);
  const form_token = formTokenOf(page);
  const answers = await Promise.all(
    (await passkeysOf(carol)).map(({ passkey_id }) => browser.post(PAGE, { form_token, action: 'remove', passkey_id })),
  );
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([303, 400]);
  expect(answers.find(({ statusCode }) => statusCode === 400)!.body).toContain('your only way to sign in');
  expect(await passkeysOf(carol)).toHaveLength(1);
});

test('a session does not start with a passkey that is removed at this moment', async () => {
  const dora = await aUser(at);
  const device = await aPasskey(at, dora);
  const [hers] = await passkeysOf(dora);
  const browser = await signIn(at, dora);
  const form_token = formTokenOf(await browser.get(PAGE));
  const remove = { form_token, action: 'remove', passkey_id: hers!.passkey_id };
  const strangers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const stranger = new TestBrowser(at);
      const login = await stranger.get('/login');
      return { stranger, form_token: formTokenOf(login), passkey: device.use(askedOn(login)) };
    }),
  );
  await Promise.all([
    browser.post(PAGE, remove),
    ...strangers.map(({ stranger, ...form }) => stranger.post('/login', { ...form, action: 'passkey' })),
  ]);
  for (const { stranger } of strangers) expect((await stranger.get('/account')).statusCode).toBe(302);
});
