/** The same negative tests for all grants: what the shared phases refuse, whichever grant is asked for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT, GRANT_TYPES, type GrantType } from '../../src/protocol/client.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aDevice, aPublicClient, aService, credentials, type AClient } from '../support/fixtures.ts';
import {
  aTokenRequest,
  basic,
  basicOf,
  expectPrivate,
  expectRefusal,
  formOf,
  postRaw,
  send,
  type ATokenRequest,
} from '../support/oauth.ts';

let at: TestApp;
/** One client for people and one for itself: every request is made for one of these. */
let clients: Record<GrantType, AClient>;
beforeAll(async () => {
  at = await testApp();
  const web = await aClient(at);
  clients = {
    authorization_code: web,
    refresh_token: web,
    client_credentials: await aService(at),
    [DEVICE_GRANT]: await aDevice(at),
  };
});
afterAll(() => at.close());

const aRequest = (grant_type: GrantType): Promise<ATokenRequest> =>
  aTokenRequest(at, grant_type, { client: clients[grant_type] });

/** The refused request has spent nothing: made right, it is answered. */
async function stillGood(request: ATokenRequest): Promise<void> {
  const answer = await send(at, request);
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
}

describe.each(GRANT_TYPES)('grant_type=%s', (grant_type) => {
  test('specification §Resources: the answer has access_token, token_type Bearer, expires_in and scope (RFC 6749 §5.1)', async () => {
    const answer = await send(at, await aRequest(grant_type));
    expect(answer.statusCode).toBe(200);
    expectPrivate(answer);
    const body = answer.json<Record<string, unknown>>();
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600 });
    expect(typeof body['access_token']).toBe('string');
    expect(typeof body['scope']).toBe('string');
    expect(body['scope']).not.toBe('');
  });

  test('specification §Authentication 2: a confidential client authenticates in the body or with HTTP Basic', async () => {
    const request = await aRequest(grant_type);
    const headers = { authorization: basic(request.client) };
    expect((await postRaw(at, '/token', formOf(request.fields), headers)).statusCode).toBe(200);
    const again = await aRequest(grant_type);
    const { client_id } = again.client;
    const answer = await postRaw(at, '/token', formOf({ ...again.fields, client_id }), headers);
    expect(answer.statusCode).toBe(200);
  });

  test('specification §Errors: without the right client secret no tokens, and the grant is not spent', async () => {
    const request = await aRequest(grant_type);
    const wrong = await send(at, request, { client_secret: 'not the secret' });
    expectRefusal(wrong, 401, 'invalid_client');
    expect(wrong.headers['www-authenticate']).toBeUndefined();
    const missing = await send(at, request, { client_secret: undefined });
    expectRefusal(missing, 401, 'invalid_client');
    const empty = await send(at, request, { client_secret: '' });
    expectRefusal(empty, 401, 'invalid_client');
    await stillGood(request);
  });

  test('RFC 6749 §5.2: 401 invalid_client carries WWW-Authenticate: Basic when the header was used', async () => {
    const request = await aRequest(grant_type);
    const { client_id } = request.client;
    for (const authorization of [
      basicOf(`${client_id}:wrong`),
      basicOf(`nobody:wrong`),
      basicOf(client_id),
      basicOf(`${client_id}:`),
      'Basic',
      'Basic ****',
      'Bearer abc',
      'Digest username="x"',
    ]) {
      const answer = await postRaw(at, '/token', formOf(request.fields), { authorization });
      expectRefusal(answer, 401, 'invalid_client');
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="https:\/\/id\.example\.test"/);
    }
    await stillGood(request);
  });

  test('OpenID Connect Core §16.12: unknown client and wrong secret have byte-identical answers', async () => {
    const request = await aRequest(grant_type);
    const wrong = await send(at, request, { client_secret: 'not the secret' });
    const unknown = await send(at, request, { client_id: 'nobody', client_secret: 'not the secret' });
    const without = await send(at, request, { client_secret: undefined });
    const nobody = await send(at, request, { client_id: 'nobody', client_secret: undefined });
    const told = (answer: typeof wrong): unknown => {
      const { 'x-request-id': _id, date: _date, ...headers } = answer.headers;
      return { status: answer.statusCode, headers, body: answer.body };
    };
    expect(told(unknown)).toEqual(told(wrong));
    expect(told(without)).toEqual(told(wrong));
    expect(told(nobody)).toEqual(told(wrong));
    await stillGood(request);
  });

  test('RFC 6749 §2.3: two authentication methods in one request are invalid_request', async () => {
    const request = await aRequest(grant_type);
    const headers = { authorization: basic(request.client) };
    const body = formOf({ ...request.fields, ...credentials(request.client) });
    expectRefusal(await postRaw(at, '/token', body, headers), 400, 'invalid_request');
    const other = formOf({ ...request.fields, client_id: 'another' });
    expectRefusal(await postRaw(at, '/token', other, headers), 400, 'invalid_request');
    await stillGood(request);
  });

  test('RFC 6749 §2.3.1: no secret is accepted in the URI', async () => {
    const request = await aRequest(grant_type);
    const { client_id, client_secret } = request.client;
    const inUri = await postRaw(
      at,
      `/token?${formOf({ client_id, client_secret })}`,
      formOf({ ...request.fields, client_id }),
    );
    expectRefusal(inUri, 401, 'invalid_client');
    const whole = await postRaw(at, `/token?${formOf({ ...request.fields, client_id, client_secret })}`, '');
    expectRefusal(whole, 400, 'invalid_request');
    await stillGood(request);
  });

  test('RFC 6749 §2.3.1: parameters are never repeated, credentials least of all', async () => {
    const request = await aRequest(grant_type);
    const body = formOf({ ...request.fields, ...credentials(request.client) });
    for (const name of ['client_id', 'client_secret', 'grant_type']) {
      const value = new URLSearchParams(body).get(name)!;
      expectRefusal(await postRaw(at, '/token', `${body}&${formOf({ [name]: value })}`), 400, 'invalid_request');
    }
    await stillGood(request);
  });

  test('RFC 6749 §5.2: a client that is not registered for the grant gets unauthorized_client', async () => {
    const request = await aRequest(grant_type);
    const other =
      grant_type === 'client_credentials'
        ? await aClient(at)
        : grant_type === 'refresh_token'
          ? await aClient(at, { grant_types: ['authorization_code'] })
          : await aService(at);
    expectRefusal(await send(at, { ...request, client: other }), 400, 'unauthorized_client');
    await stillGood(request);
  });

  test('ASVS 10.4.4: the allowlist is asked before the parameters are, and after the client proved itself', async () => {
    const other = grant_type === 'client_credentials' ? await aClient(at) : await aService(at);
    expectRefusal(await send(at, { client: other, fields: { grant_type } }), 400, 'unauthorized_client');
    const wrong = { client: { ...other, client_secret: 'wrong' }, fields: { grant_type } };
    expectRefusal(await send(at, wrong), 401, 'invalid_client');
  });

  test('RFC 6749 §2.3: a public client that sends a secret, or Basic, is refused', async () => {
    const spa = await aPublicClient(at);
    const { fields } = await aRequest(grant_type);
    const withSecret = { client: { ...spa, client_secret: 'a secret it does not have' }, fields };
    expectRefusal(await send(at, withSecret), 401, 'invalid_client');
    const headers = { authorization: basicOf(`${spa.client_id}:`) };
    expectRefusal(await postRaw(at, '/token', formOf(fields), headers), 401, 'invalid_client');
  });

  test('RFC 6749 §5.2: no client at all is invalid_client', async () => {
    const { fields } = await aRequest(grant_type);
    const answer = await postRaw(at, '/token', formOf(fields));
    expectRefusal(answer, 401, 'invalid_client');
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expectRefusal(await postRaw(at, '/token', formOf({ ...fields, client_secret: 'x' })), 401, 'invalid_client');
  });

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const)(
    'RFC 6749 §3.2: %s is 405 with Allow: POST, whatever it carries',
    async (method) => {
      const request = await aRequest(grant_type);
      const form = formOf({ ...request.fields, ...credentials(request.client) });
      const answer = await at.app.inject({
        method,
        url: `/token?${form}`,
        ...(method === 'GET' || method === 'HEAD'
          ? {}
          : { payload: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      });
      expect(answer.statusCode).toBe(405);
      expect(answer.headers['allow']).toBe('POST');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.body).toMatch(method === 'HEAD' ? /^$/ : /^\{"error":"method_not_allowed"/);
      await stillGood(request);
    },
  );

  test('X-HTTP-Method-Override is ignored', async () => {
    const request = await aRequest(grant_type);
    const answer = await at.app.inject({
      method: 'GET',
      url: `/token?${formOf({ ...request.fields, ...credentials(request.client) })}`,
      headers: { 'x-http-method-override': 'POST' },
    });
    expect(answer.statusCode).toBe(405);
  });

  test('RFC 6749 §3.2: unrecognised parameters are ignored, __proto__ among them', async () => {
    const request = await aRequest(grant_type);
    const body = formOf({ ...request.fields, ...credentials(request.client), audience: 'x', 'code[]': 'y' });
    const answer = await postRaw(at, '/token', `${body}&__proto__=x&constructor=y&toString=z&hasOwnProperty=1`);
    expect(answer.statusCode).toBe(200);
  });
});

test.each([
  'password',
  'implicit',
  'urn:ietf:params:oauth:grant-type:saml2-bearer',
  'Authorization_Code',
  'authorization_code ',
  '__proto__',
  'constructor',
  'toString',
])(
  'RFC 6749 §5.2: grant_type=%s is unsupported_grant_type, for confidential and public clients',
  async (grant_type) => {
    const fields = { grant_type, username: 'ada', password: 'correct horse battery staple' };
    expectRefusal(await send(at, { client: await aClient(at), fields }), 400, 'unsupported_grant_type');
    expectRefusal(await send(at, { client: await aPublicClient(at), fields }), 400, 'unsupported_grant_type');
  },
);

test('RFC 6749 §5.2: a missing or empty grant_type is invalid_request', async () => {
  const client = await aClient(at);
  expectRefusal(await send(at, { client, fields: {} }), 400, 'invalid_request');
  expectRefusal(await send(at, { client, fields: { grant_type: '' } }), 400, 'invalid_request');
  expectRefusal(await send(at, { client, fields: { 'grant_type[]': 'refresh_token' } }), 400, 'invalid_request');
});
