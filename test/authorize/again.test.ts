/** Requests that wait: what they were checked against changes, here or on another server, and they are checked again. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClientDisabled } from '../../src/clients/disabling.ts';
import { removeClient } from '../../src/clients/register.ts';
import { putResource, putScope, removeResource } from '../../src/clients/scopes.ts';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  aDevice,
  aUser,
  authorizationUrl,
  BY,
  changeClient,
  credentials,
  formTokenOf,
  PASSWORD,
  postForm,
  REDIRECT_URI,
  signIn,
  TestBrowser,
} from '../support/fixtures.ts';

const API = 'https://api.example.test';
const SCOPE = 'openid email';

let at: TestApp;
let other: TestApp;
let client: AClient;
let user: Awaited<ReturnType<typeof aUser>>;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  // Another server on the same database: it changes what ours has in memory.
  other = await testApp({ database: at.database, clock: at.clock });
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(async () => {
  await other.close();
  await at.close();
});
beforeEach(async () => {
  await transact(at.deps.db, (trx) => putResource(trx, at.deps, API, {}, BY, at.clock.now()));
  await transact(at.deps.db, (trx) => putScope(trx, 'email', { for_people: true }, BY, at.clock.now()));
  client = await aClient(at, { scope: SCOPE });
  forgetCaches();
});

const forgetCaches = (): void => at.deps.directory.clear();
const update = (changes: Partial<ClientMetadataInput>) => () => changeClient(other, client, changes);

/** What can happen to a request that waits, and what becomes of it: an error page, or an error to where it came from. */
const CHANGES = {
  'its redirect URI is no longer registered': [update({ redirect_uris: ['https://new.example.test/'] }), 'page'],
  'its client is disabled': [
    () => transact(other.deps.db, (trx) => setClientDisabled(trx, client.client_id, true, BY, at.clock.now())),
    'page',
  ],
  'its client is deleted': [
    () => transact(other.deps.db, (trx) => removeClient(trx, client.client_id, BY, at.clock.now())),
    'page',
  ],
  'its client has lost the grant type': [
    update({ grant_types: ['client_credentials'], response_types: [] }),
    'unauthorized_client',
  ],
  'its client has lost all of the scope': [update({ scope: 'profile' }), 'invalid_scope'],
  'its client has to use PKCE': [update({ require_pkce: true }), 'invalid_request'],
  'its client has to push': [update({ require_pushed_authorization_requests: true }), 'invalid_request'],
  'its client has to sign': [
    update({ require_signed_request_object: true, jwks_uri: 'https://keys.example.test/' }),
    'invalid_request',
  ],
  'its client is answered in another way': [update({ response_modes: ['form_post'] }), 'invalid_request'],
  'its resource is gone': [
    () => transact(other.deps.db, (trx) => removeResource(trx, API, BY, at.clock.now())),
    'invalid_target',
  ],
} as const satisfies Record<string, readonly [() => Promise<unknown>, string]>;

/** What a browser is answered with: an error page, the error that the client is told at its address, or where it is sent. */
function outcomeOf({ statusCode, headers, body }: Awaited<ReturnType<TestBrowser['get']>>): string | undefined {
  const { location } = headers;
  if (location?.startsWith(REDIRECT_URI)) {
    const { searchParams } = new URL(location);
    return searchParams.get('state') === 'a state' ? (searchParams.get('error') ?? 'code') : 'another state';
  }
  if (statusCode === 400 && location === undefined) return 'page';
  return location ?? /name="error"[^>]*value="([^"]*)"/.exec(body)?.[1];
}

const asked = { scope: SCOPE, resource: API };
async function consentPage(): Promise<string> {
  const consent = (await browser.get(authorizationUrl(browser.issuer, client, asked))).headers.location!;
  expect(consent).toMatch(/\/consent$/);
  return consent;
}
/** The ways in which a request can wait; each returns how to go on with it. */
const WAITS = {
  async interaction() {
    const consent = await consentPage();
    return () => browser.get(consent.replace('/consent', ''));
  },
  async 'interaction whose person has agreed'() {
    const consent = await consentPage();
    const page = await browser.get(consent);
    const agreed = await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
    return () => browser.get(agreed.headers.location!);
  },
  async 'pushed request'() {
    const fields = { ...credentials(client), response_type: 'code', redirect_uri: REDIRECT_URI, state: 'a state' };
    const { request_uri } = (await postForm(at, '/par', { ...fields, ...asked })).json<{ request_uri: string }>();
    const query = new URLSearchParams({ client_id: client.client_id, request_uri });
    return () => browser.get(`/authorize?${query.toString()}`);
  },
} as const;

