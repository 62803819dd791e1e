/** Authentication contexts (OpenID Connect Core §5.5.1.1): what is asked for, what was met, and what cannot be. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  credentials,
  postForm,
  redeem,
  refresh,
  signIn,
  TestBrowser,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { answerTo, open, signInAt, stepOf, type At } from '../support/pages.ts';

const SILVER = 'urn:mace:incommon:iap:silver';
const GOLD = 'urn:mace:incommon:iap:gold';
const KNOWN = 'https://example.test/knows-something';
let at: TestApp;
let client: AClient;
let ada: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp({ config: { SECOND_FACTOR: 'off', ACR_VALUES: [`${SILVER}=1`, `${GOLD}=2`, `${KNOWN}=pwd`] } });
  client = await aClient(at, { skip_consent: true });
  ada = await aUser(at);
});
beforeEach(async () => {
  browser = await signIn(at, ada);
  at.clock.advance(1);
});
afterAll(() => at.close());

type Asked = Record<string, string>;
const acrClaim = (request: unknown): Asked => ({ claims: JSON.stringify({ id_token: { acr: request } }) });
const ask = (parameters: Asked, of = client): Promise<At> => open(browser, of, parameters);
const answer = async (parameters: Asked, of = client) => answerTo(of, (await ask(parameters, of)).response);
const tokensOf = async (given: Record<string, string>, of = client): Promise<Tokens> => {
  const code = { code: given['code'] ?? '', code_verifier: '', client: of, browser, user: ada };
  return (await redeem(at, code, { code_verifier: undefined })).json<Tokens>();
};
const acrOf = async (given: Record<string, string>, of = client): Promise<unknown> =>
  decode((await tokensOf(given, of)).id_token).payload['acr'];
/** As if these people had signed in by other means. */
const signedInBy = (amr: string[], acr: string): Promise<unknown> =>
  at.deps.db.updateTable('sessions').set({ amr, acr }).where('sub', '=', ada.sub).execute();

test.each<[asked: Asked, acr: string]>([
  [{}, '1'],
  [{ acr_values: '1' }, '1'],
  [{ acr_values: SILVER }, SILVER],
  [{ acr_values: `2 ${GOLD} ${SILVER} 1` }, SILVER],
  [{ acr_values: `unknown ${KNOWN}` }, KNOWN],
  [{ acr_values: '2' }, '1'],
  [{ acr_values: 'unknown toString' }, '1'],
  [{ acr_values: '"<script>" % \u{1F511}' }, '1'],
  [{ acr_values: '2', prompt: 'none' }, '1'],
  [acrClaim(null), '1'],
  [acrClaim({ essential: true }), '1'],
  [acrClaim({ values: ['2', SILVER] }), SILVER],
  [acrClaim({ value: '2' }), '1'],
  [acrClaim({ value: SILVER, essential: true }), SILVER],
  [{ acr_values: '1', ...acrClaim({ values: [GOLD, KNOWN], essential: true }) }, KNOWN],
])('OpenID Connect Core §5.5.1.1: asked with %j, acr is %s: always told, and truly met', async (asked, acr) => {
  expect(await acrOf(await answer(asked))).toBe(acr);
});

test('OpenID Connect Core §12.2, RFC 9068 §2.2.1, RFC 9470 §6.1: the acr of the request stays through a refresh, also in the access token', async () => {
  const tokens = await tokensOf(await answer({ acr_values: SILVER }));
  const refreshed = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
  for (const token of [tokens.id_token, tokens.access_token, refreshed.id_token, refreshed.access_token]) {
    expect(decode(token).payload).toMatchObject({ acr: SILVER, amr: ['pwd'] });
  }
});

test.each<[asked: unknown]>([
  [{ value: '2', essential: true }],
  [{ values: ['2', GOLD], essential: true }],
  [{ values: ['unknown'], essential: true }],
  [{ values: [], essential: true }],
])(
  'RFC 9470 §5: essential acr %j cannot be met here, unmet_authentication_requirements: nobody is asked for nothing',
  async (request) => {
    const refused = { error: 'unmet_authentication_requirements', state: 'a state', iss: browser.issuer };
    // Of a stranger it is not known yet: they may have a passkey, which is two factors in one.
    const known = JSON.stringify(request).includes('"2"');
    for (const who of known ? [browser] : [browser, new TestBrowser(at)]) {
      for (const prompt of ['', 'none', 'login']) {
        const { response } = await open(who, client, { ...acrClaim(request), prompt });
        expect(answerTo(client, response), prompt).toMatchObject(refused);
      }
    }
  },
);

