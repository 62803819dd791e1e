/** What the scenarios have in a database: clients, a person who is signed in, and codes, all made by the real code. */
import { fetch } from 'undici';
import { register } from '../src/clients/register.ts';
import { configWith, loadConfig, type Config } from '../src/config.ts';
import { createOutbound } from '../src/platform/outbound.ts';
import { random } from '../src/platform/random.ts';
import { presets, type ClientMetadataInput } from '../src/protocol/client-metadata.ts';
import { SIGNING_ALGS } from '../src/protocol/signing-alg.ts';
import { secondsAfter } from '../src/protocol/numeric-date.ts';
import * as authorizationCodes from '../src/store/authorization-codes.ts';
import type { Db } from '../src/store/postgres/db.ts';
import { drawHandle, drawId, readHandle, type HandleKey } from '../src/protocol/handle.ts';
import * as resources from '../src/store/resources.ts';
import * as scopes from '../src/store/scopes.ts';
import { createAccount } from '../src/users/accounts.ts';
import { createPasswordHasher } from '../src/users/factors/password.ts';
import { Visitor } from '../test/support/visitor.ts';
import type { Database } from './database.ts';
import { basic, FORM, form, type Shot } from './scenario.ts';
import { CHALLENGE, KINDS, REDIRECT_URI, resourceOf, SCOPE, VERIFIER, type Kind } from './shared.ts';

export const BY = { actor: 'bench' };
export const PASSWORD = 'a password that nobody has';
export const USERNAME = 'bench';
export const CODE_TTL = 600;

/** A client as its owner knows it. */
export interface Client {
  client_id: string;
  client_secret: string;
}

/** A running Postern, with what to ask it about. */
export interface World {
  origin: string;
  /** Acts for itself, introspects everything. */
  machine: Client;
  /** Acts for people, asks for no consent. Opaque access tokens. */
  app: Client;
  /** The same with JWTs. */
  jwtApp: Client;
  /** The cookies of a person who is signed in. */
  cookie: string;
  /** `count` codes of that person for this client that nobody redeemed yet, made by the statement that /authorize uses. */
  codes(count: number, client: Client, scope?: string): Promise<string[]>;
  /** Sends one request. @throws when it is not answered with 200 */
  send(shot: Shot): Promise<Record<string, unknown>>;
}

const configFor = (issuer: string): Config =>
  configWith(loadConfig('command', {}), { ISSUER: issuer, SIGNING_ALGS: [...SIGNING_ALGS] });

/** What it takes to make people and clients. */
export const depsFor = (db: Db) => ({
  db,
  random,
  passwords: createPasswordHasher(),
  config: configFor('http://localhost:1'),
  fetch: createOutbound({ allow: [] }),
});

/** Who is there before the server starts, since it keeps them for seconds. */
export async function people({ db }: Database): Promise<{ machine: Client; app: Client; jwtApp: Client; phc: string }> {
  const deps = depsFor(db);
  const now = new Date();
  await scopes.put(db, { name: 'jobs:read', description: null, claims: [], for_people: false, for_machines: true });
  for (const kind of KINDS) {
    const alg = SIGNING_ALGS.find((name) => name.toLowerCase() === kind) ?? null;
    await resources.put(db, {
      resource: resourceOf(kind),
      name: null,
      client_id: null,
      scope: ['jobs:read'],
      access_token_format: kind === 'opaque' ? 'opaque' : 'jwt',
      access_token_ttl: 3600,
      access_token_signing_alg: alg,
    });
  }
  const client = async (metadata: Partial<ClientMetadataInput>): Promise<Client> => {
    const made = await register(deps, { metadata: { client_name: 'Bench', ...metadata } }, BY, now);
    return { client_id: made.client_id, client_secret: made.client_secret! };
  };
  const forPeople = {
    ...presets.web,
    redirect_uris: [REDIRECT_URI],
    scope: SCOPE,
    skip_consent: true,
    id_token_signed_response_alg: 'ES256' as const,
  };
  const machine = await client({ ...presets.m2m, scope: 'jobs:read', may_introspect: true });
  const app = await client({ ...forPeople, access_token_format: 'opaque' });
  const jwtApp = await client({ ...forPeople, access_token_format: 'jwt' });
  const claims = { name: 'Ada Lovelace', given_name: 'Ada', family_name: 'Lovelace' };
  const account = { username: USERNAME, email: 'ada@bench.test', email_verified: true, claims, password: PASSWORD };
  await createAccount(deps, account, BY, now);
  return { machine, app, jwtApp, phc: await deps.passwords.hash(PASSWORD) };
}

