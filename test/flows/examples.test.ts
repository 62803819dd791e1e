/** The examples of docs/connecting-an-app.md and docs/clients.md that are servers, run with the libraries as they come. */
import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose';
import { auth, discoverAuthorizationServerMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putResource, putScope } from '../../src/clients/scopes.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp } from '../support/app.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { examplesFor, exampleNames, type Example, type Examples } from '../support/examples.ts';
import { aService, aUser, BY, credentials, postForm } from '../support/fixtures.ts';
import { until } from '../support/postgres-process.ts';
import { freePort } from '../support/server.ts';
import { formTokenIn, Visitor } from '../support/visitor.ts';

/** Shorter than the minute before its end in which the examples refresh a token: they do it at every use. */
const TTL = { ACCESS_TOKEN_TTL: '60' };
/** As the recipe for Model Context Protocol has it. */
const [, REGISTRATION_SCOPE = ''] = /REGISTRATION=open REGISTRATION_SCOPE="(.*)" npm start/.exec(
  readFileSync('docs/clients.md', 'utf8'),
)!;
const REGISTRATION = { REGISTRATION: 'open', REGISTRATION_SCOPE };
const SERVERS = [
  'openid-client',
  'fastify',
  'auth-js',
  'express-openid-connect',
  'passport',
  'simple-oauth2',
  'arctic',
  'mcp-server',
];
const MODULES = ['jose', 'mcp-client'];
const PAGES = ['oidc-client-ts', 'react-oidc-context'];

let deployment: Deployment;
let examples: Examples;
let saved: Map<string, Example>;
let person: { username: string; sub: string };
stopServersAfterwards();
beforeAll(async () => {
  const port = await freePort();
  const notified = `localhost:${port}`;
  deployment = await deploy({
    env: { ...TTL, ...REGISTRATION, OUTBOUND_ALLOW: notified },
    prepare: async ({ deps, clock }) => {
      const scope = { description: 'Read your notes', for_people: true, for_machines: true };
      await transact(deps.db, (trx) => putScope(trx, 'notes:read', scope, BY, clock.now()));
    },
  });
  const { username, sub } = await aUser(deployment.test);
  person = { username, sub };
  examples = examplesFor(deployment);
  const particular: Record<string, Parameters<Examples['save']>[1]> = {
    'auth-js': { paths: ['/auth/callback/postern'] },
    'express-openid-connect': { port, backchannel_logout_uri: `http://${notified}/backchannel-logout` },
  };
  const list = await Promise.all([...SERVERS, ...MODULES].map((name) => examples.save(name, particular[name])));
  saved = new Map(list.map((example) => [example.name, example]));
  const { deps, clock } = deployment.test;
  // Before the first request: the server reads resources now and then only.
  const notes = { name: 'Notes for assistants', scope: ['notes:read'] };
  await transact(deps.db, (trx) =>
    putResource(trx, deps, `${saved.get('mcp-server')!.origin}/mcp`, notes, BY, clock.now()),
  );
  await examples.run(list.filter(({ name }) => SERVERS.includes(name)));
});
afterAll(() => examples?.close());

test('every example that is marked to be tried is tried', () => {
  expect(exampleNames).toEqual([...SERVERS, ...MODULES, ...PAGES].toSorted());
});

test('docs/clients.md names the versions that are tried', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >;
  const tried: Record<string, string> = {
    ...dependencies,
    ...devDependencies,
    'Auth.js': devDependencies['@auth/core']!,
  };
  const rows = [...readFileSync('docs/clients.md', 'utf8').matchAll(/^\| \[(\S+)\]\(\S+\) +\| (\d+\.\d+) /gm)];
  expect(rows).toHaveLength(10);
  for (const [, name, version] of rows) expect(tried[name!], name).toMatch(new RegExp(`^\\^?${version!}\\.`));
});

/** One person's browser, as far as one application is concerned: what they are shown at either place, and when. */
class Journey {
  readonly app: Visitor;
  readonly postern: Visitor;
  readonly client_id: string;

