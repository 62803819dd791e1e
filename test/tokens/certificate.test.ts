/** Tokens that only the holder of a certificate may use (RFC 8705 §3): what every grant issues, and what every door lets in. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PATH, adminScopes } from '../../src/admin/index.ts';
import { ACCOUNT_API_PATH, ACCOUNT_SCOPE, accountApiOf } from '../../src/protocol/account-api.ts';
import { GRANT_TYPES } from '../../src/protocol/client.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aCertificate, asNginx, type ACertificate } from '../support/certificates.ts';
import { aHolder } from '../support/dpop.ts';
import {
  aClient,
  anAuthorizationCode,
  aPublicClient,
  aService,
  changeClient,
  credentials,
  introspect,
  type AClient,
} from '../support/fixtures.ts';
import { aTokenRequest, decode, expectRefusal, formOf, postRaw, type ATokenRequest } from '../support/oauth.ts';

const HEADER = 'x-ssl-client-cert';
const PROXY = '10.1.1.1';
const STRANGER = '203.0.113.9';
const BOUND = { tls_client_certificate_bound_access_tokens: true };

let at: TestApp;
let ada: ACertificate;
let thief: ACertificate;
let spa: AClient;
beforeAll(async () => {
  at = await testApp({ config: { MTLS_PROXY_FORMAT: 'nginx', TRUST_PROXY: ['10.1.0.0/16'] } });
  [ada, thief] = await Promise.all([aCertificate(), aCertificate()]);
  spa = await aPublicClient(at, { grant_types: ['authorization_code', 'refresh_token'], ...BOUND });
});
afterAll(() => at.close());

interface Answer {
  access_token: string;
  refresh_token?: string;
  token_type: string;
}
/** What a proxy adds to a request of somebody with this certificate. */
const showing = (certificate: ACertificate | string | undefined): Record<string, string> =>
  certificate === undefined ? {} : { [HEADER]: typeof certificate === 'string' ? certificate : asNginx(certificate) };
const sendWith = (
  { client, fields }: ATokenRequest,
  certificate: ACertificate | string | undefined,
  { from = PROXY, dpop }: { from?: string; dpop?: string } = {},
) =>
  postRaw(
    at,
    '/token',
    formOf({ ...fields, ...credentials(client) }),
    { ...showing(certificate), ...(dpop !== undefined && { dpop }) },
    from,
  );
const bodyOf = (answer: LightMyRequestResponse): Answer => {
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  return answer.json<Answer>();
};
const boundTo = (certificate: ACertificate) => ({ 'x5t#S256': certificate.thumbprint });
const cnfOf = ({ access_token }: Answer): unknown => decode(access_token).payload['cnf'];

describe.each(GRANT_TYPES)('grant_type=%s', (grant_type) => {
  test('RFC 8705 §3: the token of a client that registered for it is bound to its certificate, and of type Bearer', async () => {
    const request = await aTokenRequest(at, grant_type);
    await changeClient(at, request.client, BOUND);
    // Nothing is spent by what is refused.
    expectRefusal(await sendWith(request, undefined), 400, 'invalid_request');
    expectRefusal(await sendWith(request, ''), 400, 'invalid_request');
    expectRefusal(await sendWith(request, 'no certificate'), 400, 'invalid_request');
    // RFC 8705 §6.5: a header of somebody who is no proxy of ours is not there.
    expectRefusal(await sendWith(request, ada, { from: STRANGER }), 400, 'invalid_request');
    const answer = bodyOf(await sendWith(request, ada));
    expect(answer.token_type).toBe('Bearer');
    expect(cnfOf(answer)).toEqual(boundTo(ada));
  });

  test('RFC 8705 §3.4: a client that did not register for it gets bearer tokens, whatever it connects with', async () => {
    expect(cnfOf(bodyOf(await sendWith(await aTokenRequest(at, grant_type), ada)))).toBeUndefined();
  });
});

test('RFC 9449 §5, RFC 8705 §3: with a proof as well the token is bound to both, and wants both', async () => {
  const client = await aService(at, BOUND);
  const holder = await aHolder(at);
  const request = await aTokenRequest(at, 'client_credentials', { client });
  const dpop = await holder.proof({ path: '/token' });
  // The certificate is missed before the proof is used up.
  expectRefusal(await sendWith(request, undefined, { dpop }), 400, 'invalid_request');
  const answer = bodyOf(await sendWith(request, ada, { dpop }));
  expect(answer.token_type).toBe('DPoP');
  expect(cnfOf(answer)).toEqual({ jkt: holder.jkt, ...boundTo(ada) });
  await changeClient(at, client, { dpop_bound_access_tokens: true });
  expectRefusal(await sendWith(request, ada), 400, 'invalid_dpop_proof');
});

describe('RFC 8705 §4: the refresh token of a public client is bound to its certificate', () => {
  const refreshWith = (refresh_token: string | undefined, certificate: ACertificate | undefined, client = spa) =>
    sendWith({ client, fields: { grant_type: 'refresh_token', refresh_token: refresh_token ?? '' } }, certificate);

  test('with another one, or none, it gives nothing, also when the answer was lost, and nobody is signed out', async () => {
    const { refresh_token } = bodyOf(
      await sendWith(await aTokenRequest(at, 'authorization_code', { client: spa }), ada),
    );
    expectRefusal(await refreshWith(refresh_token, thief), 400, 'invalid_grant');
    expectRefusal(await refreshWith(refresh_token, undefined), 400, 'invalid_request');
    const next = bodyOf(await refreshWith(refresh_token, ada));
    expectRefusal(await refreshWith(refresh_token, thief), 400, 'invalid_grant');
    expect(bodyOf(await refreshWith(refresh_token, ada)).refresh_token).toBe(next.refresh_token);
    expect(cnfOf(bodyOf(await refreshWith(next.refresh_token, ada)))).toEqual(boundTo(ada));
  });

  test('RFC 8705 §7.1: a confidential client proves who it is, and may have a new certificate', async () => {
    const client = await aClient(at, BOUND);
    const { refresh_token } = bodyOf(await sendWith(await aTokenRequest(at, 'authorization_code', { client }), ada));
    expect(cnfOf(bodyOf(await refreshWith(refresh_token, thief, client)))).toEqual(boundTo(thief));
  });
});

