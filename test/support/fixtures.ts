/** Named fixtures, valid by default: clients, people, browsers, codes and tokens, made through the real code. */
import { createHash, randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { presets, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { createAccount, type NewAccount } from '../../src/users/accounts.ts';
import type { User } from '../../src/store/users.ts';
import { administer, aScope, BY } from './administer.ts';
import type { TestApp } from './app.ts';

export { asOfBefore, aScope, BY, changeClient } from './administer.ts';
export const PASSWORD = 'correct horse battery staple';
export const REDIRECT_URI = 'https://app.example.test/callback';

let count = 0;
const unique = (): string => `${(count += 1)}${randomBytes(3).toString('hex')}`;

/** A client as a test knows it. */
export interface AClient {
  client_id: string;
  /** Empty for a public client. */
  client_secret: string;
  redirect_uri: string;
}

/** Creates a confidential web client as an operator does, unless `metadata` says otherwise. */
export async function aClient(
  test: TestApp,
  metadata: Partial<ClientMetadataInput> & { client_id?: string; client_secret?: string } = {},
): Promise<AClient> {
  const made = await administer(test, 'POST', '/clients', {
    ...presets.web,
    client_name: 'Test App',
    redirect_uris: [REDIRECT_URI],
    scope: 'openid profile email offline_access',
    ...metadata,
  });
  const { client_id, client_secret = '' } = made as { client_id: string; client_secret?: string };
  return { client_id, client_secret, redirect_uri: metadata.redirect_uris?.[0] ?? REDIRECT_URI };
}

export const aPublicClient = (test: TestApp, metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> =>
  aClient(test, { ...presets.spa, ...metadata });

/** A client for client_credentials, with two scopes for machines. */
export async function aService(test: TestApp, metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> {
  const present = await test.deps.db.selectFrom('scopes').select('name').where('name', 'like', 'jobs:%').execute();
  for (const name of ['jobs:read', 'jobs:write']) {
    if (!present.some((scope) => scope.name === name)) await aScope(test, name, { for_people: false });
  }
  return aClient(test, { ...presets.m2m, redirect_uris: [], scope: 'jobs:read jobs:write', ...metadata });
}

export function aUser({ deps, clock }: TestApp, account: Partial<NewAccount> = {}): Promise<User> {
  const username = account.username ?? `ada${unique()}`;
  return createAccount(
    deps,
    {
      username,
      email: `${username}@example.test`,
      email_verified: true,
      claims: { name: 'Ada Lovelace', given_name: 'Ada', family_name: 'Lovelace' },
      password: PASSWORD,
      ...account,
    },
    BY,
    clock.now(),
  );
}

/** PKCE as a client makes it. */
export function aVerifier(): { code_verifier: string; code_challenge: string } {
  const code_verifier = randomBytes(32).toString('base64url');
  return { code_verifier, code_challenge: createHash('sha256').update(code_verifier).digest('base64url') };
}

/** A browser: it keeps cookies, follows nothing, and sends what browsers send. */
export class TestBrowser {
  readonly #test: TestApp;
  readonly cookies = new Map<string, string>();

  constructor(test: TestApp) {
    this.#test = test;
  }

  get issuer(): string {
    return this.#test.deps.config.ISSUER;
  }

  async get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return this.#send({ method: 'GET', url, headers });
  }

  /** Submits a form as a page of the issuer would; `headers` may say otherwise. */
  async post(
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<LightMyRequestResponse> {
    const origin = new URL(this.issuer).origin;
    return this.#send({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      payload: new URLSearchParams(fields).toString(),
    });
  }

  async #send(request: {
    method: 'GET' | 'POST';
    url: string;
    headers: Record<string, string>;
    payload?: string;
  }): Promise<LightMyRequestResponse> {
    const { host, pathname, search } = new URL(request.url, this.issuer);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { host, accept: 'text/html,*/*;q=0.8', ...(cookie !== '' && { cookie }), ...request.headers };
    const response = await this.#test.app.inject({ ...request, url: pathname + search, headers });
    for (const { name, value, maxAge, expires } of response.cookies) {
      if (maxAge === 0 || (expires !== undefined && expires.getTime() <= 0)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

/** The hidden form token of a page. */
export const formTokenOf = (page: LightMyRequestResponse): string =>
  /name="form_token"[^>]*value="([^"]*)"/.exec(page.body)?.[1] ??
  /value="([^"]*)"[^>]*name="form_token"/.exec(page.body)?.[1] ??
  '';

/** A browser in which this person has signed in at /login. */
export async function signIn(test: TestApp, user: User, password = PASSWORD): Promise<TestBrowser> {
  const browser = new TestBrowser(test);
  const path = new URL(`${browser.issuer}/login`).pathname;
  const page = await browser.get(path);
  const answer = await browser.post(path, { username: user.username, password, form_token: formTokenOf(page) });
  if (answer.statusCode !== 303) throw new Error(`sign-in answered ${answer.statusCode}: ${answer.body.slice(0, 500)}`);
  return browser;
}

