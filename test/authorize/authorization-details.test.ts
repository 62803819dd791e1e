/** Rich authorization requests (RFC 9396), from the request to what an API is told, and what becomes of them when rules change. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeAuthorizationType } from '../../src/clients/authorization-types.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { administer } from '../support/administer.ts';
import {
  aClient,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aService,
  aUser,
  authorizationUrl,
  BY,
  changeClient,
  credentials,
  formTokenOf,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  type AClient,
  type ACode,
  type TestBrowser,
} from '../support/fixtures.ts';
import { aResource, decode, expectRefusal } from '../support/oauth.ts';
import { answerTo, follow, open, proceed, stepOf } from '../support/pages.ts';

const BANK = 'https://bank.example.test';
const VAULT = 'https://vault.example.test';
const PAYMENT = {
  resource: [BANK, VAULT],
  narrowable: ['/actions', '/money/amount'],
  sentence: 'Pay {/money} to {/recipient}',
  sentences: { de: 'An {/recipient} {/money} zahlen' },
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['money', 'recipient'],
    properties: {
      money: {
        type: 'object',
        additionalProperties: false,
        required: ['amount', 'currency'],
        properties: { amount: { type: 'string', format: 'amount' }, currency: { type: 'string', format: 'currency' } },
      },
      recipient: { type: 'string', maxLength: 70 },
      actions: { type: 'array', items: { enum: ['initiate', 'status'] } },
      locations: { type: 'array', items: { type: 'string', format: 'uri' } },
    },
  },
};
const OPENING = {
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { doors: { type: 'array', items: { type: 'string' } } },
  },
};
const payment = (more: object = {}) => ({
  type: 'payment',
  money: { amount: '123.50', currency: 'EUR' },
  recipient: 'Ada & <b>Sons</b>',
  actions: ['initiate', 'status'],
  ...more,
});
const asked = (...details: object[]): { authorization_details: string } => ({
  authorization_details: JSON.stringify(details),
});
const AT_BANK = { resource: BANK, scope: 'openid offline_access' };

let at: TestApp;
let client: AClient;
let browser: TestBrowser;
const put = (name: string, type: object) => administer(at, 'PUT', '/authorization-types/{name}', type, { name });
const drop = () => transact(at.deps.db, (trx) => removeAuthorizationType(trx, 'payment', BY, at.clock.now()));
const restore = async (): Promise<void> => {
  await put('payment', PAYMENT);
  await changeClient(at, client, { authorization_details_types: ['payment', 'opening', 'gone'] });
  at.deps.directory.clear();
};
beforeAll(async () => {
  at = await testApp();
  for (const uri of [BANK, VAULT]) await aResource(at, uri);
  await put('opening', OPENING);
  await put('payment', PAYMENT);
  const authorization_details_types = ['payment', 'opening', 'gone'];
  client = await aClient(at, { scope: 'openid profile email offline_access', authorization_details_types });
  browser = await signIn(at, await aUser(at));
});
beforeEach(restore);
afterAll(() => at.close());

const aCode = (parameters: Record<string, string> = { ...AT_BANK, ...asked(payment()) }): Promise<ACode> =>
  anAuthorizationCode(at, { client, browser, parameters });
interface Answer {
  access_token: string;
  refresh_token: string;
  authorization_details?: object[];
}

test('RFC 9396 §3: a person sees what exactly they agree to: a sentence of the type, and every member; as text', async () => {
  const page = await open(browser, client, { ...AT_BANK, ...asked(payment(), { type: 'opening', doors: ['north'] }) });
  expect(stepOf(page)).toBe('consent');
  const { body } = page.response;
  expect(body).toContain('Pay <bdi><b>123.50 EUR</b></bdi> to <bdi><b>Ada &amp; &lt;b&gt;Sons&lt;/b&gt;</b></bdi>');
  for (const part of [
    'Recipient',
    'Amount',
    'initiate',
    '<code class="tag">opening</code>',
    '<bdi>doors</bdi>',
    'north',
  ]) {
    expect(body).toContain(part);
  }
  const url = authorizationUrl(browser.issuer, client, { ...AT_BANK, ...asked(payment()), ui_locales: 'de' });
  expect((await follow(browser, await browser.get(url))).response.body).toMatch(/An <bdi><b>Ada.*zahlen/);
});

test('RFC 9396 §9.1: what was granted is in the token, and in introspection', async () => {
  const answer = (await redeem(at, await aCode())).json<Answer>();
  expect(decode(answer.access_token).payload['authorization_details']).toEqual([payment()]);
  expect(await introspect(at, client, answer.access_token)).toMatchObject({ authorization_details: [payment()] });
});

test('RFC 9396 §7: the token response names what was granted, and says nothing of it where nothing was', async () => {
  expect((await redeem(at, await aCode())).json<Answer>().authorization_details).toEqual([payment()]);
  expect((await redeem(at, await aCode({ scope: 'openid' }))).json()).not.toHaveProperty('authorization_details');
});

test('RFC 9396 §9.2: an opaque token tells them by introspection, and loses them with their type', async () => {
  await changeClient(at, client, { access_token_format: 'opaque' });
  at.deps.directory.clear();
  const { access_token } = (await redeem(at, await aCode())).json<Answer>();
  expect(access_token).not.toContain('.');
  expect(await introspect(at, client, access_token)).toMatchObject({ authorization_details: [payment()] });
  await drop();
  at.deps.directory.clear();
  expect(await introspect(at, client, access_token)).not.toHaveProperty('authorization_details');
  await changeClient(at, client, { access_token_format: undefined });
});

test('they are agreed to once and not remembered: the same again asks again, and nobody can be passed over', async () => {
  await aCode();
  const again = await open(browser, client, { ...AT_BANK, ...asked(payment()) });
  expect(stepOf(again)).toBe('consent');
  const silent = await open(browser, client, { ...AT_BANK, ...asked(payment()), prompt: 'none' });
  expect(answerTo(client, silent.response)).toMatchObject({ error: 'consent_required' });
  // Without them the scope is remembered as ever.
  expect(answerTo(client, (await open(browser, client, AT_BANK)).response)).toHaveProperty('code');
});

describe('RFC 9396 §5: what cannot be had is refused whole, and nothing is dropped', () => {
  test.each([
    ['no JSON', AT_BANK, 'payment'],
    ['a type that there is not', AT_BANK, [{ type: 'gone' }]],
    ['one that is beside another', AT_BANK, [payment(), { type: 'unknown' }]],
    ['a member that the type does not have', AT_BANK, [payment({ urgent: true })]],
    ['one without a member that it needs', AT_BANK, [{ type: 'payment', recipient: 'Ada' }]],
    ['a value of another kind', AT_BANK, [payment({ money: { amount: 1, currency: 'EUR' } })]],
    ['an amount that is none', AT_BANK, [payment({ money: { amount: '1e9', currency: 'EUR' } })]],
    ['a type of another resource', { scope: 'openid' }, [payment()]],
    ['a location that was not asked for', AT_BANK, [payment({ locations: [VAULT] })]],
    ['a location that there is not', AT_BANK, [payment({ locations: ['https://evil.example.test'] })]],
  ])('%s', async (_what, parameters, details) => {
    const authorization_details = typeof details === 'string' ? details : JSON.stringify(details);
    const { response } = await open(browser, client, { ...parameters, authorization_details });
    expect(answerTo(client, response)).toMatchObject({ error: 'invalid_authorization_details', state: 'a state' });
    const pushed = { response_type: 'code', redirect_uri: client.redirect_uri, ...parameters, authorization_details };
    expectRefusal(
      await postForm(at, '/par', { ...pushed, ...credentials(client) }),
      400,
      'invalid_authorization_details',
    );
  });

  test('a type that the client was not given', async () => {
    const other = await aClient(at);
    const { response } = await open(browser, other, asked({ type: 'opening' }));
    expect(answerTo(other, response)).toMatchObject({ error: 'invalid_authorization_details' });
  });
});

test('RFC 9396 §11.4: of a pushed request what was pushed counts, and nothing that the browser brings beside it', async () => {
  const fields = { response_type: 'code', redirect_uri: client.redirect_uri, ...AT_BANK, ...asked(payment()) };
  const pushed = await postForm(at, '/par', { ...fields, ...credentials(client) });
  const { request_uri } = pushed.json<{ request_uri: string }>();
  const more = asked(payment({ money: { amount: '9999', currency: 'EUR' } }));
  const url = `${browser.issuer}/authorize?${new URLSearchParams({ client_id: client.client_id, request_uri, ...more }).toString()}`;
  const page = await follow(browser, await browser.get(url));
  expect(page.response.body).toContain('123.50 EUR');
  expect(page.response.body).not.toContain('9999');
});

describe('RFC 9396 §6.1: a token has what was granted, or less', () => {
  const less = payment({ money: { amount: '50', currency: 'EUR' }, actions: ['status'] });
  const more = payment({ money: { amount: '123.51', currency: 'EUR' } });
  test('at the code and at every refresh: a refused one spends nothing, and a narrow token leaves the grant whole', async () => {
    const code = await aCode();
    expectRefusal(await redeem(at, code, asked(more)), 400, 'invalid_authorization_details');
    expectRefusal(await redeem(at, code, asked(payment({ recipient: 'Eve' }))), 400, 'invalid_authorization_details');
    expectRefusal(await redeem(at, code, asked(less, payment())), 400, 'invalid_authorization_details');
    const first = (await redeem(at, code, asked(less))).json<Answer>();
    expect(decode(first.access_token).payload['authorization_details']).toEqual([less]);
    expectRefusal(await refresh(at, client, first.refresh_token, asked(more)), 400, 'invalid_authorization_details');
    const second = (await refresh(at, client, first.refresh_token)).json<Answer>();
    expect(second.authorization_details).toEqual([payment()]);
    const third = (await refresh(at, client, second.refresh_token, asked(less))).json<Answer>();
    expect(third.authorization_details).toEqual([less]);
    // Within the retry window the same question has the same answer, and a wider one none.
    expectRefusal(await refresh(at, client, second.refresh_token, asked(more)), 400, 'invalid_authorization_details');
    expect((await refresh(at, client, second.refresh_token, asked(less))).json<Answer>().refresh_token).toBe(
      third.refresh_token,
    );
  });

  test('RFC 9396 §8: where none were granted none can be had', async () => {
    const code = await aCode(AT_BANK);
    expectRefusal(await redeem(at, code, asked(payment())), 400, 'invalid_authorization_details');
    expect((await redeem(at, code)).statusCode).toBe(200);
  });

  test('RFC 9396 §2.2: of several resources each is told of its own', async () => {
    const [bank, vault] = [payment({ locations: [BANK] }), payment({ locations: [VAULT] })];
    const url = `${authorizationUrl(browser.issuer, client, { ...AT_BANK, ...asked(bank, vault) })}&resource=${VAULT}`;
    const page = await follow(browser, await browser.get(url));
    const { response } = await proceed(browser, page, { action: 'approve' });
    const { code } = answerTo(client, response);
    const answer = await postForm(at, '/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirect_uri,
      resource: VAULT,
      ...credentials(client),
    });
    const { access_token, authorization_details } = answer.json<Answer>();
    expect(authorization_details).toEqual([vault]);
    expect(decode(access_token).payload['authorization_details']).toEqual([vault]);
  });
});

describe('they are decided again, by the rules of today', () => {
  const takeAway: Array<[string, () => Promise<unknown>]> = [
    ['the type is deleted', () => drop()],
    ['the client loses it', () => changeClient(at, client, { authorization_details_types: ['opening'] })],
    [
      'its form is another now',
      () => put('payment', { ...PAYMENT, narrowable: [], sentence: null, sentences: {}, schema: OPENING.schema }),
    ],
  ];
  test.each(takeAway)('%s before the person answers: the request is refused', async (_what, take) => {
    const page = await open(browser, client, { ...AT_BANK, ...asked(payment()) });
    await take();
    at.deps.directory.clear();
    const { response } = await proceed(browser, page, { action: 'approve' });
    expect(answerTo(client, response)).toMatchObject({ error: 'invalid_authorization_details' });
  });

  test.each(takeAway)(
    '%s after that: the token has none of it, and says so; what it could do else it can',
    async (_what, take) => {
      const code = await aCode();
      const other = (await redeem(at, await aCode())).json<Answer>();
      await take();
      at.deps.directory.clear();
      const answer = (await redeem(at, code)).json<Answer>();
      expect(answer.authorization_details).toEqual([]);
      expect(decode(answer.access_token).payload).not.toHaveProperty('authorization_details');
      const refreshed = (await refresh(at, client, other.refresh_token)).json<Answer>();
      expect(refreshed.authorization_details).toEqual([]);
      expectRefusal(
        await refresh(at, client, refreshed.refresh_token, asked(payment())),
        400,
        'invalid_authorization_details',
      );
    },
  );

  test('a server whose cache is old writes no grant of what is gone', async () => {
    const page = await open(browser, client, { ...AT_BANK, ...asked(payment()) });
    await changeClient(at, client, { authorization_details_types: [] });
    const { response } = await proceed(browser, page, { action: 'approve' });
    expect(answerTo(client, response)).toMatchObject({ error: 'invalid_authorization_details' });
  });

  test('a type that is made again is another one: what was granted of the first is not of it', async () => {
    const { refresh_token, access_token } = (await redeem(at, await aCode())).json<Answer>();
    await drop();
    at.clock.advance(2);
    await restore();
    expect((await refresh(at, client, refresh_token)).json<Answer>().authorization_details).toEqual([]);
    expect(await introspect(at, client, access_token)).not.toHaveProperty('authorization_details');
  });
});

test('RFC 9396 §6: a client that acts for itself asks at the token endpoint', async () => {
  const service = await aService(at, { authorization_details_types: ['opening'] });
  const ask = (fields: Record<string, string>) =>
    postForm(at, '/token', { grant_type: 'client_credentials', ...fields, ...credentials(service) });
  const answer = (await ask(asked({ type: 'opening', doors: ['north'] }))).json<Answer>();
  expect(answer.authorization_details).toEqual([{ type: 'opening', doors: ['north'] }]);
  expect(await introspect(at, service, answer.access_token)).toMatchObject({
    authorization_details: [{ type: 'opening', doors: ['north'] }],
  });
  expectRefusal(await ask({ resource: BANK, ...asked(payment()) }), 400, 'invalid_authorization_details');
});

test('a device asks, and its person sees them on the page with its code', async () => {
  const { client: device, device_code } = await anApprovedDeviceCode(at);
  await changeClient(at, device, { authorization_details_types: ['opening'] });
  at.deps.directory.clear();
  const started = await postForm(at, '/device_authorization', {
    scope: 'openid',
    ...asked({ type: 'opening', doors: ['south'] }),
    ...credentials(device),
  });
  const { user_code, device_code: waiting } = started.json<{ user_code: string; device_code: string }>();
  const form = await browser.get('/device');
  const entered = await browser.post('/device', { user_code, form_token: formTokenOf(form) });
  const page = await follow(browser, entered);
  expect(page.response.body).toContain('south');
  await proceed(browser, page, { action: 'approve' });
  const poll = (code: string) =>
    postForm(at, '/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: code,
      ...credentials(device),
    });
  expect((await poll(waiting)).json<Answer>().authorization_details).toEqual([{ type: 'opening', doors: ['south'] }]);
  expect((await poll(device_code)).json()).not.toHaveProperty('authorization_details');
});

test('RFC 9396 §10: discovery names the types, and the person finds in their account what they allowed', async () => {
  const { body } = await at.app.inject({
    url: '/.well-known/oauth-authorization-server',
    headers: { host: 'id.example.test' },
  });
  expect(JSON.parse(body)).toMatchObject({ authorization_details_types_supported: ['opening', 'payment'] });
  await aCode();
  const page = await browser.get('/account/applications');
  expect(page.body).toContain('Pay <bdi><b>123.50 EUR</b></bdi>');
});

describe('a type is refused that could not be kept', () => {
  const schema = (properties: object, more: object = {}) => ({
    type: 'object',
    additionalProperties: false,
    properties,
    ...more,
  });
  test.each([
    ['a pattern', { schema: schema({ a: { type: 'string', pattern: '^(a+)+$' } }) }],
    ['a reference', { schema: schema({ a: { $ref: 'https://evil.example.test/schema' } }) }],
    ['one to itself', { schema: schema({}, { allOf: [{ $ref: '#' }] }) }],
    ['members that nobody knows', { schema: { type: 'object', properties: {} } }],
    ['the same further down', { schema: schema({ a: { type: 'object' } }) }],
    ['no object', { schema: { type: 'array' } }],
    ['what is no schema', { schema: schema({ a: { type: 'strange' } }) }],
    ['a list of properties', { schema: schema({ a: [] }) }],
    ['too much', { schema: schema({ a: { enum: ['a'.repeat(17_000)] } }) }],
    ['a sentence of what there is not', { schema: schema({ a: { type: 'string' } }), sentence: 'Pay {/b}' }],
    ['a translation of that', { schema: schema({ a: { type: 'string' } }), sentences: { de: '{/b}' } }],
    ['what is narrowed and is not there', { schema: schema({ a: { type: 'string' } }), narrowable: ['/b'] }],
    ['a resource that there is not', { schema: schema({}), resource: ['https://none.example.test'] }],
  ])('%s', async (_what, type) => {
    await expect(put('refused', type)).rejects.toThrow(/schema|sentence|narrowable|resource/);
  });
});