test('RFC 9470 §5: what cannot be met is unmet_authentication_requirements, of a pushed request too', async () => {
  const { client_id, redirect_uri } = client;
  const request = {
    response_type: 'code',
    redirect_uri,
    scope: 'openid',
    ...acrClaim({ value: '2', essential: true }),
  };
  const pushed = await postForm(at, '/par', { ...credentials(client), ...request });
  const { request_uri } = pushed.json<{ request_uri: string }>();
  const response = await browser.get(`/authorize?${new URLSearchParams({ client_id, request_uri }).toString()}`);
  expect(answerTo(client, response)).toMatchObject({ error: 'unmet_authentication_requirements' });
});

test.each<[how: string, asked: Asked]>([
  ['essential', acrClaim({ value: KNOWN, essential: true })],
  ['voluntary', { acr_values: KNOWN }],
])(
  'OpenID Connect Core §5.5.1.1: where a new sign-in can meet the %s acr, it is asked for, once',
  async (_how, asked) => {
    await signedInBy(['otp'], '1');
    const page = await ask(asked);
    expect(stepOf(page)).toBe('login');
    at.clock.advance(1);
    expect(await acrOf(answerTo(client, (await signInAt(browser, page, ada)).response))).toBe(KNOWN);
  },
);

test('OpenID Connect Core §5.5.1.1: a sign-in that did not meet the essential acr ends the request; a wish is let go', async () => {
  for (const [asked, end] of [
    [acrClaim({ value: KNOWN, essential: true }), { error: 'unmet_authentication_requirements' }],
    [{ acr_values: KNOWN }, { code: expect.any(String) as string }],
  ] as const) {
    await signedInBy(['otp'], '1');
    const page = await ask(asked);
    at.clock.advance(1);
    // Signs in elsewhere, by something that is not enough.
    browser = await signInAgain(browser);
    const hub = await browser.get(page.url.replace('/login', ''));
    expect(answerTo(client, hub)).toMatchObject(end);
  }
});

/** The same browser after a sign-in of another kind. */
async function signInAgain(before: TestBrowser): Promise<TestBrowser> {
  const after = await signIn(at, ada);
  const [name, value] = [...after.cookies].find(([cookie]) => cookie.endsWith('session'))!;
  before.cookies.set(name, value);
  await signedInBy(['otp'], '1');
  return before;
}

test('OpenID Connect Core §3.1.2.1: with prompt=none, an essential acr that a sign-in could meet is login_required; a wish is let go', async () => {
  await signedInBy(['otp'], '1');
  const essential = acrClaim({ value: KNOWN, essential: true });
  expect(await answer({ ...essential, prompt: 'none' })).toMatchObject({ error: 'login_required' });
  expect(await acrOf(await answer({ acr_values: KNOWN, prompt: 'none' }))).toBe('1');
});

test('RFC 9470 §5: a session with a second factor meets 2, and what is mapped to it', async () => {
  await signedInBy(['pwd', 'otp', 'mfa'], '2');
  expect(await acrOf(await answer(acrClaim({ value: '2', essential: true })))).toBe('2');
  expect(await acrOf(await answer({ acr_values: GOLD }))).toBe(GOLD);
  expect(await acrOf(await answer({}))).toBe('2');
});

const registered = (metadata: Partial<ClientMetadataInput>): Promise<AClient> =>
  aClient(at, { skip_consent: true, ...metadata });

test('OpenID Connect Registration §2: default_acr_values are asked for unless the request says otherwise, and never fail', async () => {
  const silver = await registered({ default_acr_values: ['2', SILVER] });
  expect(await acrOf(await answer({}, silver), silver)).toBe(SILVER);
  expect(await acrOf(await answer({ acr_values: KNOWN }, silver), silver)).toBe(KNOWN);
  expect(await acrOf(await answer(acrClaim({ value: '1' }), silver), silver)).toBe('1');
});

test('OpenID Connect Registration §2: default_max_age counts unless the request says otherwise, 0 too; require_auth_time is always kept', async () => {
  const hasty = await registered({ default_max_age: 60, require_auth_time: true });
  const given = await answer({}, hasty);
  expect(decode((await tokensOf(given, hasty)).id_token).payload).toHaveProperty('auth_time');
  at.clock.advance(60);
  expect(await answer({ prompt: 'none' }, hasty)).toMatchObject({ error: 'login_required' });
  expect(await answer({ prompt: 'none', max_age: '3600' }, hasty)).toHaveProperty('code');
  expect(stepOf(await ask({}, await registered({ default_max_age: 0 })))).toBe('login');
});
