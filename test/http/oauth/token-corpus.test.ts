/** Every parameter of /token, malformed in every way: an exact refusal, never a 5xx, and nothing spent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT, GRANT_TYPES, type GrantType } from '../../../src/protocol/client.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aDevice, aService, credentials, type AClient } from '../../support/fixtures.ts';
import {
  aTokenRequest,
  basicOf,
  expectRefusal,
  formOf,
  postRaw as postFrom,
  type ATokenRequest,
} from '../../support/oauth.ts';

const PARAMETERS = {
  authorization_code: ['code', 'redirect_uri', 'code_verifier', 'resource'],
  refresh_token: ['refresh_token', 'scope', 'resource'],
  client_credentials: ['scope', 'resource'],
  [DEVICE_GRANT]: ['device_code', 'resource'],
} as const satisfies Record<GrantType, readonly string[]>;
const OPTIONAL = new Set<string>(['scope', 'resource']);
const SHARED = ['grant_type', 'client_id', 'client_secret'] as const;
type Parameter = (typeof SHARED)[number] | (typeof PARAMETERS)[GrantType][number];

let at: TestApp;
let clients: Record<GrantType, AClient>;
/** One request of each grant for the whole corpus: none of it may spend what they stand for. */
let requests: Record<GrantType, ATokenRequest>;
beforeAll(async () => {
  at = await testApp();
  const web = await aClient(at);
  clients = {
    authorization_code: web,
    refresh_token: web,
    client_credentials: await aService(at),
    [DEVICE_GRANT]: await aDevice(at),
  };
  requests = {
    authorization_code: await aTokenRequest(at, 'authorization_code', { client: web }),
    refresh_token: await aTokenRequest(at, 'refresh_token', { client: web }),
    client_credentials: await aTokenRequest(at, 'client_credentials', { client: clients.client_credentials }),
    [DEVICE_GRANT]: await aTokenRequest(at, DEVICE_GRANT, { client: clients[DEVICE_GRANT] }),
  };
});
afterAll(async () => {
  await at.close();
});

let addresses = 0;
/** Each from a network of its own: what is guessed here would soon be throttled, which other tests look at. */
function postRaw(test: TestApp, path: string, body: string, headers: Record<string, string> = {}) {
  addresses += 1;
  return postFrom(test, path, body, headers, `10.${addresses >> 8}.${addresses & 255}.1`);
}

/** The request with one parameter replaced by raw text, `name=value` and all. */
function withRaw({ client, fields }: ATokenRequest, name: string, raw: string): string {
  const rest = new URLSearchParams(formOf({ ...fields, ...credentials(client) }));
  rest.delete(name);
  return `${rest.toString()}&${raw}`;
}

/** Values no parser of forms accepts: all are invalid_request before anything else is looked at. */
const UNREADABLE: Record<string, string> = {
  'a null byte': 'a%00b',
  'a control character': 'a%1Bb',
  DEL: 'a%7Fb',
  'overlong UTF-8': '%C0%AF',
  'a lone surrogate': '%ED%A0%80',
  'a byte that is not UTF-8': '%FF',
  'an invalid percent escape': '%zz',
  'a bare percent': '100%',
  'raw UTF-8': 'ü',
};

