/** The offer of a passkey after a sign-in by password: once, only to browsers that can make one, and never in the way. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import * as store from '../../../src/store/passkeys.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { aClient, aUser, formTokenOf, PASSWORD, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { answerTo, follow, open, proceed, signInAt, stepOf, submit, type At } from '../../support/pages.ts';
import { askedOn } from '../../support/passkeys.ts';

let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
});
afterAll(() => at.close());

/** Signs in on the page of a request, in a browser whose script says that it can make passkeys. */
async function signedInAt(browser: TestBrowser, user: User, parameters = {}): Promise<At> {
  const page = await open(browser, client, parameters);
  const { username } = user;
  return proceed(browser, page, { username, password: PASSWORD, action: 'login', passkeys_possible: 'yes' });
}
const passkeysOf = ({ sub }: User) => store.allOf(at.deps.db, sub);

test('a passkey is made on the way, signs in from then on, and is not offered again', async () => {
  const ada = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await signedInAt(browser, ada);
  expect(stepOf(page)).toBe('passkey');
  const device = new Authenticator(browser.issuer);
  const passkey = device.create(askedOn(page.response));
  expect(answerTo(client, (await proceed(browser, page, { action: 'create', passkey })).response).code).toBeDefined();
  expect(await passkeysOf(ada)).toHaveLength(1);
  const again = new TestBrowser(at);
  expect(answerTo(client, (await signedInAt(again, ada)).response).code).toBeDefined();
  const third = new TestBrowser(at);
  const login = await open(third, client);
  const used = await proceed(third, login, { action: 'passkey', passkeys_possible: 'yes', passkey: device.use(askedOn(login.response)) }); // prettier-ignore
  expect(answerTo(client, used.response).code).toBeDefined();
});

test('“not now” is remembered, in every browser', async () => {
  const bob = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await signedInAt(browser, bob);
  expect(stepOf(page)).toBe('passkey');
  expect(answerTo(client, (await proceed(browser, page, { action: 'later' })).response).code).toBeDefined();
  expect(answerTo(client, (await signedInAt(new TestBrowser(at), bob)).response).code).toBeDefined();
});

test('nobody meets it whose browser did not say so: scripts, and pages without JavaScript', async () => {
  const carol = await aUser(at);
  const browser = new TestBrowser(at);
  expect(answerTo(client, (await signInAt(browser, await open(browser, client), carol)).response).code).toBeDefined();
  // Nor where nobody may be asked, or in a request that somebody else signed in to.
  expect(answerTo(client, (await open(browser, client, { prompt: 'none' })).response).code).toBeDefined();
});

test('what comes to nothing keeps nobody from going on, and neither does taking one’s time', async () => {
  const dora = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await signedInAt(browser, dora);
  const forged = await submit(browser, page, { action: 'create', passkey: '{}', form_token: 'x' });
  expect(forged.statusCode).toBe(400);
  const other = await signedInAt(new TestBrowser(at), await aUser(at));
  const foreign = new Authenticator(browser.issuer).create(askedOn(other.response));
  expect(
    answerTo(client, (await proceed(browser, page, { action: 'create', passkey: foreign })).response).code,
  ).toBeDefined();
  expect(await passkeysOf(dora)).toEqual([]);

  const late = new TestBrowser(at);
  const waiting = await signedInAt(late, dora);
  expect(stepOf(waiting)).toBe('passkey');
  const passkey = new Authenticator(browser.issuer).create(askedOn(waiting.response));
  at.clock.advance(301);
  const form = { form_token: formTokenOf(waiting.response), action: 'create', passkey };
  const answer = await follow(late, await late.post(waiting.url, form));
  expect(answerTo(client, answer.response).code).toBeDefined();
  expect(await passkeysOf(dora)).toEqual([]);
});
