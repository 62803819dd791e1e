/** Tokens that only the holder of a key may use (RFC 9449): what every grant issues, and what every door lets in. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PATH, adminScopes } from '../../src/admin/index.ts';
import { DPOP_ALGS } from '../../src/protocol/dpop.ts';
import { ACCOUNT_API_PATH, ACCOUNT_SCOPE, accountApiOf } from '../../src/protocol/account-api.ts';
import { GRANT_TYPES } from '../../src/protocol/client.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aHolder, type AProof, type Holder } from '../support/dpop.ts';
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
import { atOnce, tally } from '../support/races.ts';

let at: TestApp;
/** A second process on the same database. */
let other: TestApp;
let ada: Holder;
let thief: Holder;
let spa: AClient;
beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
  ada = await aHolder(at);
  thief = await aHolder(at);
  spa = await aPublicClient(at, { grant_types: ['authorization_code', 'refresh_token'] });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

interface Answer {
  access_token: string;
  refresh_token?: string;
  token_type: string;
}
const ask = (fields: Record<string, string | undefined>, dpop?: string, to: TestApp = at) =>
  postRaw(to, '/token', formOf(fields), dpop === undefined ? {} : { dpop });
const sendWith = async ({ client, fields }: ATokenRequest, holder: Holder | undefined, about: Partial<AProof> = {}) =>
  ask({ ...fields, ...credentials(client) }, await holder?.proof({ path: '/token', ...about }));
const bodyOf = (answer: LightMyRequestResponse): Answer => {
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  return answer.json<Answer>();
};
/** Tokens of the public client, bound to this holder. */
const boundTokens = async (holder: Holder, resource?: string): Promise<Answer & { refresh_token: string }> => {
  const request = await aTokenRequest(at, 'authorization_code', { client: spa });
  const fields = { ...request.fields, ...(resource !== undefined && { resource }) };
  const tokens = bodyOf(await sendWith({ client: spa, fields }, holder));
  return { ...tokens, refresh_token: tokens.refresh_token! };
};

test('RFC 9449 §5.1: the algorithms of proofs are in the metadata', async () => {
  const { dpop_signing_alg_values_supported } = (
    await at.app.inject({ method: 'GET', url: '/.well-known/openid-configuration' })
  ).json<Record<string, unknown>>();
  expect(dpop_signing_alg_values_supported).toEqual(DPOP_ALGS);
});

test('RFC 9449 §4.2, §11.6: a proof is signed with any of these algorithms', async () => {
  const service = await aService(at);
  for (const alg of ['ES256', 'ES384', 'ES512', 'PS256', 'RS256', 'EdDSA', 'Ed25519']) {
    const holder = await aHolder(at, alg);
    const answer = bodyOf(await sendWith(await aTokenRequest(at, 'client_credentials', { client: service }), holder));
    expect(decode(answer.access_token).payload['cnf']).toEqual({ jkt: holder.jkt });
  }
});