describe.each(GRANT_TYPES)('grant_type=%s', (grant_type) => {
  const names: Parameter[] = [...SHARED, ...PARAMETERS[grant_type]];

  test.each(names)('RFC 6749 §3.2: %s that cannot be read is invalid_request', async (name) => {
    for (const [what, value] of Object.entries(UNREADABLE)) {
      const answer = await postRaw(at, '/token', withRaw(requests[grant_type], name, `${name}=${value}`));
      expect(answer.statusCode, what).toBe(400);
      expectRefusal(answer, 400, 'invalid_request');
    }
  });

  test.each(names.filter((name) => name !== 'resource'))(
    'RFC 6749 §3.2: %s sent twice is invalid_request, the same value, an empty one or another',
    async (name) => {
      const value = requests[grant_type].fields[name] ?? 'x';
      for (const twice of [
        [value, value],
        ['', value],
        [value, 'other'],
      ]) {
        const raw = twice.map((text) => formOf({ [name]: text })).join('&');
        expectRefusal(await postRaw(at, '/token', withRaw(requests[grant_type], name, raw)), 400, 'invalid_request');
      }
    },
  );

  test.each(names)('a body over 64 KiB because of %s is 413, and its connection closed', async (name) => {
    const answer = await postRaw(at, '/token', withRaw(requests[grant_type], name, `${name}=${'a'.repeat(65_536)}`));
    expectRefusal(answer, 413, 'invalid_request');
    expect(answer.headers['connection']).toBe('close');
  });

  test.each(names)('%s of 60 KiB is refused in at most 100 ms of work', async (name) => {
    for (const character of ['a', '.', '%20', '%C3%A4']) {
      const raw = `${name}=${character.repeat(Math.floor(60_000 / character.length))}`;
      const start = process.threadCpuUsage();
      const answer = await postRaw(at, '/token', withRaw(requests[grant_type], name, raw));
      expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(100);
      expect([400, 401]).toContain(answer.statusCode);
      expect(answer.json<{ error: string }>().error).toMatch(/^invalid_/);
    }
  });

  test.each(names.filter((name) => !OPTIONAL.has(name)))(
    '%s as an array, a path or an object is another parameter, and so is missing',
    async (name) => {
      for (const raw of [`${name}[]=x`, `${name}[0]=x`, `${name}.x=y`, `${name}%5B%5D=x`]) {
        const answer = await postRaw(at, '/token', withRaw(requests[grant_type], name, raw));
        const missing = await postRaw(at, '/token', withRaw(requests[grant_type], name, ''));
        expect(answer.statusCode).toBeGreaterThanOrEqual(400);
        expect(answer.statusCode).toBeLessThan(500);
        expect(answer.body).toBe(missing.body);
      }
    },
  );

  const wrong: Record<Parameter, [value: string, status: number, error: string]> = {
    grant_type: ['x'.repeat(201), 400, 'invalid_request'],
    client_id: ['ü ü', 401, 'invalid_client'],
    client_secret: ['ü ü', 401, 'invalid_client'],
    code: ['x'.repeat(513), 400, 'invalid_grant'],
    refresh_token: ['x'.repeat(513), 400, 'invalid_grant'],
    redirect_uri: [`https://app.example.test/${'x'.repeat(2000)}`, 400, 'invalid_request'],
    code_verifier: ['ü'.repeat(43), 400, 'invalid_request'],
    resource: ['no uri', 400, 'invalid_target'],
    device_code: ['x'.repeat(513), 400, 'invalid_grant'],
    scope: ['"', 400, 'invalid_scope'],
  };
  test.each(names)('RFC 6749 §5.2: %s that has the wrong form has its exact error', async (name) => {
    const [value, status, error] = wrong[name];
    const body = withRaw(requests[grant_type], name, formOf({ [name]: value }));
    expectRefusal(await postRaw(at, '/token', body), status, error);
  });

  test('more than 200 parameters are invalid_request', async () => {
    const many = Array.from({ length: 201 }, (_, index) => `p${index}=1`).join('&');
    expectRefusal(await postRaw(at, '/token', withRaw(requests[grant_type], '', many)), 400, 'invalid_request');
  });

  test.each([
    ['application/json', 415],
    ['application/json; charset=utf-8', 415],
    ['multipart/form-data; boundary=x', 415],
    ['text/plain', 415],
    ['application/xml', 415],
    ['application/x-www-form-urlencoded; charset=utf-16', 400],
    ['application/x-www-form-urlencoded; charset=utf-7', 400],
    ['application/x-www-form-urlencoded; charset=utf-8; x=y', 400],
    ['application/x-www-form-urlencoded, application/json', 415],
    ['application/x-www-form-urlencoded;', 400],
    ['application/x-www-form-urlencodedx', 415],
    ['x application/x-www-form-urlencoded', 415],
    ['application', 415],
  ])('specification §Endpoints 2: content type application/x-www-form-urlencoded: %s is %i', async (type, status) => {
    const { client, fields } = requests[grant_type];
    const form = formOf({ ...fields, ...credentials(client) });
    const answer = await postRaw(at, '/token', form, { 'content-type': type });
    expectRefusal(answer, status, 'invalid_request');
    const json = JSON.stringify({ ...fields, ...credentials(client) });
    const asJson = await postRaw(at, '/token', json, { 'content-type': type });
    expectRefusal(asJson, status, 'invalid_request');
  });

  test('specification §Endpoints 2: a body without a content type is refused', async () => {
    const { client, fields } = requests[grant_type];
    const payload = formOf({ ...fields, ...credentials(client) });
    const answer = await at.app.inject({ method: 'POST', url: '/token', payload });
    expect([400, 415]).toContain(answer.statusCode);
    expect(answer.json()).toMatchObject({ error: 'invalid_request' });
    expectRefusal(await at.app.inject({ method: 'POST', url: '/token' }), 400, 'invalid_request');
  });

  test('the corpus spent nothing, and the content type may be written in any case, with charset utf-8', async () => {
    const { client, fields } = requests[grant_type];
    const form = formOf({ ...fields, ...credentials(client) });
    const type = 'Application/X-WWW-Form-Urlencoded; Charset="UTF-8"';
    const answer = await postRaw(at, '/token', form, { 'content-type': type });
    expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  });
});