  constructor(name: string, postern = new Visitor(deployment.issuer)) {
    this.postern = postern;
    const { origin, client_id } = saved.get(name)!;
    this.app = new Visitor(origin);
    this.client_id = client_id;
  }

  /** Starts at a path of the application, signs in at Postern, and returns to what the callback answers. */
  async signIn(path = '/login', form?: Record<string, string>): Promise<{ sent: URL; status: number; to: string }> {
    const url = this.app.issuer + path;
    const start = await (form ? this.app.post(url, form) : this.app.get(url));
    const sent = new URL(start.headers.get('location') ?? `none:${start.status}`);
    const back = await this.postern.authorize(sent, person);
    const answer = await this.app.get(back.href);
    const to = new URL(answer.headers.get('location') ?? back.href, back).pathname;
    return { sent, status: answer.status, to };
  }

  async json(path: string): Promise<unknown> {
    const answer = await this.app.get(this.app.issuer + path);
    return answer.status === 200 ? answer.json() : answer.status;
  }

  /** How often its refresh tokens were used, and whether what it was granted is live. */
  async grant(): Promise<{ refreshed: number; live: boolean }> {
    const { db } = deployment.test.deps;
    const { client_id } = this;
    const grants = await db.selectFrom('grants').selectAll().where('client_id', '=', client_id).execute();
    const ids = grants.map((grant) => grant.grant_id);
    const used = await db
      .selectFrom('refresh_tokens')
      .selectAll()
      .where('grant_id', 'in', ids)
      .where('used_at', 'is not', null)
      .execute();
    return { refreshed: used.length, live: grants.every((grant) => grant.revoked_at === null) };
  }
}

const claims = () => ({
  sub: person.sub,
  name: 'Ada Lovelace',
  email: `${person.username}@example.test`,
  preferred_username: person.username,
});