describe.each(Object.entries(WAITS))('RFC 6749 §3.1.2.3: a %s is checked again', (wait, start) => {
  test.each(Object.entries(CHANGES).filter(([what]) => wait !== 'pushed request' || what !== 'its client has to push'))(
    'where %s',
    async (_what, [happen, outcome]) => {
      const goOn = await start();
      await happen();
      forgetCaches();
      expect(outcomeOf(await goOn())).toBe(outcome);
      // It was answered.
      expect(outcomeOf(await goOn())).toBe('page');
    },
  );

  test('and goes on where nothing has changed, or what had was changed back', async () => {
    const goOn = await start();
    await update({ redirect_uris: ['https://new.example.test/'] })();
    await update({ redirect_uris: [REDIRECT_URI] })();
    forgetCaches();
    const answer = await goOn();
    const agreed = wait.includes('agreed');
    expect(answer.headers.location).toContain(agreed ? 'code=' : '/consent');
  });
});

const codes = async (): Promise<number> =>
  (
    await at.deps.db
      .selectFrom('authorization_codes')
      .select('hash')
      .where('client_id', '=', client.client_id)
      .execute()
  ).length;

describe('RFC 6749 §3.1.2.3: the statement that writes a code reads today’s rows, where this server heard of no change', () => {
  test.each(Object.entries(CHANGES).filter(([what]) => /redirect URI|disabled|grant type|all of the scope/.test(what)))(
    'and gives none where %s',
    async (_what, [happen, outcome]) => {
      const goOn = await WAITS['interaction whose person has agreed']();
      // What is in memory is fresh, and wrong.
      await at.deps.directory.client(client.client_id);
      await happen();
      const answer = await goOn();
      expect([outcomeOf(answer), await codes()]).toEqual([outcome, 0]);
      expect(answer.body).not.toContain('answered already');
    },
  );

  test('and none where the client is deleted, whoever agrees to it', async () => {
    const goOn = await WAITS['interaction whose person has agreed']();
    await at.deps.directory.client(client.client_id);
    await transact(other.deps.db, (trx) => removeClient(trx, client.client_id, BY, at.clock.now()));
    // The consent went with it, and this server does not know why yet.
    const consent = (await goOn()).headers.location!;
    const page = await browser.get(consent);
    const agreed = await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
    expect(agreed.statusCode).toBe(303);
    expect((await goOn()).headers.location).toBe(consent);
    forgetCaches();
    expect((await goOn()).statusCode).toBe(400);
    expect(await codes()).toBe(0);
  });

  test('and none where its resource is gone, for whoever is not asked or agrees', async () => {
    const skipping = await aClient(at, { scope: SCOPE, skip_consent: true });
    const goOn = await WAITS['interaction whose person has agreed']();
    await at.deps.directory.resources();
    await transact(other.deps.db, (trx) => removeResource(trx, API, BY, at.clock.now()));
    const unasked = await browser.get(authorizationUrl(browser.issuer, skipping, asked));
    expect(outcomeOf(await browser.get(unasked.headers.location!))).toBe('invalid_target');
    // Made again at once, and this server knows of the first alone.
    await transact(other.deps.db, (trx) => putResource(trx, other.deps, API, {}, BY, at.clock.now()));
    forgetCaches();
    await at.deps.directory.resources();
    await transact(other.deps.db, (trx) => removeResource(trx, API, BY, at.clock.now()));
    const consent = (await goOn()).headers.location!;
    const page = await browser.get(consent);
    await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
    expect([outcomeOf(await goOn()), await codes()]).toEqual(['invalid_target', 0]);
  });

  test('without a person being asked, too', async () => {
    const skipping = (client = await aClient(at, { scope: SCOPE, skip_consent: true }));
    await at.deps.directory.client(skipping.client_id);
    await update({ redirect_uris: ['https://new.example.test/'] })();
    let answer = await browser.get(authorizationUrl(browser.issuer, skipping, { scope: SCOPE }));
    if (answer.headers.location?.includes('/interaction/')) answer = await browser.get(answer.headers.location);
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
    expect(await codes()).toBe(0);
  });

  test('part of the scope that is gone is asked for no more, and the rest goes on', async () => {
    const goOn = await WAITS['interaction whose person has agreed']();
    await at.deps.directory.client(client.client_id);
    await transact(other.deps.db, (trx) => putScope(trx, 'email', { for_people: false }, BY, at.clock.now()));
    let answer = await goOn();
    for (let hop = 0; hop < 2 && answer.headers.location?.startsWith(browser.issuer); hop += 1) {
      answer = await browser.get(answer.headers.location);
    }
    expect(answer.headers.location).toContain('code=');
    const { scope } = await at.deps.db
      .selectFrom('grants')
      .select('scope')
      .where('client_id', '=', client.client_id)
      .executeTakeFirstOrThrow();
    expect(scope).toEqual(['openid']);
  });

  test('RFC 8252 §7.3: the port of a native client may vary still', async () => {
    const native = await aClient(at, {
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/cb'],
      scope: SCOPE,
      skip_consent: true,
    });
    const varied = { ...native, redirect_uri: 'http://127.0.0.1:49152/cb' };
    const answer = await browser.get(authorizationUrl(browser.issuer, varied, { scope: SCOPE }));
    expect(answer.headers.location).toContain('http://127.0.0.1:49152/cb?code=');
    client = native;
    await update({ application_type: 'web' })();
    let refused = await browser.get(authorizationUrl(browser.issuer, varied, { scope: SCOPE }));
    if (refused.headers.location?.includes('/interaction/')) refused = await browser.get(refused.headers.location);
    expect(refused.statusCode).toBe(400);
    expect(await codes()).toBe(1);
  });
});

