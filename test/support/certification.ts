/**
 * An independent suite at a listening server: relying parties made of oauth4webapi and jose, people made of undici and a
 * cookie jar. Only what nobody can do over HTTP comes from inside: accounts, time, and the turns of the workers.
 */
import { randomBytes } from 'node:crypto';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import { fetch, type Response as Fetched } from 'undici';
import { expect } from 'vitest';
import type { Config } from '../../src/config.ts';
import type { ResponseMode } from '../../src/protocol/authorization-request.ts';
import type { OutboundRequest, OutboundResponse } from '../../src/platform/outbound.ts';
import type { User } from '../../src/store/users.ts';
import { workers } from '../../src/workers/index.ts';
import { testApp, type TestApp } from './app.ts';
import { aUser, PASSWORD, type AClient } from './fixtures.ts';
import { freePort } from './server.ts';
import { formTokenIn, Visitor } from './visitor.ts';

export const insecure = { [oauth.allowInsecureRequests]: true } as const;
/** Where the suite is, as servers see it. */
export const SUITE = 'https://suite.example.test';
export const CALLBACK = `${SUITE}/test/a/postern/callback`;
export const SCOPES = 'openid profile email address phone offline_access';

/** A person of whom everything is known: a scope without its claims would be a warning. */
export const EVERYTHING = {
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  middle_name: 'King',
  nickname: 'ada',
  profile: 'https://people.example.test/ada',
  picture: 'https://people.example.test/ada.png',
  website: 'https://ada.example.test',
  gender: 'female',
  birthdate: '1815-12-10',
  zoneinfo: 'Europe/London',
  locale: 'en-GB',
  phone_number: '+44 20 7946 0000',
  phone_number_verified: true,
  address: { street_address: '12 St James’s Square', locality: 'London', postal_code: 'SW1Y', country: 'GB' },
};

export interface Suite {
  test: TestApp;
  issuer: string;
  as: oauth.AuthorizationServer;
  person: User;
  /** What the suite serves below {@link SUITE}: media type and text. */
  documents: Map<string, readonly [media_type: string, text: string | Buffer]>;
  /** What was posted to it. */
  posted: Array<{ url: string; request: OutboundRequest }>;
  /** Gives a worker its turn. */
  turn(worker: keyof typeof workers): Promise<void>;
  close(): Promise<void>;
}

/** Starts the server under test. Its clock stands still until a module moves it. */
export async function startSuite(config: Partial<Config> = {}): Promise<Suite> {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const documents: Suite['documents'] = new Map();
  const posted: Suite['posted'] = [];
  const answer = async (url: string, request: OutboundRequest = {}): Promise<OutboundResponse> => {
    if (request.method === 'POST') posted.push({ url, request });
    const [media_type, content] = documents.get(url) ?? ['text/plain', ''];
    const bytes = Buffer.from(content);
    const status = request.method === 'POST' || documents.has(url) ? 200 : 404;
    return { status, media_type, headers: new Headers(), bytes, text: bytes.toString('utf8') };
  };
  const test = await testApp({ config: { ISSUER: issuer, ...config }, fetch: answer });
  await test.app.listen({ port, host: 'localhost' });
  const discovered = await oauth.discoveryRequest(new URL(issuer), insecure);
  return {
    test,
    issuer,
    as: await oauth.processDiscoveryResponse(new URL(issuer), discovered),
    person: await aUser(test, { claims: EVERYTHING }),
    documents,
    posted,
    turn: (worker) => workers[worker](test.deps).run(),
    close: () => test.close(),
  };
}

/** A client as the suite plays it. */
export interface Party {
  client_id: string;
  redirect_uri: string;
  auth: oauth.ClientAuth;
  /** What its ID tokens are signed with, when it is not RS256. */
  metadata?: Partial<oauth.Client>;
  response_mode?: ResponseMode | undefined;
}

export const partyOf = (
  { client_id, client_secret, redirect_uri }: AClient,
  method: (secret: string) => oauth.ClientAuth = oauth.ClientSecretBasic,
): Party => ({ client_id, redirect_uri, auth: method(client_secret) });

/** The client as the library wants it, on the server's clock. */
export const asClient = ({ test }: Suite, { client_id, metadata }: Party): oauth.Client => ({
  client_id,
  ...metadata,
  [oauth.clockSkew]: Math.round((test.clock.now().getTime() - Date.now()) / 1000),
  [oauth.clockTolerance]: 5,
});

/** Where a request led. */
export interface Arrival {
  /** The pages met on the way. */
  shown: string[];
  /** What the client was told, in the query or a form; undefined when the server kept it to itself. */
  answer?: URLSearchParams | undefined;
  /** The last page, when there is one. */
  status: number;
  body: string;
}

type Fields = Record<string, string | undefined>;

const given = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Sends the browser to an address, and through every page of the server as a willing person. */
export async function walk(suite: Suite, visitor: Visitor, start: string | Fetched): Promise<Arrival> {
  const shown: string[] = [];
  let response = typeof start === 'string' ? await visitor.get(start) : start;
  for (let hops = 0; hops < 12; hops += 1) {
    const body = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      if (!location.startsWith(`${suite.issuer}/`)) {
        return { shown, answer: new URL(location).searchParams, status: response.status, body: location };
      }
      response = await visitor.get(location);
      continue;
    }
    const page = /action="([^"]*\/interaction\/[^"]*\/(login|consent|select-account))"/.exec(body);
    if (!page) return { shown, answer: formPostIn(body), status: response.status, body };
    shown.push(page[2]!);
    const person = page[2] === 'login' ? { username: suite.person.username, password: PASSWORD } : {};
    const action = page[2] === 'login' ? 'login' : 'approve';
    response = await visitor.post(decodeHtml(page[1]!), { ...person, action, form_token: formTokenIn(body) });
  }
  throw new Error('the request went in circles');
}

