/** Request objects that clients publish: fetched from registered addresses, guarded and bounded, and kept for a while. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as jose from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  asOfBefore,
  aUser,
  credentials,
  postForm,
  signIn,
  type TestBrowser,
} from '../support/fixtures.ts';
import { REDIRECT_URI } from '../support/fixtures.ts';
import { answerTo, expectErrorPage } from '../support/pages.ts';

let at: TestApp;
let server: Server;
let host: string;
let key: jose.JWK;
let browser: TestBrowser;
let client: AClient;
let uri: string;
let files = 0;
/** What was fetched, and what is answered. */
let fetched: string[] = [];
let answer: RequestListener;
let object: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    fetched.push(request.url!);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  at = await testApp({ config: { OUTBOUND_ALLOW: [host] } });
  const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
  key = { ...(await jose.exportJWK(privateKey)), kid: 'one' };
  browser = await signIn(at, await aUser(at));
});
afterAll(async () => {
  server.close();
  await at.close();
});

const aPublisher = (metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> => {
  const { d: _d, ...jwk } = key;
  return aClient(at, { skip_consent: true, jwks: { keys: [{ ...jwk, kty: 'EC' }] }, ...metadata });
};

/** An object of a client, without times so that it can be kept. */
const objectOf = ({ client_id }: AClient, state = 'published'): Promise<string> =>
  new jose.SignJWT({ client_id, response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'openid', state })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(key);

const serve =
  (text: string, type = 'application/oauth-authz-req+jwt', status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type }).end(text);

// A file of its own for each test: what was fetched before is remembered.
beforeEach(async () => {
  uri = `http://${host}/file${(files += 1)}.jwt`;
  client = await aPublisher({ request_uris: [uri] });
  object = await objectOf(client);
  answer = serve(object);
  fetched = [];
});

const open = (request_uri: string, by = client, more = '') =>
  browser.get(`/authorize?client_id=${by.client_id}&request_uri=${encodeURIComponent(request_uri)}${more}`);
const stateOf = async (request_uri: string): Promise<string | undefined> =>
  answerTo(client, await open(request_uri))['state'];

test('RFC 9101 §5.2: the object at a registered request_uri is the request, and what stands outside counts for nothing', async () => {
  const given = answerTo(client, await open(uri, client, '&state=outer&redirect_uri=https://evil.example/cb'));
  expect(given).toEqual({ code: expect.any(String), state: 'published', iss: 'https://id.example.test' });
  expect(fetched).toEqual([new URL(uri).pathname]);
});