test('RFC 6749 §3.3: what a client is given back while a person decides is not what they agreed to', async () => {
  const consent = (await browser.get(authorizationUrl(browser.issuer, client, asked))).headers.location!;
  await update({ scope: 'openid' })();
  forgetCaches();
  const page = await browser.get(consent);
  expect(page.body).not.toContain('e-mail');
  await update({ scope: SCOPE })();
  forgetCaches();
  // Agreed to a page that showed less.
  const forged = await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
  expect([forged.statusCode, forged.headers.location]).toEqual([400, undefined]);
  // Agreed, and given back before the code is written.
  await update({ scope: 'openid' })();
  forgetCaches();
  const again = await browser.get(consent);
  const agreed = await browser.post(consent, { form_token: formTokenOf(again), action: 'approve' });
  await update({ scope: SCOPE })();
  forgetCaches();
  expect((await browser.get(agreed.headers.location!)).headers.location).toMatch(/\/consent$/);
});

test('RFC 6749 §3.1.2.3: nobody is asked for a password for a request that cannot go on', async () => {
  const stranger = new TestBrowser(at);
  const login = (await stranger.get(authorizationUrl(stranger.issuer, client, asked))).headers.location!;
  const page = await stranger.get(login);
  expect(page.statusCode).toBe(200);
  await update({ redirect_uris: ['https://new.example.test/'] })();
  forgetCaches();
  expect((await stranger.get(login)).statusCode).toBe(400);
  const fields = { username: user.username, password: PASSWORD, form_token: formTokenOf(page) };
  const answer = await stranger.post(login, fields);
  expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
});

describe('RFC 8628 §3.3: a device’s request is checked again', () => {
  const DEVICES = {
    'its client has lost the grant type': update({ grant_types: ['client_credentials'], response_types: [] }),
    'its client has lost all of the scope': update({ scope: 'profile' }),
    'its client is disabled': () =>
      transact(other.deps.db, (trx) => setClientDisabled(trx, client.client_id, true, BY, at.clock.now())),
  };
  const start = async (more: Record<string, string> = {}) => {
    client = await aDevice(at, { scope: SCOPE });
    const fields = { ...credentials(client), scope: SCOPE, ...more };
    const { user_code } = (await postForm(at, '/device_authorization', fields)).json<{ user_code: string }>();
    const form = await browser.get('/device');
    const entered = await browser.post('/device', { user_code, form_token: formTokenOf(form) });
    const consent = (await browser.get(entered.headers.location!)).headers.location!;
    return { consent, page: await browser.get(consent) };
  };
  const grants = () =>
    at.deps.db.selectFrom('grants').select('scope').where('client_id', '=', client.client_id).execute();

  test.each(Object.entries(DEVICES))(
    'where %s, before it is shown and before it is approved',
    async (_what, happen) => {
      const { consent, page } = await start();
      const agreed = await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
      await at.deps.directory.client(client.client_id);
      await happen();
      // The statement that approves reads today's rows; this server has not heard yet.
      const stale = await browser.get(agreed.headers.location!);
      expect([stale.statusCode, stale.headers.location]).toEqual([400, undefined]);
      forgetCaches();
      const fresh = await browser.get(agreed.headers.location!);
      expect([fresh.statusCode, fresh.headers.location]).toEqual([400, undefined]);
      expect(await grants()).toEqual([]);
    },
  );

  test('where its resource is gone, by a server that has not heard yet', async () => {
    const { consent } = await start({ resource: API });
    await transact(other.deps.db, (trx) => removeResource(trx, API, BY, at.clock.now()));
    const agreed = await browser.post(consent, {
      form_token: formTokenOf(await browser.get(consent)),
      action: 'approve',
    });
    expect((await browser.get(agreed.headers.location!)).statusCode).toBe(400);
    expect(await grants()).toEqual([]);
  });

  test('and part of the scope that is gone is not granted', async () => {
    const { consent, page } = await start();
    const agreed = await browser.post(consent, { form_token: formTokenOf(page), action: 'approve' });
    await update({ scope: 'openid' })();
    forgetCaches();
    const done = await browser.get(agreed.headers.location!);
    expect(done.headers.location).toContain('outcome=approved');
    expect(await grants()).toEqual([{ scope: ['openid'] }]);
  });
});