describe.each(GRANT_TYPES)('grant_type=%s', (grant_type) => {
  test('RFC 9449 §5, §6.1, §11.8: with a proof the access token is bound to its key, and of type DPoP', async () => {
    const answer = bodyOf(await sendWith(await aTokenRequest(at, grant_type), ada));
    expect(answer.token_type).toBe('DPoP');
    expect(decode(answer.access_token).payload['cnf']).toEqual({ jkt: ada.jkt });
  });

  test('RFC 9449 §4.1, §4.3, §5, §11.5: a proof that does not prove gives nothing and spends nothing', async () => {
    const request = await aTokenRequest(at, grant_type);
    const used = await ada.proof({ path: '/token' });
    await ask({ grant_type: 'client_credentials', ...credentials(await aService(at)) }, used);
    const { private_key, jwk } = thief;
    const proofs: Record<string, string> = {
      'no JWT': 'proof',
      empty: '',
      two: `${await ada.proof({ path: '/token' })}, ${await ada.proof({ path: '/token' })}`,
      'used before': used,
      'of another method': await ada.proof({ path: '/token', method: 'GET' }),
      'for another address': await ada.proof({ path: '/par' }),
      'too old': await ada.proof({ path: '/token', claims: { iat: at.clock.now().getTime() / 1000 - 120 } }),
      'too early': await ada.proof({ path: '/token', claims: { iat: at.clock.now().getTime() / 1000 + 61 } }),
      'without jti': await ada.proof({ path: '/token', claims: { jti: undefined } }),
      'of another typ': await ada.proof({ path: '/token', header: { typ: 'JWT' } }),
      "signed by another's key": await ada.proof({ path: '/token', signer: private_key }),
      'with the key of another': await ada.proof({ path: '/token', header: { jwk } }),
      large: await ada.proof({ path: '/token', claims: { padding: 'p'.repeat(6000) } }),
    };
    for (const [what, proof] of Object.entries(proofs)) {
      const answer = await ask({ ...request.fields, ...credentials(request.client) }, proof);
      expect({ what, status: answer.statusCode }).toEqual({ what, status: 400 });
      expectRefusal(answer, 400, 'invalid_dpop_proof');
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
    expect(bodyOf(await sendWith(request, ada)).token_type).toBe('DPoP');
  });

  test('RFC 9449 §5.2: a client that registered for bound tokens gets no others, also when it registered just now', async () => {
    const request = await aTokenRequest(at, grant_type);
    await changeClient(at, request.client, { dpop_bound_access_tokens: true });
    expectRefusal(await sendWith(request, undefined), 400, 'invalid_dpop_proof');
    expect(bodyOf(await sendWith(request, ada)).token_type).toBe('DPoP');
  });

  test('RFC 9449 §8, §11.3: where a nonce is wanted the proof needs ours, which every refusal brings', async () => {
    const request = await aTokenRequest(at, grant_type);
    await changeClient(at, request.client, { require_dpop_nonce: true });
    const without = await sendWith(request, ada);
    expectRefusal(without, 400, 'use_dpop_nonce');
    const nonce = without.headers['dpop-nonce'] as string;
    for (const wrong of [undefined, '', 'made-up', `${nonce}x`, nonce.replace(/^./, 'z')]) {
      expectRefusal(await sendWith(request, ada, { claims: { nonce: wrong } }), 400, 'use_dpop_nonce');
    }
    // Every process makes the same ones.
    other.deps.directory.clear();
    const answer = await ask(
      { ...request.fields, ...credentials(request.client) },
      await ada.proof({ path: '/token', claims: { nonce } }),
      other,
    );
    expect(bodyOf(answer).token_type).toBe('DPoP');
    expect(answer.headers['dpop-nonce']).toBe(nonce);
  });
});

test('RFC 9449 §8.1, §8.2, §11.2: a nonce is taken for some minutes after it was given, and the next one comes with each answer', async () => {
  const client = await aService(at, { require_dpop_nonce: true });
  const request = await aTokenRequest(at, 'client_credentials', { client });
  const nonce = (await sendWith(request, ada)).headers['dpop-nonce'] as string;
  at.clock.advance(60);
  const answer = await sendWith(request, ada, { claims: { nonce } });
  const next = answer.headers['dpop-nonce'] as string;
  expect(answer.statusCode).toBe(200);
  expect(next).not.toBe(nonce);
  at.clock.advance(5 * 60);
  expectRefusal(await sendWith(request, ada, { claims: { nonce } }), 400, 'use_dpop_nonce');
});

test('RFC 9449 §8: DPOP_NONCE=on wants nonces of every client', async () => {
  const strict = await testApp({ database: at.database, clock: at.clock, config: { DPOP_NONCE: 'on' } });
  const { client, fields } = await aTokenRequest(at, 'client_credentials');
  const all = { ...fields, ...credentials(client) };
  const refused = await ask(all, await ada.proof({ path: '/token' }), strict);
  expectRefusal(refused, 400, 'use_dpop_nonce');
  const nonce = refused.headers['dpop-nonce'];
  const proof = await ada.proof({ path: '/token', claims: { nonce } });
  expect((await ask(all, proof, strict)).statusCode).toBe(200);
  await strict.close();
});

test('RFC 9449 §11.1: of 50 requests with one proof at two processes, one is answered with tokens', async () => {
  const { client, fields } = await aTokenRequest(at, 'client_credentials');
  const proof = await ada.proof({ path: '/token' });
  const answers = await atOnce(50, (index) =>
    ask({ ...fields, ...credentials(client) }, proof, index % 2 === 0 ? at : other),
  );
  expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 1, 400: 49 });
});