test('RFC 9101 §6.1: it may be encrypted', async () => {
  const jwks = (await at.app.inject('/jwks')).json<{ keys: jose.JWK[] }>().keys;
  const jwk = jwks.find(({ alg }) => alg === 'ECDH-ES')!;
  client = await aPublisher({ request_uris: [uri], request_object_encryption_alg: 'ECDH-ES' });
  const jwe = await new jose.CompactEncrypt(Buffer.from(await objectOf(client)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128CBC-HS256', kid: jwk.kid! })
    .encrypt(await jose.importJWK(jwk, 'ECDH-ES'));
  answer = serve(`${jwe}\n`, 'text/plain');
  expect(await stateOf(uri)).toBe('published');
});

test.each([
  ['at another path', () => `http://${host}/another.jwt`],
  ['with a query', () => `${uri}?more`],
  ['in other letters', () => uri.replace('http:', 'HTTP:')],
  ['of another host', () => 'https://evil.example/file.jwt'],
  ['inside this machine', () => 'http://169.254.169.254/latest/meta-data'],
  ['of another scheme', () => 'file:///etc/passwd'],
  ['that is a URN, but not of ours', () => 'urn:example:request'],
  ['that is no URI', () => 'file1.jwt'],
])('OpenID Connect Registration §2: a request_uri %s is refused, and nothing is fetched', async (_what, address) => {
  const refused = await open(address());
  expectErrorPage(refused, 'invalid_request_uri');
  const more = `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&state=outer`;
  expect(answerTo(client, await open(address(), client, more))).toMatchObject({
    error: 'invalid_request_uri',
    state: 'outer',
  });
  expect(fetched).toEqual([]);
});

test('RFC 9101 §5.2: a request_uri has at most 512 characters, and another client’s is not ours to use', async () => {
  expectErrorPage(await open(`${uri}#${'x'.repeat(512)}`));
  const other = await aPublisher();
  expectErrorPage(await open(uri, other), 'invalid_request_uri');
  expect(fetched).toEqual([]);
});

test('RFC 9126 §2.1: a request_uri cannot be pushed, registered or not', async () => {
  const pushed = await postForm(at, '/par', { ...credentials(client), request_uri: uri });
  expect(pushed.json()).toMatchObject({ error: 'invalid_request' });
  expect(fetched).toEqual([]);
});

test.each<[what: string, error: string, answer: () => RequestListener]>([
  ['404', 'invalid_request_uri', () => serve(object, 'application/jwt', 404)],
  [
    'a redirect to the object',
    'invalid_request_uri',
    () => (request, response) => {
      if (request.url === '/moved') return serve(object)(request, response);
      response.writeHead(302, { location: '/moved' }).end();
    },
  ],
  ['a page', 'invalid_request_uri', () => serve(object, 'text/html')],
  ['a JSON document', 'invalid_request_uri', () => serve(JSON.stringify({ object }), 'application/json')],
  ['more than 64 KiB', 'invalid_request_uri', () => serve(object + ' '.repeat(65_536))],
  [
    'a body without an end',
    'invalid_request_uri',
    () => (_request, response) => {
      response.writeHead(200);
      const more = (): void => void (response.destroyed || response.write('x'.repeat(16_384), more));
      more();
    },
  ],
  ['a connection that breaks', 'invalid_request_uri', () => (request) => request.socket.destroy()],
  ['nothing', 'invalid_request_object', () => serve('')],
  ['what is no JWT', 'invalid_request_object', () => serve('hello')],
  ['a JWT nobody signed', 'invalid_request_object', () => serve(new jose.UnsecuredJWT({}).encode())],
])('RFC 9101 §7: %s at the request_uri is %s', async (_what, error, listener) => {
  answer = listener();
  const page = await open(uri);
  expectErrorPage(page, error);
  expect(page.body).not.toContain(host);
  expect(fetched).toEqual([new URL(uri).pathname]);
});

test('a client that registered itself cannot make us fetch from inside our network', async () => {
  const own = await aPublisher({ request_uris: [uri] });
  await asOfBefore(at, own, { registered_by: 'self' });
  expectErrorPage(await open(uri, own), 'invalid_request_uri');
  expect(fetched).toEqual([]);
  // Nor does it get what was fetched for one whom an operator vouches for.
  const vouched = await aPublisher({ request_uris: [uri] });
  answer = serve(await objectOf(vouched));
  expect(answerTo(vouched, await open(uri, vouched))).toMatchObject({ state: 'published' });
  expectErrorPage(await open(uri, own), 'invalid_request_uri');
  expect(fetched).toHaveLength(1);
});

test('OpenID Connect Core §6.2: with a fragment it is kept, and a new fragment brings the new object', async () => {
  expect(await stateOf(`${uri}#one`)).toBe('published');
  answer = serve(await objectOf(client, 'changed'));
  at.clock.advance(240);
  expect(await stateOf(`${uri}#one`)).toBe('published');
  expect(fetched).toEqual([new URL(uri).pathname]);
  expect(await stateOf(`${uri}#two`)).toBe('changed');
  at.clock.advance(61);
  expect(await stateOf(`${uri}#one`)).toBe('changed');
  expect(fetched).toHaveLength(3);
});

test('without a fragment it may change at any time: it is fetched again after seconds', async () => {
  expect(await stateOf(uri)).toBe('published');
  answer = serve(await objectOf(client, 'changed'));
  expect(await stateOf(uri)).toBe('published');
  at.clock.advance(6);
  expect(await stateOf(uri)).toBe('changed');
  expect(fetched).toHaveLength(2);
});

test('made-up fragments and a broken address cause one fetch in five seconds', async () => {
  const fragments = await Promise.all(Array.from({ length: 10 }, (_, index) => open(`${uri}#made-up-${index}`)));
  for (const given of fragments) expect(answerTo(client, given)).toMatchObject({ state: 'published' });
  expect(fetched).toHaveLength(1);
  at.clock.advance(6);
  answer = serve('', 'text/plain', 500);
  const broken = await Promise.all(Array.from({ length: 10 }, () => open(uri)));
  for (const page of broken) expectErrorPage(page, 'invalid_request_uri');
  expect(fetched).toHaveLength(2);
});

test('what was answered for another fragment in those seconds is not kept under this one', async () => {
  expect(await stateOf(`${uri}#one`)).toBe('published');
  expect(await stateOf(`${uri}#two`)).toBe('published');
  answer = serve(await objectOf(client, 'changed'));
  at.clock.advance(6);
  expect(await stateOf(`${uri}#two`)).toBe('changed');
  expect(await stateOf(`${uri}#one`)).toBe('published');
});