/** The URL of an authorization request that any of our checks lets pass. */
export function authorizationUrl(
  issuer: string,
  client: AClient,
  parameters: Record<string, string | undefined> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    scope: 'openid profile email',
    state: 'a state',
    ...parameters,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${issuer}/authorize?${new URLSearchParams(given).toString()}`;
}

/** Sends an authorization request and approves what is asked on the way; returns the client's answer. */
export async function authorize(
  browser: TestBrowser,
  client: AClient,
  parameters: Record<string, string | undefined> = {},
): Promise<URLSearchParams> {
  let response = await browser.get(authorizationUrl(browser.issuer, client, parameters));
  for (let hops = 0; hops < 8; hops += 1) {
    const location = response.headers.location;
    if (location === undefined) throw new Error(`stuck at ${response.statusCode}: ${response.body.slice(0, 800)}`);
    if (!location.startsWith(`${browser.issuer}/`)) return new URL(location).searchParams;
    response = await browser.get(location);
    if (response.statusCode === 200 && location.endsWith('/consent')) {
      response = await browser.post(location, { form_token: formTokenOf(response), action: 'approve' });
    }
  }
  throw new Error('the authorization request went in circles');
}

/** A code that nobody has redeemed yet, with what its redemption needs. */
export interface ACode {
  code: string;
  code_verifier: string;
  client: AClient;
  user: User;
  browser: TestBrowser;
}

export async function anAuthorizationCode(
  test: TestApp,
  given: { client?: AClient; user?: User; browser?: TestBrowser; parameters?: Record<string, string | undefined> } = {},
): Promise<ACode> {
  const client = given.client ?? (await aClient(test));
  const user = given.user ?? (await aUser(test));
  const browser = given.browser ?? (await signIn(test, user));
  const { code_verifier, code_challenge } = aVerifier();
  const answer = await authorize(browser, client, {
    code_challenge,
    code_challenge_method: 'S256',
    ...given.parameters,
  });
  const code = answer.get('code');
  if (code === null) throw new Error(`no code: ${answer.toString()}`);
  return { code, code_verifier, client, user, browser };
}

/** POSTs a form to an endpoint with a client's credentials in the body. */
export function postForm(
  { app, deps }: Pick<TestApp, 'app' | 'deps'>,
  path: string,
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { pathname } = new URL(deps.config.ISSUER + path);
  return app.inject({
    method: 'POST',
    url: pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(given).toString(),
  });
}

/** A client's credentials as body fields. */
export const credentials = ({ client_id, client_secret }: AClient): Record<string, string | undefined> => ({
  client_id,
  client_secret: client_secret === '' ? undefined : client_secret,
});

/** Redeems a code as its client would; fields can be replaced, or left out with undefined. */
export const redeem = (
  test: Pick<TestApp, 'app' | 'deps'>,
  { code, code_verifier, client }: ACode,
  fields: Record<string, string | undefined> = {},
): Promise<LightMyRequestResponse> =>
  postForm(test, '/token', {
    grant_type: 'authorization_code',
    code,
    code_verifier,
    redirect_uri: client.redirect_uri,
    ...credentials(client),
    ...fields,
  });

export const refresh = (
  test: Pick<TestApp, 'app' | 'deps'>,
  client: AClient,
  refresh_token: string,
  fields: Record<string, string | undefined> = {},
): Promise<LightMyRequestResponse> =>
  postForm(test, '/token', { grant_type: 'refresh_token', refresh_token, ...credentials(client), ...fields });

export interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
  scope: string;
  expires_in: number;
  token_type: string;
}

/** Tokens of a person, fresh from the code flow. */
export async function someTokens(
  test: TestApp,
  given: Parameters<typeof anAuthorizationCode>[1] = {},
): Promise<ACode & { tokens: Tokens }> {
  const code = await anAuthorizationCode(test, given);
  const answer = await redeem(test, code);
  if (answer.statusCode !== 200) throw new Error(`the code gave ${answer.statusCode}: ${answer.body}`);
  return { ...code, tokens: answer.json<Tokens>() };
}

/** What introspection says of a token to its own client. */
export async function introspect(
  test: Pick<TestApp, 'app' | 'deps'>,
  client: AClient,
  token: string,
): Promise<Record<string, unknown> & { active: boolean }> {
  const answer = await postForm(test, '/introspect', { token, ...credentials(client) });
  return answer.json();
}

export const userinfo = (
  { app, deps }: Pick<TestApp, 'app' | 'deps'>,
  token: string,
): Promise<LightMyRequestResponse> =>
  app.inject({
    method: 'GET',
    url: new URL(`${deps.config.ISSUER}/userinfo`).pathname,
    headers: { authorization: `Bearer ${token}` },
  });

/** A client for devices that can keep a secret. */
export const aDevice = (test: TestApp, metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> =>
  aClient(test, {
    ...presets.device,
    token_endpoint_auth_method: 'client_secret_basic',
    application_type: 'web',
    redirect_uris: [],
    ...metadata,
  });

/** A device code that its person has approved and nobody has redeemed yet. */
export async function anApprovedDeviceCode(
  test: TestApp,
  given: { client?: AClient; user?: User; browser?: TestBrowser; fields?: Record<string, string> } = {},
): Promise<{ device_code: string; client: AClient; user: User }> {
  const client = given.client ?? (await aDevice(test));
  const user = given.user ?? (await aUser(test));
  const browser = given.browser ?? (await signIn(test, user));
  const fields = { ...credentials(client), scope: 'openid email', ...given.fields };
  const started = await postForm(test, '/device_authorization', fields);
  const { device_code, user_code } = started.json<{ device_code: string; user_code: string }>();
  const page = await browser.get(`${browser.issuer}/device`);
  const entered = await browser.post(`${browser.issuer}/device`, { user_code, form_token: formTokenOf(page) });
  const hub = entered.headers.location!;
  const consent = (await browser.get(hub)).headers.location!;
  await browser.post(consent, { action: 'approve', form_token: formTokenOf(await browser.get(consent)) });
  await browser.get(hub);
  return { device_code, client, user };
}