describe('RFC 9449 §5: the refresh token of a public client is bound to its key', () => {
  const refreshWith = (refresh_token: string, holder: Holder | undefined, client = spa) =>
    sendWith({ client, fields: { grant_type: 'refresh_token', refresh_token } }, holder);

  test('without a proof, or with one by another key, it gives nothing, and nobody is signed out', async () => {
    const { refresh_token } = await boundTokens(ada);
    expectRefusal(await refreshWith(refresh_token, undefined), 400, 'invalid_grant');
    expectRefusal(await refreshWith(refresh_token, thief), 400, 'invalid_grant');
    const next = bodyOf(await refreshWith(refresh_token, ada));
    // A thief who has the used one cannot have the authorization ended either.
    expectRefusal(await refreshWith(refresh_token, thief), 400, 'invalid_grant');
    expect(bodyOf(await refreshWith(next.refresh_token!, ada)).token_type).toBe('DPoP');
  });

  test('within the retry window only the same key has the lost answer again', async () => {
    const { refresh_token } = await boundTokens(ada);
    const first = bodyOf(await refreshWith(refresh_token, ada));
    expectRefusal(await refreshWith(refresh_token, thief), 400, 'invalid_grant');
    const again = bodyOf(await refreshWith(refresh_token, ada));
    expect(again.refresh_token).toBe(first.refresh_token);
    expect(again.token_type).toBe('DPoP');
  });

  test('a token without a key is bound by the first proof that comes with it', async () => {
    const request = await aTokenRequest(at, 'refresh_token', { client: spa });
    const { refresh_token } = bodyOf(await sendWith(request, ada));
    expectRefusal(await refreshWith(refresh_token!, undefined), 400, 'invalid_grant');
    expect((await refreshWith(refresh_token!, ada)).statusCode).toBe(200);
  });

  test('FAPI 2.0 Security Profile §5.3.2.1: a confidential client may come with another key, but not for a lost answer', async () => {
    const web = await aClient(at);
    const request = await aTokenRequest(at, 'authorization_code', { client: web });
    const { refresh_token } = bodyOf(await sendWith(request, ada));
    const next = bodyOf(await refreshWith(refresh_token!, thief, web));
    expect(decode(next.access_token).payload['cnf']).toEqual({ jkt: thief.jkt });
    const { refresh_token: third } = bodyOf(await refreshWith(next.refresh_token!, ada, web));
    expect(third).toBeDefined();
    // It counts as used by somebody else: the authorization ends.
    expectRefusal(await refreshWith(next.refresh_token!, thief, web), 400, 'invalid_grant');
  });
});

describe('RFC 9449 §10, §11.9: a code that was asked for with a key', () => {
  const codeFor = (dpop_jkt: string) => anAuthorizationCode(at, { client: spa, parameters: { dpop_jkt } });

  test('is redeemed with a proof by that key, and by no other', async () => {
    const { code, code_verifier } = await codeFor(ada.jkt);
    const fields = { grant_type: 'authorization_code', code, code_verifier, redirect_uri: spa.redirect_uri };
    expectRefusal(await sendWith({ client: spa, fields }, undefined), 400, 'invalid_grant');
    expectRefusal(await sendWith({ client: spa, fields }, thief), 400, 'invalid_grant');
    expect(bodyOf(await sendWith({ client: spa, fields }, ada)).token_type).toBe('DPoP');
    // Somebody else's second try is no alarm.
    expectRefusal(await sendWith({ client: spa, fields }, thief), 400, 'invalid_grant');
  });

  test('what cannot be a thumbprint is refused', async () => {
    for (const dpop_jkt of ['short', `${ada.jkt}x`, `${ada.jkt.slice(1)}=`]) {
      await expect(codeFor(dpop_jkt)).rejects.toThrow(/dpop_jkt|code/);
    }
  });

  test('RFC 9449 §10.1: a request pushed with a proof is for its key, and names no other', async () => {
    const web = await aClient(at);
    const pushed = async (fields: Record<string, string>, holder: Holder) =>
      postRaw(
        at,
        '/par',
        formOf({
          response_type: 'code',
          redirect_uri: web.redirect_uri,
          scope: 'openid',
          ...fields,
          ...credentials(web),
        }),
        { dpop: await holder.proof({ path: '/par' }) },
      );
    expectRefusal(await pushed({ dpop_jkt: ada.jkt }, thief), 400, 'invalid_request');
    expect((await pushed({ dpop_jkt: ada.jkt }, ada)).statusCode).toBe(201);
    const answer = await pushed({}, ada);
    const { request_uri } = answer.json<{ request_uri: string }>();
    const { code } = await anAuthorizationCode(at, { client: web, parameters: { request_uri } });
    expectRefusal(
      await ask({ grant_type: 'authorization_code', code, redirect_uri: web.redirect_uri, ...credentials(web) }),
      400,
      'invalid_grant',
    );
    const fields = { grant_type: 'authorization_code', code, redirect_uri: web.redirect_uri };
    expectRefusal(await sendWith({ client: web, fields }, thief), 400, 'invalid_grant');
    expect(bodyOf(await sendWith({ client: web, fields }, ada)).token_type).toBe('DPoP');
  });
});