test.each([
  ['a null byte in the name', 'a\0b:secret'],
  ['a null byte in the secret', 'name:sec\0ret'],
  ['an encoded null byte', 'a%00b:secret'],
  ['an encoded null byte in the secret', 'name:%00'],
  ['control characters', 'a\r\nb:c\x1b'],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x3a, 0xff])],
  ['overlong UTF-8', Buffer.from([0xc0, 0x80, 0x3a, 0xc0, 0x80])],
  ['a lone surrogate', '%ED%A0%80:x'],
  ['a bare percent', '100%:x'],
  ['no name', ':secret'],
  ['nothing', ':'],
  ['a long name', `${'a'.repeat(5000)}:x`],
  ['a long secret', `a:${'x'.repeat(9000)}`],
])('RFC 6749 §2.3.1: HTTP Basic with %s is 401 invalid_client, never a 5xx', async (_what, text) => {
  const headers = { authorization: basicOf(text) };
  expectRefusal(await postRaw(at, '/token', 'grant_type=client_credentials', headers), 401, 'invalid_client');
  expectRefusal(await postRaw(at, '/introspect', 'token=x', headers), 401, 'invalid_client');
  expectRefusal(await postRaw(at, '/revoke', 'token=x', headers), 401, 'invalid_client');
});

test.each(['introspect', 'revoke'])('RFC 7662 §2.1, RFC 7009 §2.1: /%s reads its form as strictly', async (path) => {
  const own = formOf(credentials(clients.authorization_code));
  for (const value of Object.values(UNREADABLE)) {
    expectRefusal(await postRaw(at, `/${path}`, `${own}&token=${value}`), 400, 'invalid_request');
  }
  for (const raw of ['', 'token=', 'token[]=x', 'token=a&token=b', 'token_type_hint=access_token']) {
    expectRefusal(await postRaw(at, `/${path}`, `${own}&${raw}`), 400, 'invalid_request');
  }
  expectRefusal(await postRaw(at, `/${path}`, `${own}&token=${'a'.repeat(65_536)}`), 413, 'invalid_request');
  const answer = await postRaw(at, `/${path}`, `${own}&token=x`, { 'content-type': 'application/json' });
  expectRefusal(answer, 415, 'invalid_request');
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
    const refused = await at.app.inject({ method, url: `/${path}?${own}&token=x` });
    expect(refused.statusCode).toBe(405);
    expect(refused.headers['allow']).toBe('POST');
  }
});