describe('web applications', () => {
  test.each(['openid-client', 'fastify'])('%s signs a person in', async (name) => {
    const { app, postern } = new Journey(name);
    const sent = await app.get(`${app.issuer}/login`);
    const answer = await postern.authorize(sent.headers.get('location')!, person);
    const page = await app.get(answer.href);
    expect(await page.json()).toMatchObject(claims());
  });

  test('Auth.js signs a person in with PKCE, state and nonce, and finds name and email in the ID token', async () => {
    const journey = new Journey('auth-js');
    const { csrfToken } = (await journey.json('/auth/csrf')) as { csrfToken: string };
    const { sent, status, to } = await journey.signIn('/auth/signin/postern', { csrfToken });
    expect([...sent.searchParams.keys()]).toEqual(expect.arrayContaining(['code_challenge', 'state', 'nonce']));
    expect([status, to]).toEqual([302, '/']);
    const { name, email } = claims();
    expect(await journey.json('/auth/session')).toMatchObject({ user: { id: person.sub, name, email } });
    await journey.app.post(`${journey.app.issuer}/auth/signout`, { csrfToken });
    expect(await journey.json('/auth/session')).toBeNull();
  });

  test('express-openid-connect signs a person in, asks userinfo, refreshes, and signs out at both places', async () => {
    const journey = new Journey('express-openid-connect');
    const { sent } = await journey.signIn();
    expect(sent.searchParams.get('response_type')).toBe('code');
    expect(await journey.json('/')).toMatchObject(claims());
    expect(await journey.json('/me')).toMatchObject(claims());
    expect(await journey.json('/me')).toMatchObject(claims());
    expect(await journey.grant()).toEqual({ refreshed: 2, live: true });
    const { app, postern } = journey;
    const left = await app.get(`${app.issuer}/logout`);
    const ended = await postern.get(left.headers.get('location')!);
    expect([ended.status, ended.headers.get('location')]).toEqual([302, `${app.issuer}/`]);
    expect(await journey.json('/')).toBeNull();
    expect(await journey.grant()).toMatchObject({ live: false });
  });

  test('passport-openidconnect signs a person in without PKCE, asks userinfo, and signs out at both places', async () => {
    const journey = new Journey('passport');
    const { sent, to } = await journey.signIn();
    expect(sent.searchParams.has('nonce') && !sent.searchParams.has('code_challenge')).toBe(true);
    expect(to).toBe('/');
    const { sub: id, name, email } = claims();
    expect(await journey.json('/')).toEqual({ id, name, email });
    const { app, postern } = journey;
    const left = await app.get(`${app.issuer}/logout`);
    const ended = await postern.get(left.headers.get('location')!);
    expect([ended.status, ended.headers.get('location')]).toEqual([302, `${app.issuer}/`]);
    expect(await journey.json('/')).toBeNull();
    expect(await journey.grant()).toMatchObject({ live: false });
  });

  test('Back-Channel Logout: who signs out at one application is signed out of express-openid-connect', async () => {
    const told = new Journey('express-openid-connect');
    await told.signIn();
    expect(await told.json('/')).toMatchObject(claims());
    const left = new Journey('passport', told.postern);
    await left.signIn();
    const away = await left.app.get(`${left.app.issuer}/logout`);
    expect((await left.postern.get(away.headers.get('location')!)).status).toBe(302);
    await expect.poll(() => told.json('/'), { timeout: 10_000 }).toBeNull();
  });

  test.each(['simple-oauth2', 'arctic'])('%s signs a person in with PKCE, refreshes, and revokes', async (name) => {
    const journey = new Journey(name);
    const { sent, to } = await journey.signIn();
    expect(sent.searchParams.get('code_challenge_method')).toBe('S256');
    expect(to).toBe('/me');
    expect(await journey.json('/me')).toMatchObject(claims());
    expect(await journey.json('/me')).toMatchObject(claims());
    expect(await journey.grant()).toEqual({ refreshed: 2, live: true });
    expect(await journey.json('/logout')).toBeNull();
    expect(await journey.grant()).toMatchObject({ live: false });
    expect(await journey.json('/me')).toBe(302);
  });

  test.each(['express-openid-connect', 'passport', 'simple-oauth2', 'arctic'])(
    '%s does not take an answer that this browser did not ask for',
    async (name) => {
      const theirs = new Journey(name);
      const start = await theirs.app.get(`${theirs.app.issuer}/login`);
      const back = await theirs.postern.authorize(start.headers.get('location')!, person);
      const mine = new Journey(name);
      await mine.app.get(`${mine.app.issuer}/login`);
      const answer = await mine.app.get(back.href);
      const to = answer.headers.get('location') ?? String(answer.status);
      expect(to).toMatch(/^(?:4\d\d|\/login)$/);
    },
  );
});