/** Text of an attribute. */
export const decodeHtml = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** Form Post Response Mode §2: the fields of a form to the callback, whose address holds nothing of the answer. */
function formPostIn(page: string): URLSearchParams | undefined {
  const [, action] = /<form[^>]*action="([^"]*)"/.exec(page) ?? [];
  if (action === undefined || !action.startsWith(SUITE)) return undefined;
  expect(decodeHtml(action)).not.toMatch(/[?&](code|error|state)=/);
  expect(page).toMatch(/<form[^>]*method="post"/);
  const inputs = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return new URLSearchParams([...inputs].map(([, name, value]): [string, string] => [name!, decodeHtml(value!)]));
}

/** The parameters of a request as the suite makes every one. */
export const requestOf = (party: Party, parameters: Fields = {}): Record<string, string> =>
  given({
    response_type: 'code',
    client_id: party.client_id,
    redirect_uri: party.redirect_uri,
    scope: 'openid',
    state: randomBytes(12).toString('base64url'),
    nonce: randomBytes(12).toString('base64url'),
    response_mode: party.response_mode,
    ...parameters,
  });

export const urlOf = ({ as }: Suite, parameters: Record<string, string>): string =>
  `${as.authorization_endpoint!}?${new URLSearchParams(parameters).toString()}`;

export interface Authorized {
  shown: string[];
  code: string;
  tokens: oauth.TokenEndpointResponse;
  /** Of the token answer. */
  headers: Headers;
  claims: oauth.IDToken;
  header: jose.ProtectedHeaderParameters;
}

/** Redeems the answer of a request, with every check that the suite makes of tokens and ID tokens. */
export async function redeem(
  suite: Suite,
  party: Party,
  { shown, answer, body }: Arrival,
  { state, nonce, max_age }: Fields,
): Promise<Authorized> {
  if (!answer) throw new Error(`the client was told nothing: ${body.slice(0, 600)}`);
  const { as } = suite;
  const client = asClient(suite, party);
  // Compares `state`, and `iss` as RFC 9207 wants it; throws what the server said instead of a code.
  const inJwt = answer.has('response');
  const validated = inJwt
    ? await oauth.validateJwtAuthResponse(as, client, answer, state, insecure)
    : oauth.validateAuthResponse(as, client, answer, state);
  const { redirect_uri, auth } = party;
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    auth,
    validated,
    redirect_uri,
    oauth.nopkce,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
    expectedNonce: nonce ?? oauth.expectNoNonce,
    requireIdToken: true,
    ...(max_age !== undefined && { maxAge: Number(max_age) }),
  });
  await oauth.validateApplicationLevelSignature(as, response, insecure);
  const claims = oauth.getValidatedIdTokenClaims(tokens)!;
  const { headers } = response;
  const code = validated.get('code')!;
  return { shown, code, tokens, headers, claims, header: jose.decodeProtectedHeader(tokens.id_token!) };
}

/** One whole authorization, from the request to the tokens. */
export async function authorize(
  suite: Suite,
  party: Party,
  visitor: Visitor,
  parameters: Fields = {},
): Promise<Authorized> {
  const request = requestOf(party, parameters);
  return redeem(suite, party, await walk(suite, visitor, urlOf(suite, request)), request);
}

/** A browser with nobody in it. */
export const aBrowser = ({ issuer }: Suite): Visitor => new Visitor(issuer);

/** What userinfo says, checked by the library: JSON, and the subject of the ID token. */
export async function userinfo(
  suite: Suite,
  party: Party,
  { tokens, claims }: Authorized,
): Promise<oauth.UserInfoResponse> {
  const client = asClient(suite, party);
  const response = await oauth.userInfoRequest(suite.as, client, tokens.access_token, insecure);
  return oauth.processUserInfoResponse(suite.as, client, claims.sub, response);
}

/** An error that a client was told, with everything else it was told. */
export const refusalIn = ({ answer }: Arrival): Record<string, string> => {
  const { error_description, ...rest } = Object.fromEntries(answer ?? []);
  // RFC 6749 §4.1.2.1: %x20-21 / %x23-5B / %x5D-7E
  expect(error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  return rest;
};

/** An error that is the person's to read: nothing leads anywhere. */
export function expectErrorPage({ answer, status, body }: Arrival, error = 'invalid_request'): void {
  expect({ status, answer }).toEqual({ status: 400, answer: undefined });
  expect(body).toContain(`id="error">${error}<`);
}

/** Sends JSON where clients register. */
export async function sendJson(
  url: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  { body, token }: { body?: unknown; token?: string } = {},
): Promise<{ status: number; media_type: string; json: Record<string, unknown> }> {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const media_type = (response.headers.get('content-type') ?? '').split(';')[0]!;
  return {
    status: response.status,
    media_type,
    json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}
