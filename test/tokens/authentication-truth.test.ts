/** The table of truth: whatever somebody showed, every grant and every client are told that, and when (`acr`, `amr`, `auth_time`). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT, type GrantType } from '../../src/protocol/client.ts';
import { elevateSession, findSessions } from '../../src/sessions/index.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aDevice,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aUser,
  credentials,
  introspect,
  PASSWORD,
  postForm,
  redeem,
  refresh,
  signIn,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { follow, open, proceed, submit } from '../support/pages.ts';
import { codeOf, recoveryCodeOf, setupForm, withTotp } from '../support/second-factor.ts';

interface Truth {
  acr: string;
  amr: string[];
  auth_time: number;
}
interface Person {
  user: User;
  browser: TestBrowser;
  truth: Truth;
}

let at: TestApp;
const seconds = (): number => at.clock.now().getTime() / 1000;
const PWD = { acr: '1', amr: ['pwd'] };
const OTP = { acr: '2', amr: ['pwd', 'otp', 'mfa'] };
const finish = async (browser: TestBrowser, fields: Record<string, string>): Promise<void> => {
  const response = await browser.get('/login/second-factor?recovery');
  const done = await submit(browser, { url: '/login/second-factor', response }, fields);
  if (done.statusCode !== 303) throw new Error(`the second factor was answered ${done.statusCode}`);
};

/** Each combination of factors: what is done, and what is true of it from then on. */
const combinations: Record<string, (user: User) => Promise<{ browser: TestBrowser; truth: Truth }>> = {
  async 'a password'(user) {
    const auth_time = seconds();
    return { browser: await signIn(at, user), truth: { ...PWD, auth_time } };
  },
  async 'a password and a code'(user) {
    const { secret } = await withTotp(at, user);
    const auth_time = seconds();
    const browser = await signIn(at, user);
    await finish(browser, { otp: codeOf(at, secret) });
    return { browser, truth: { ...OTP, auth_time } };
  },
  async 'a password and a recovery code'(user) {
    await withTotp(at, user);
    const auth_time = seconds();
    const browser = await signIn(at, user);
    await finish(browser, { 'recovery-code': recoveryCodeOf(1) });
    return { browser, truth: { ...OTP, auth_time } };
  },
  async 'a password, and a code an hour later'(user) {
    const auth_time = seconds();
    const browser = await signIn(at, user);
    at.clock.advance(3600);
    const { secret } = await withTotp(at, user);
    await finish(browser, { otp: codeOf(at, secret) });
    // Everything in amr was shown then or later: nobody is told that a password of before is one of now.
    return { browser, truth: { ...OTP, auth_time } };
  },
  async 'a password, and an app set up on the way'(user) {
    const auth_time = seconds();
    const browser = await signIn(at, user);
    const shown = await open(browser, await aClient(at, { require_second_factor: true }));
    await submit(browser, shown, setupForm(at, shown.response));
    return { browser, truth: { ...OTP, auth_time } };
  },
  async 'both, and both again since it was too long ago'(user) {
    const { secret } = await withTotp(at, user);
    const browser = await signIn(at, user);
    await finish(browser, { otp: codeOf(at, secret) });
    at.clock.advance(600);
    const auth_time = seconds();
    const login = await open(browser, await aClient(at), { max_age: '60' });
    const asked = await proceed(browser, login, { username: user.username, password: PASSWORD, action: 'login' });
    await proceed(browser, asked, { otp: codeOf(at, secret) });
    return { browser, truth: { ...OTP, auth_time } };
  },
  async 'both, then the app is removed: what was shown was shown'(user) {
    const { secret } = await withTotp(at, user);
    const auth_time = seconds();
    const browser = await signIn(at, user);
    await finish(browser, { otp: codeOf(at, secret) });
    const response = await browser.get('/account/authenticator');
    await submit(browser, { url: '/account/authenticator', response }, { action: 'remove' });
    return { browser, truth: { ...OTP, auth_time } };
  },
  ...Object.fromEntries(
    [
      ['a passkey that knew its person', ['hwk', 'user'], '2'],
      ['a password and a passkey', ['pwd', 'hwk', 'mfa'], '2'],
    ].map(([name, amr, acr]) => [
      name as string,
      async (user: User) => {
        const auth_time = seconds();
        const browser = await signIn(at, user);
        await shownAs(browser, amr as string[], acr as string);
        return { browser, truth: { acr: acr as string, amr: amr as string[], auth_time } };
      },
    ]),
  ),
};