describe('Model Context Protocol', () => {
  interface McpClient {
    connect(serverUrl: string, open: (url: URL) => void): Promise<Client>;
    provider(open: (url: URL) => void): Omit<OAuthClientProvider, 'tokens'> & { tokens(): Record<string, string> };
  }

  test('its SDK registers, signs in for its resource, calls a tool, refreshes, and is refused for another', async () => {
    const resource = `${saved.get('mcp-server')!.origin}/mcp`;
    const { connect, provider } = (await import(saved.get('mcp-client')!.file)) as McpClient;

    const service = await aService(deployment.test);
    const elsewhere = { grant_type: 'client_credentials', ...credentials(service) };

    const visits: URL[] = [];
    const visit = async (url: URL): Promise<void> => {
      const back = await new Visitor(deployment.issuer).authorize(url, person);
      const returned = () =>
        fetch(back).then(
          () => true,
          () => false,
        );
      await until('the client listens', returned);
    };
    const open = (url: URL): void => {
      visits.push(url);
      void visit(url);
    };
    const client = await connect(resource, open);
    const called = await client.callTool({ name: 'whoami' });
    expect(called.content).toEqual([{ type: 'text', text: person.sub }]);
    const [sent] = visits;
    expect(sent!.searchParams.get('resource')).toBe(resource);
    expect(sent!.searchParams.get('scope')).toBe('notes:read');

    const first = provider(open).tokens();
    expect(decodeJwt(first['access_token']!)).toMatchObject({ aud: resource, scope: 'notes:read', sub: person.sub });
    expect(await auth(provider(open) as unknown as OAuthClientProvider, { serverUrl: resource })).toBe('AUTHORIZED');
    const second = provider(open).tokens();
    expect(second['refresh_token']).not.toBe(first['refresh_token']);
    expect(decodeJwt(second['access_token']!)).toMatchObject({ aud: resource });
    expect(visits).toHaveLength(1);
    await client.close();

    const { access_token } = (await postForm(deployment.test, '/token', elsewhere)).json<Record<string, string>>();
    const headers = { authorization: `Bearer ${access_token}` };
    const refused = await fetch(resource, { method: 'POST', headers });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('unexpected "aud" claim value');
  });

  test('a client that asks for offline_access goes on after the person has signed out', async () => {
    const resource = `${saved.get('mcp-server')!.origin}/mcp`;
    const kept: { client?: OAuthClientInformationFull; tokens?: OAuthTokens; verifier?: string; to?: URL } = {};
    const provider: OAuthClientProvider = {
      redirectUrl: 'http://localhost:8090/callback',
      clientMetadata: {
        redirect_uris: ['http://localhost:8090/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => void (kept.client = client as OAuthClientInformationFull),
      tokens: () => kept.tokens,
      saveTokens: (tokens) => void (kept.tokens = tokens),
      codeVerifier: () => kept.verifier!,
      saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
      redirectToAuthorization: (url) => void (kept.to = url),
    };
    const serverUrl = resource;
    expect(await auth(provider, { serverUrl, scope: 'notes:read offline_access' })).toBe('REDIRECT');
    const visitor = new Visitor(deployment.issuer);
    const back = await visitor.authorize(kept.to!, person);
    const authorizationCode = back.searchParams.get('code')!;
    expect(await auth(provider, { serverUrl, authorizationCode })).toBe('AUTHORIZED');
    expect(kept.tokens!.scope).toBe('notes:read offline_access');
    const page = await (await visitor.get(`${deployment.issuer}/logout`)).text();
    await visitor.post(`${deployment.issuer}/logout`, { form_token: formTokenIn(page), action: 'logout' });
    expect((await visitor.get(`${deployment.issuer}/account`)).status).not.toBe(200);
    const { access_token } = kept.tokens!;
    expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED');
    expect(kept.tokens!.access_token).not.toBe(access_token);
  });

  test('the SDK finds an issuer with a path at each of the three places it looks', async () => {
    const issuer = 'https://id.example.test/tenant';
    const { app, close } = await testApp({ config: { ISSUER: issuer } });
    const tried: string[] = [];
    const found = await Promise.all(
      [0, 1, 2].map((skipped) => {
        let count = 0;
        return discoverAuthorizationServerMetadata(issuer, {
          fetchFn: async (input, init) => {
            const { pathname, host } = new URL(String(input));
            if (count++ < skipped) return new Response(null, { status: 404 });
            tried.push(pathname);
            const headers = { host, ...(init?.headers as Record<string, string>) };
            const { statusCode, body } = await app.inject({ url: pathname, headers });
            return new Response(body, { status: statusCode });
          },
        });
      }),
    );
    await close();
    expect(found.map((metadata) => metadata?.issuer)).toEqual([issuer, issuer, issuer]);
    expect(tried.toSorted()).toEqual([
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ]);
  });
});

test('jose verifies an access token for the API, and nothing else', async () => {
  const { test: app } = deployment;
  const resource = 'https://notes.example.test';
  await transact(app.deps.db, (trx) =>
    putResource(trx, app.deps, resource, { name: 'Notes API' }, BY, app.clock.now()),
  );
  app.deps.directory.clear();
  const service = await aService(app);
  const { verify } = (await import(saved.get('jose')!.file)) as { verify(token: unknown): Promise<object> };
  const token = async (fields: Record<string, string>): Promise<unknown> => {
    const form = { grant_type: 'client_credentials', ...credentials(service), ...fields };
    return (await postForm(app, '/token', form)).json<Record<string, unknown>>()['access_token'];
  };
  expect(await verify(await token({ resource }))).toMatchObject({
    sub: service.client_id,
    scope: 'jobs:read jobs:write',
  });
  await expect(verify(await token({}))).rejects.toThrow('aud');
});
