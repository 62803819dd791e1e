/** What tests of the OAuth doors share: raw requests, the form every refusal must have, a valid request of each grant. */
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { DEVICE_GRANT, type GrantType } from '../../src/protocol/client.ts';
import type { Resource } from '../../src/store/resources.ts';
import type { TestApp } from './app.ts';
import {
  aClient,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aService,
  credentials,
  someTokens,
  type AClient,
} from './fixtures.ts';
import { administer } from './administer.ts';

type Fields = Record<string, string | undefined>;
type Served = Pick<TestApp, 'app' | 'deps'>;

export const FORM = 'application/x-www-form-urlencoded';
export const formOf = (fields: Fields): string =>
  new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

/** POSTs a body as it stands. */
export const postRaw = (
  { app, deps }: Served,
  path: string,
  payload: string | Buffer,
  headers: Record<string, string> = {},
  remoteAddress = '127.0.0.1',
): Promise<LightMyRequestResponse> =>
  app.inject({
    method: 'POST',
    remoteAddress,
    url: new URL(deps.config.ISSUER).pathname.replace(/\/$/, '') + path,
    headers: { 'content-type': FORM, ...headers },
    payload,
  });

const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** HTTP Basic as RFC 6749 §2.3.1 wants it: both halves form-encoded. */
export const basic = ({ client_id, client_secret }: AClient): string =>
  basicOf(`${encode(client_id)}:${encode(client_secret)}`);

export const basicOf = (text: string | Buffer): string => `Basic ${Buffer.from(text).toString('base64')}`;

/** The form of every refusal (RFC 6749 §5.2), and what no answer of ours may lack. */
export function expectRefusal(answer: LightMyRequestResponse, status: number, error: string): void {
  const body: unknown = answer.headers['content-type']?.startsWith('application/json') ? answer.json() : answer.body;
  expect({ status: answer.statusCode, body }).toMatchObject({ status, body: { error } });
  const { error_description, ...rest } = body as Record<string, unknown>;
  expect(rest).toEqual({ error });
  // RFC 6749 §5.2: %x20-21 / %x23-5B / %x5D-7E
  expect(error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  expectPrivate(answer);
}

/** Headers of every answer with a token or an error. */
export function expectPrivate({ headers }: LightMyRequestResponse): void {
  expect(headers['content-type']).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[A-Za-z0-9._-]{8,64}$/) as string,
  });
}

/** A token request that would be answered with tokens, and the client that makes it. */
export interface ATokenRequest {
  client: AClient;
  /** Everything but the credentials. */
  fields: Record<string, string>;
}

/** By grant: a request that is valid, but for its `grant_type`, of this client or of one that is made for it. */
const requestOf: Record<GrantType, (test: TestApp, of: { client?: AClient }) => Promise<ATokenRequest>> = {
  async authorization_code(test, of) {
    const client = of.client ?? (await aClient(test));
    const { code, code_verifier } = await anAuthorizationCode(test, { client });
    return { client, fields: { code, code_verifier, redirect_uri: client.redirect_uri } };
  },
  async client_credentials(test, of) {
    return { client: of.client ?? (await aService(test)), fields: { scope: 'jobs:read' } };
  },
  async refresh_token(test, of) {
    const client = of.client ?? (await aClient(test));
    const { tokens } = await someTokens(test, { client });
    return { client, fields: { refresh_token: tokens.refresh_token } };
  },
  async [DEVICE_GRANT](test, of) {
    const { client, device_code } = await anApprovedDeviceCode(test, of);
    return { client, fields: { device_code } };
  },
};

export async function aTokenRequest(
  test: TestApp,
  grant_type: GrantType,
  of: { client?: AClient } = {},
): Promise<ATokenRequest> {
  const { client, fields } = await requestOf[grant_type](test, of);
  return { client, fields: { grant_type, ...fields } };
}

/** Sends it with the credentials in the body. */
export const send = (
  test: Served,
  { client, fields }: ATokenRequest,
  changes: Fields = {},
): Promise<LightMyRequestResponse> =>
  postRaw(test, '/token', formOf({ ...fields, ...credentials(client), ...changes }));

/** Registers a resource (RFC 8707). */
export async function aResource(test: TestApp, resource: string, terms: Partial<Resource> = {}): Promise<string> {
  await administer(test, 'PUT', '/resources/{resource}', terms, { resource });
  return resource;
}

/** Header and payload of a JWT, unverified. */
export function decode(jwt: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header, payload] = jwt
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  return { header: header as Record<string, unknown>, payload: payload as Record<string, unknown> };
}