/** Everywhere our own access tokens open something: the address, and a bound token for it. */
const doors: Record<string, { path: string; token: (holder: Holder) => Promise<string> }> = {
  userinfo: { path: '/userinfo', token: async (holder) => (await boundTokens(holder)).access_token },
  'the account API': {
    path: ACCOUNT_API_PATH,
    async token(holder) {
      const client = await aPublicClient(at, { scope: `openid ${ACCOUNT_SCOPE}` });
      const resource = accountApiOf(at.deps.config.ISSUER);
      const parameters = { scope: `openid ${ACCOUNT_SCOPE}`, resource };
      const { code, code_verifier } = await anAuthorizationCode(at, { client, parameters });
      const { redirect_uri } = client;
      const fields = { grant_type: 'authorization_code', code, code_verifier, redirect_uri };
      return bodyOf(await sendWith({ client, fields }, holder)).access_token;
    },
  },
  'the admin API': {
    path: `${ADMIN_PATH}/clients`,
    async token(holder) {
      const client = await aService(at, { scope: [...adminScopes.keys()].join(' '), may_administer: true });
      const fields = { grant_type: 'client_credentials', resource: `${at.deps.config.ISSUER}${ADMIN_PATH}` };
      return bodyOf(await sendWith({ client, fields }, holder)).access_token;
    },
  },
};