/** Everywhere our own access tokens open something: the address, and a token for it. */
const doors: Record<string, { path: string; request: () => Promise<ATokenRequest> }> = {
  userinfo: { path: '/userinfo', request: () => aTokenRequest(at, 'authorization_code', { client: spa }) },
  'the account API': {
    path: ACCOUNT_API_PATH,
    async request() {
      const scope = `openid ${ACCOUNT_SCOPE}`;
      const client = await aPublicClient(at, { scope, ...BOUND });
      const parameters = { scope, resource: accountApiOf(at.deps.config.ISSUER) };
      const { code, code_verifier } = await anAuthorizationCode(at, { client, parameters });
      const { redirect_uri } = client;
      return { client, fields: { grant_type: 'authorization_code', code, code_verifier, redirect_uri } };
    },
  },
  'the admin API': {
    path: `${ADMIN_PATH}/clients`,
    async request() {
      const client = await aService(at, { scope: [...adminScopes.keys()].join(' '), may_administer: true, ...BOUND });
      return {
        client,
        fields: { grant_type: 'client_credentials', resource: `${at.deps.config.ISSUER}${ADMIN_PATH}` },
      };
    },
  },
};

describe.each(Object.entries(doors))('RFC 8705 §3 at %s', (_name, { path, request }) => {
  test('the token opens with its certificate alone', async () => {
    const { access_token } = bodyOf(await sendWith(await request(), ada));
    const get = (headers: Record<string, string | string[]>, remoteAddress = PROXY, scheme = 'Bearer') =>
      at.app.inject({
        method: 'GET',
        url: path,
        remoteAddress,
        headers: { authorization: `${scheme} ${access_token}`, ...headers },
      });
    expect((await get(showing(ada))).statusCode).toBe(200);
    const wrong = {
      none: await get({}),
      empty: await get({ [HEADER]: '' }),
      another: await get(showing(thief)),
      'a header of a stranger': await get(showing(ada), STRANGER),
      'a header that names itself forwarded': await get({ ...showing(ada), 'x-forwarded-for': PROXY }, STRANGER),
      'another header': await get({ 'client-cert': asNginx(ada) }),
    };
    for (const [what, answer] of Object.entries(wrong)) {
      expect({ what, status: answer.statusCode }).toEqual({ what, status: 401 });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=".*", error="invalid_token"/);
    }
    const holder = await aHolder(at);
    const dpop = await holder.proof({ path, method: 'GET', access_token });
    expect((await get({ ...showing(ada), dpop }, PROXY, 'DPoP')).statusCode).toBe(401);
    // The proxy added its own to one that it let pass, or is not set up as it is said to be: a clear no.
    const unreadable = {
      two: await get({ [HEADER]: [asNginx(thief), asNginx(ada)] }),
      'two at once': await get({ [HEADER]: `${asNginx(thief)}, ${asNginx(ada)}` }),
      'another form': await get({ [HEADER]: ada.der.toString('base64') }),
      large: await get({ [HEADER]: asNginx(ada).repeat(7) }),
    };
    for (const [what, answer] of Object.entries(unreadable)) {
      expect({ what, status: answer.statusCode }).toEqual({ what, status: 400 });
    }
  });
});

test('RFC 8705 §3.2: introspection tells the certificate, of a JWT as of an opaque token', async () => {
  const client = await aService(at, { ...BOUND, may_introspect: true });
  for (const access_token_format of ['jwt', 'opaque'] as const) {
    await changeClient(at, client, { access_token_format });
    const { access_token } = bodyOf(await sendWith(await aTokenRequest(at, 'client_credentials', { client }), ada));
    expect(await introspect(at, client, access_token)).toMatchObject({
      active: true,
      token_type: 'Bearer',
      cnf: boundTo(ada),
    });
  }
});

test('RFC 8705 §3.3: the metadata says so, and only where certificates can come in; elsewhere nobody registers for it', async () => {
  const metadataOf = async ({ app }: TestApp) =>
    (await app.inject({ method: 'GET', url: '/.well-known/oauth-authorization-server' })).json<
      Record<string, unknown>
    >();
  expect(await metadataOf(at)).toMatchObject(BOUND);
  const without = await testApp({ database: at.database, clock: at.clock });
  expect(await metadataOf(without)).not.toHaveProperty('tls_client_certificate_bound_access_tokens');
  await expect(aService(without, BOUND)).rejects.toThrow(/MTLS_PROXY_FORMAT/);
  // Whoever is registered keeps it, and is refused at the token endpoint.
  const client = await aService(at, BOUND);
  await changeClient(without, client, { client_name: 'Renamed' });
  const { fields } = await aTokenRequest(at, 'client_credentials', { client });
  const answer = await postRaw(without, '/token', formOf({ ...fields, ...credentials(client) }), showing(ada), PROXY);
  expectRefusal(answer, 400, 'invalid_request');
  await without.close();
});