/** Everything the scenarios need of a server that runs: the person signs in. */
export async function worldOf(
  origin: string,
  { db }: Database,
  clients: { machine: Client; app: Client; jwtApp: Client },
): Promise<World> {
  const visitor = await new Visitor(origin).signIn(USERNAME, PASSWORD);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const session = [...visitor.cookies.values()].map(readHandle).find((key) => key !== undefined);
  if (session === undefined) throw new Error('the sign-in gave no session');
  return {
    origin,
    ...clients,
    cookie,
    codes: (count, client, scope = SCOPE) => giveCodes(db, session, count, client, scope),
    send: (shot) => send(origin, shot),
  };
}

/** What a request is answered with. @throws for any other status than 200 */
export async function send(origin: string, { method, path, headers, body }: Shot): Promise<Record<string, unknown>> {
  const answer = await fetch(origin + path, { method, headers: { ...headers }, ...(body !== undefined && { body }) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 400)}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

const AT_ONCE = 16;
const GRANT_TTL = 2_592_000;

async function giveCodes(
  db: Db,
  session: HandleKey,
  count: number,
  { client_id }: Client,
  scope: string,
): Promise<string[]> {
  const codes: string[] = [];
  const give = async (): Promise<void> => {
    while (codes.length < count) {
      const now = new Date();
      const expires_at = secondsAfter(now, GRANT_TTL);
      const { handle, ...code } = drawHandle(random, expires_at);
      const grant_id = drawId(random, expires_at);
      codes.push(handle);
      const given = await authorizationCodes.issue(
        db,
        {
          code,
          grant: {
            grant_id,
            expires_at,
            client_id,
            scope: scope.split(' '),
            resource: [],
            acr: '1',
            requested_claims: null,
            authorization_details: null,
            sector: '',
            confidential: true,
            offline: true,
          },
          redirect_uri: REDIRECT_URI,
          registered_uri: REDIRECT_URI,
          registered_resources: [],
          code_challenge: CHALLENGE,
          dpop_jkt: null,
          nonce: 'a nonce',
          expires_at: secondsAfter(now, CODE_TTL),
          session,
          interaction: null,
          pushed: null,
        },
        now,
      );
      if (!given) throw new Error('no code was given: the session has ended');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, give));
  return codes;
}

/** The request that redeems a code. */
export const redemption = (client: Client, path = '/token'): Shot => ({
  method: 'POST',
  path,
  headers: { ...FORM, authorization: basic(client) },
  body: form({ grant_type: 'authorization_code', code: '{}', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }),
});

/** The request that refreshes. */
export const rotation = (client: Client, path = '/token'): Shot => ({
  method: 'POST',
  path,
  headers: { ...FORM, authorization: basic(client) },
  body: form({ grant_type: 'refresh_token', refresh_token: '{}' }),
});

/** The request of a machine for a token of this kind. */
export const machineRequest = (client: Client, kind: Kind, path = '/token'): Shot => ({
  method: 'POST',
  path,
  headers: { ...FORM, authorization: basic(client) },
  body: form({ grant_type: 'client_credentials', scope: 'jobs:read', resource: resourceOf(kind) }),
});
