/** Messages that two readers of HTTP would understand in two ways, over real connections. */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT } from '../../src/protocol/client.ts';
import { listenForScrapes } from '../../src/http/metrics.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aDevice, aService, credentials, postForm, someTokens, type AClient } from '../support/fixtures.ts';
import { basic, formOf } from '../support/oauth.ts';
import { refusalOf } from '../support/refusals.ts';

let at: TestApp;
let port: number;
let client: AClient;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = at.app.server.address() as { port: number });
  client = await aService(at);
});
afterAll(() => at.close());

interface Answer {
  status: number;
  head: string;
  body: string;
}

/** Sends a message as it stands, and reads the answer until the connection ends. */
function send(start: string, headers: readonly string[], payload: string | Buffer = '', to = port): Promise<Answer> {
  const length = Buffer.byteLength(payload);
  const head = [
    `${start} HTTP/1.1`,
    ...headers,
    'Connection: close',
    ...(length > 0 ? [`Content-Length: ${length}`] : []),
  ];
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(to, '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(payload);
    });
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => {
      const [before = '', body = ''] = text.split('\r\n\r\n', 2);
      resolve({ status: Number(before.split(' ')[1]), head: before, body });
    });
  });
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const HOST = 'Host: id.example.test';
/** A door of each kind: clients, people, operators, and what stands at none. */
const DOORS = [
  '/jwks',
  '/userinfo',
  '/authorize?client_id=x',
  '/login',
  '/admin/v1/users',
  '/livez',
  '/readyz',
  '/nothing',
];

describe('RFC 9112 §3.2: a request has one Host', () => {
  test.each(DOORS)('%s with two is 400, whether they differ or not, in any case', async (url) => {
    for (const second of ['Host: id.example.test', 'hOST: evil.example']) {
      const answer = await send(`GET ${url}`, [HOST, second]);
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('host came twice')]);
    }
    expect((await send(`GET ${url}`, [])).status).toBe(400);
  });

  test.each([
    'a b',
    'user@id.example.test',
    'id.example.test/',
    'id.example.test, evil.example',
    'a:b:c',
    '[::1',
    'a:123456',
  ])('with the value %s it is 400', async (value) => {
    expect((await send('GET /jwks', [`Host: ${value}`])).status).toBe(400);
  });

  test.each(['id.example.test', 'id.example.test:8080', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST', ''])(
    'with the value %j it is answered',
    async (value) => {
      expect((await send('GET /jwks', [`Host: ${value}`])).status).toBe(200);
    },
  );

  test('also at the listener of the metrics', async () => {
    const listener = await listenForScrapes(at.deps, { host: '127.0.0.1', port: 0 });
    const headers = ['Host: 127.0.0.1', 'Host: 127.0.0.1'];
    const [one, two] = [headers.slice(1), headers].map((sent) => send('GET /metrics', sent, '', listener.port));
    expect([(await one!).status, (await two!).status]).toEqual([200, 400]);
    await listener.close();
  });

  test('the refusal is in the form of the door, and can be explained', async () => {
    const page = await send('GET /login', [HOST, HOST, 'Accept: text/html']);
    expect(page.head).toContain('text/html');
    const problem = await send('GET /admin/v1/users', [HOST, HOST]);
    expect(problem.head).toContain('application/problem+json');
    // Of so many in a minute only some are kept.
    at.clock.advance(60);
    const token = await send('POST /token', [HOST, HOST, FORM], 'grant_type=x');
    expect(JSON.parse(token.body)).toMatchObject({ error: 'invalid_request' });
    const id = /^x-request-id: (.+)$/im.exec(token.head)![1]!.trim();
    expect(await refusalOf(at, { headers: { 'x-request-id': id } })).toMatchObject({ check: 'http', status: 400 });
  });
});

describe('RFC 9110 §5.3: of a header that is no list there is one', () => {
  const form = (): string => formOf({ grant_type: 'client_credentials' });

  test('two Authorization headers are 400 at every door, and the first of them counts for nothing', async () => {
    const twice = [HOST, FORM, `Authorization: ${basic(client)}`, 'authorization: Basic eDp5'];
    for (const url of ['/token', '/introspect', '/revoke', '/par', '/device_authorization', '/userinfo']) {
      const answer = await send(`POST ${url}`, twice, form());
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { error: 'invalid_request' }]);
    }
    const bearer = [HOST, 'Authorization: Bearer a', 'Authorization: Bearer a'];
    for (const url of ['/userinfo', '/register/x', '/admin/v1/users']) {
      expect((await send(`GET ${url}`, bearer)).status, url).toBe(400);
    }
    expect((await send('POST /token', twice.slice(0, 3), form())).status).toBe(200);
  });

  test('two Content-Types are 400', async () => {
    const headers = [HOST, FORM, 'Content-Type: application/json', `Authorization: ${basic(client)}`];
    expect((await send('POST /token', headers, form())).status).toBe(400);
  });
});

describe('RFC 9110 §15.5.16: a body that is coded is 415', () => {
  const body = Buffer.from(formOf({ grant_type: 'client_credentials' }));
  test.each(['gzip', 'br', 'deflate', 'x-made-up', 'gzip, identity', 'identity, gzip'])('%s', async (coding) => {
    const headers = [HOST, FORM, `Authorization: ${basic(client)}`, `Content-Encoding: ${coding}`];
    for (const payload of [gzipSync(body), body]) {
      const answer = await send('POST /token', headers, payload);
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([415, { error: 'invalid_request' }]);
      expect(answer.head).toMatch(/^accept-encoding: identity\r?$/im);
    }
  });

  test('at every door, in its own form', async () => {
    for (const url of ['/login', '/authorize', '/register', '/par', '/admin/v1/clients', '/readyz', '/nothing']) {
      expect((await send(`POST ${url}`, [HOST, FORM, 'Content-Encoding: gzip'], gzipSync(body))).status, url).toBe(415);
    }
    const problem = await send('POST /admin/v1/clients', [HOST, 'Content-Encoding: gzip'], gzipSync(body));
    expect(problem.head).toContain('application/problem+json');
  });

  test('identity is no coding', async () => {
    for (const coding of ['identity', 'Identity', '']) {
      const headers = [HOST, FORM, `Authorization: ${basic(client)}`, `Content-Encoding: ${coding}`];
      expect((await send('POST /token', headers, body)).status).toBe(200);
    }
  });
});

describe('RFC 6749 §5.2: where a grant belongs, a token of another kind or anything of any length is invalid_grant', () => {
  test.each([
    ['code', 'authorization_code'],
    ['refresh_token', 'refresh_token'],
    ['device_code', DEVICE_GRANT],
  ])('as %s', async (parameter, grant_type) => {
    const holder = parameter === 'device_code' ? await aDevice(at) : await aClient(at);
    const [jwts, opaque] = [
      (await someTokens(at)).tokens,
      (await someTokens(at, { client: await aClient(at, { access_token_format: 'opaque' }) })).tokens,
    ];
    for (const sent of [jwts.access_token, jwts.id_token, opaque.access_token, 'x'.repeat(60_000), 'a.b.c', ' ']) {
      const fields = { grant_type, [parameter]: sent, redirect_uri: holder.redirect_uri };
      const answer = await postForm(at, '/token', { ...credentials(holder), ...fields });
      expect([answer.statusCode, answer.json()], sent.slice(0, 30)).toMatchObject([400, { error: 'invalid_grant' }]);
    }
  });
});