describe.each(Object.entries(doors))('RFC 9449 §7 at %s', (_name, { path, token }) => {
  const get = (headers: Record<string, string>, to: TestApp = at) =>
    to.app.inject({ method: 'GET', url: path, headers });
  const present = async (access_token: string, holder: Holder, about: Partial<AProof> = {}) =>
    get({
      authorization: `DPoP ${access_token}`,
      dpop: await holder.proof({ path, method: 'GET', access_token, ...about }),
    });
  const algs = `algs="${DPOP_ALGS.join(' ')}"`;

  test('RFC 9449 §7.1: the token opens with the scheme DPoP and a proof by its key', async () => {
    const answer = await present(await token(ada), ada);
    expect({ status: answer.statusCode, body: answer.body.slice(0, 200) }).toMatchObject({ status: 200 });
  });

  test('RFC 9449 §7.2: without a token both schemes are named', async () => {
    const answer = await get({});
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(`Bearer realm="${at.deps.config.ISSUER}", DPoP ${algs}`);
  });

  test('RFC 9449 §7.2: presented as Bearer it opens nothing', async () => {
    const access_token = await token(ada);
    for (const scheme of ['Bearer', 'bearer']) {
      const dpop = await ada.proof({ path, method: 'GET', access_token });
      for (const headers of [{}, { dpop }]) {
        const answer = await get({ authorization: `${scheme} ${access_token}`, ...headers });
        expect(answer.statusCode).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer .*error="invalid_token".*, DPoP algs="/);
      }
    }
  });

  test('RFC 9449 §4.3, §7.1: a proof that does not prove opens nothing, and the challenge says how', async () => {
    const access_token = await token(ada);
    const another = await token(ada);
    const used = await ada.proof({ path, method: 'GET', access_token });
    expect((await get({ authorization: `DPoP ${access_token}`, dpop: used })).statusCode).toBe(200);
    const wrong: Record<string, string | undefined> = {
      none: undefined,
      'used before': used,
      'of another method': await ada.proof({ path, access_token }),
      'for another address': await ada.proof({ path: `${path}/x`, method: 'GET', access_token }),
      'without ath': await ada.proof({ path, method: 'GET' }),
      'for another token': await ada.proof({ path, method: 'GET', access_token: another }),
      'too old': await ada.proof({
        path,
        method: 'GET',
        access_token,
        claims: { iat: at.clock.now().getTime() / 1000 - 120 },
      }),
      "signed by another's key": await ada.proof({ path, method: 'GET', access_token, signer: thief.private_key }),
    };
    for (const [what, dpop] of Object.entries(wrong)) {
      const answer = await get({ authorization: `DPoP ${access_token}`, ...(dpop !== undefined && { dpop }) });
      expect({ what, status: answer.statusCode }).toEqual({ what, status: 401 });
      expect(answer.headers['www-authenticate']).toMatch(/^DPoP realm=".*", error="invalid_dpop_proof", .*algs="/);
    }
    const stolen = await present(access_token, thief);
    expect(stolen.statusCode).toBe(401);
    expect(stolen.headers['www-authenticate']).toMatch(/^DPoP .*error="invalid_token"/);
  });

  test('RFC 9449 §11.1: of 50 requests with one proof at two processes, one is answered', async () => {
    const access_token = await token(ada);
    const dpop = await ada.proof({ path, method: 'GET', access_token });
    const answers = await atOnce(50, (index) =>
      get({ authorization: `DPoP ${access_token}`, dpop }, index % 2 === 0 ? at : other),
    );
    expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 1, 401: 49 });
  });

  test('RFC 9449 §9: where a nonce is wanted, a 401 brings it', async () => {
    const access_token = await token(ada);
    const { client_id } = decode(access_token).payload as { client_id: string };
    await changeClient(at, { client_id }, { require_dpop_nonce: true });
    const refused = await present(access_token, ada);
    expect(refused.statusCode).toBe(401);
    expect(refused.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
    const nonce = refused.headers['dpop-nonce'];
    const answer = await present(access_token, ada, { claims: { nonce } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['dpop-nonce']).toBe(nonce);
    await changeClient(at, { client_id }, { require_dpop_nonce: false });
  });
});

test('RFC 9449 §7.1: a bearer token is not taken with the scheme DPoP', async () => {
  const request = await aTokenRequest(at, 'authorization_code', { client: spa });
  const { access_token, token_type } = bodyOf(await sendWith(request, undefined));
  expect(token_type).toBe('Bearer');
  const dpop = await ada.proof({ path: '/userinfo', method: 'GET', access_token });
  const headers = { authorization: `DPoP ${access_token}`, dpop };
  expect((await at.app.inject({ method: 'GET', url: '/userinfo', headers })).statusCode).toBe(401);
});

test('RFC 9449 §7.1: in a form body there is no bound token', async () => {
  const { access_token } = await boundTokens(ada);
  const dpop = await ada.proof({ path: '/userinfo', access_token });
  expect((await postRaw(at, '/userinfo', formOf({ access_token }), { dpop })).statusCode).toBe(401);
});

test('RFC 9449 §6.2: introspection tells the key, and the type DPoP, of a JWT as of an opaque token', async () => {
  const jwt = await boundTokens(ada);
  await changeClient(at, spa, { access_token_format: 'opaque' });
  const opaque = await boundTokens(ada);
  await changeClient(at, spa, { access_token_format: undefined });
  const api = await aService(at, { may_introspect: true });
  for (const { access_token } of [jwt, opaque]) {
    expect(await introspect(at, api, access_token)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: ada.jkt },
    });
    const dpop = await thief.proof({ path: '/userinfo', method: 'GET', access_token });
    const headers = { authorization: `DPoP ${access_token}`, dpop };
    expect((await at.app.inject({ method: 'GET', url: '/userinfo', headers })).statusCode).toBe(401);
  }
});