/** As if these had been shown: how each is proven is tested elsewhere. */
async function shownAs(browser: TestBrowser, amr: string[], acr: string): Promise<void> {
  const [name, value] = [...browser.cookies].find(([cookie]) => cookie.endsWith('session'))!;
  const binding = [...browser.cookies].find(([cookie]) => cookie.endsWith('browser'))![1];
  const [session] = await findSessions(at.deps, [value], at.clock.now());
  const by = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'test' };
  const elevation = { amr, acr, via: 'test', claim: async () => true };
  browser.cookies.set(name, (await elevateSession(at.deps, session!, elevation, binding, by, at.clock.now())).handle);
}

/** Each kind of client. */
const clients: Record<string, AClient> = {};
const kinds = {
  'with a secret': {},
  public: { token_endpoint_auth_method: 'none' },
  'minimal and pairwise': { id_token_claims: 'minimal', subject_type: 'pairwise' },
  'with opaque tokens': { access_token_format: 'opaque' },
  'that requires two factors': { require_second_factor: true },
} as const;
let device: AClient;
let inspector: AClient;

beforeAll(async () => {
  at = await testApp();
  device = await aDevice(at);
  inspector = await aClient(at, { may_introspect: true });
  for (const [kind, metadata] of Object.entries(kinds)) {
    clients[kind] = await aClient(at, { skip_consent: true, ...metadata });
  }
});
afterAll(() => at.close());

const only = ({ acr, amr, auth_time }: Record<string, unknown>): unknown => ({ acr, amr, auth_time });
/** What is said by each token of an answer, to whoever may read it. */
async function saidBy({ id_token, access_token }: Partial<Tokens>): Promise<unknown[]> {
  const introspected = access_token && (await introspect(at, inspector, access_token));
  const jwts = [id_token, access_token].filter((token) => token?.includes('.'));
  return [...jwts.map((token) => only(decode(token!).payload)), ...(introspected ? [only(introspected)] : [])];
}

/** Each grant of a person, with the tokens that it gives. Who acts for themselves is nobody who signed in. */
const grants: Record<
  GrantType,
  (person: Person, client: AClient, before: Partial<Tokens>) => Promise<Partial<Tokens>>
> = {
  authorization_code: async ({ user, browser }, client) =>
    (await redeem(at, await anAuthorizationCode(at, { client, user, browser }))).json<Tokens>(),
  async refresh_token(_person, client, { refresh_token = '' }) {
    return (await refresh(at, client, refresh_token)).json<Tokens>();
  },
  async [DEVICE_GRANT]({ user, browser }) {
    const { device_code } = await anApprovedDeviceCode(at, { client: device, user, browser });
    return (
      await postForm(at, '/token', { grant_type: DEVICE_GRANT, device_code, ...credentials(device) })
    ).json<Tokens>();
  },
  client_credentials: async () => ({}),
};

/** The code first: its refresh token is used next. */
const GRANTS = [
  'authorization_code',
  'refresh_token',
  DEVICE_GRANT,
  'client_credentials',
] as const satisfies GrantType[];

describe.each(Object.keys(combinations))('after %s', (combination) => {
  let person: Person;
  beforeAll(async () => {
    const user = await aUser(at);
    person = { user, ...(await combinations[combination]!(user)) };
    at.clock.advance(30);
  });

  test('RFC 9470 §6.1, §6.2: every grant tells every client what is true', async () => {
    const table = Object.keys(kinds).flatMap((kind) => GRANTS.map((grant) => [kind, grant] as const));
    let before: Partial<Tokens> = {};
    for (const [kind, grant] of table) {
      const isRefused = kind === 'that requires two factors' && person.truth.acr === '1';
      // A device is a client of its own, whatever the others are.
      if (isRefused || (grant === DEVICE_GRANT && kind !== 'with a secret')) continue;
      before = await grants[grant](person, clients[kind]!, before);
      const said = await saidBy(before);
      const expected = grant === 'client_credentials' ? 0 : kind === 'with opaque tokens' ? 2 : 3;
      expect(said, `${grant}, a client ${kind}`).toEqual(Array.from({ length: expected }, () => person.truth));
    }
  });

  test('who requires two factors is told of no fewer', async () => {
    const asked = await follow(
      person.browser,
      (await open(person.browser, clients['that requires two factors']!)).response,
    );
    expect(asked.response.statusCode).toBe(person.truth.acr === '1' ? 200 : 302);
  });
});
