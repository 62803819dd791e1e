/** Another token_endpoint_auth_method: what proved the client before proves nothing, and nothing is had for less proof. */
import { createHash } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  aDevice,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aUser,
  changeClient,
  credentials,
  postForm,
  redeem,
  refresh,
  someTokens,
  type Tokens,
} from '../support/fixtures.ts';

const CALLBACK = 'https://app.example.test/callback';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
let at: TestApp;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open', REGISTRATION_SCOPE: 'openid offline_access' } });
});
afterAll(() => at.close());

const change = async (client: AClient, changes: Partial<ClientMetadataInput>): Promise<void> => {
  await changeClient(at, client, changes);
};
const toPublic = (client: AClient): Promise<void> => change(client, { token_endpoint_auth_method: 'none' });
const toSecret = (client: AClient): Promise<void> =>
  change(client, { token_endpoint_auth_method: 'client_secret_basic' });
/** The same client, with nothing to show but its name. */
const byName = (client: AClient): AClient => ({ ...client, client_secret: '' });

async function expectRefused(answer: LightMyRequestResponse, description: RegExp): Promise<void> {
  expect([answer.statusCode, answer.json()]).toEqual([
    400,
    { error: 'invalid_grant', error_description: expect.stringMatching(description) },
  ]);
}

test('RFC 6749 §2.3: a code of a client that proves who it is is not redeemed by its name alone', async () => {
  for (const code_challenge_method of ['S256', undefined]) {
    const client = await aClient(at);
    const pkce = code_challenge_method ? {} : { code_challenge: undefined, code_challenge_method };
    const code = await anAuthorizationCode(at, { client, parameters: pkce });
    const verifier = code_challenge_method ? {} : { code_verifier: undefined };
    await toPublic(client);
    const named = { ...code, client: byName(client) };
    await expectRefused(await redeem(at, named, verifier), /proves who it is/);
    // It is neither spent nor revoked by that, and a stranger cannot sign anybody out.
    await expectRefused(await redeem(at, named, verifier), /proves who it is/);
    expect(
      await at.deps.db
        .selectFrom('authorization_codes')
        .selectAll()
        .where('client_id', '=', client.client_id)
        .execute(),
    ).toMatchObject([{ used_at: null }]);
    const [kept] = await at.deps.db
      .selectFrom('grants')
      .selectAll()
      .where('client_id', '=', client.client_id)
      .execute();
    expect(kept).toMatchObject({ revoked_at: null, confidential: true });
  }
});

test('RFC 6749 §6: nor is its refresh token, also of a grant from before that was noted', async () => {
  for (const noted of [true, false]) {
    const client = await aClient(at);
    const { tokens } = await someTokens(at, { client, parameters: { scope: 'openid offline_access' } });
    if (!noted) {
      await at.deps.db
        .updateTable('grants')
        .set({ confidential: null })
        .where('client_id', '=', client.client_id)
        .execute();
    }
    await toPublic(client);
    await expectRefused(await refresh(at, byName(client), tokens.refresh_token), /proves who it is/);
    await expectRefused(await refresh(at, byName(client), tokens.refresh_token), /proves who it is/);
    // What a name is granted, a name may refresh; and a client that proves more may have it too.
    const own = await someTokens(at, { client: byName(client), parameters: { scope: 'openid offline_access' } });
    const next = await refresh(at, byName(client), own.tokens.refresh_token);
    expect(next.statusCode).toBe(200);
  }
});

test('RFC 8628 §3.5: nor its device code, whenever its person decides', async () => {
  const of = async (): Promise<AClient> =>
    aDevice(at, { token_endpoint_auth_method: 'client_secret_basic', scope: 'openid offline_access' });
  const user = await aUser(at);
  const client = await of();
  const approved = await anApprovedDeviceCode(at, { client, user });
  await toPublic(client);
  const poll = (device_code: string, { client_id }: AClient): Promise<LightMyRequestResponse> =>
    postForm(at, '/token', { grant_type: DEVICE, device_code, client_id });
  await expectRefused(await poll(approved.device_code, client), /device code is not valid/);
  // Begun by a client that proved who it is, approved when it does not.
  const other = await of();
  const { device_code } = (
    await postForm(at, '/device_authorization', { ...credentials(other), scope: 'openid' })
  ).json<Record<string, string>>();
  await toPublic(other);
  await expectRefused(await poll(device_code!, other), /device code is not valid/);
});

test('ASVS 10.4.10: a secret dies when the client goes over to another method, and is not alive again when it comes back', async () => {
  const client = await aClient(at);
  const service = (): Promise<LightMyRequestResponse> =>
    postForm(at, '/introspect', { token: 'x', client_id: client.client_id, client_secret: client.client_secret });
  expect((await service()).statusCode).toBe(200);
  await change(client, { token_endpoint_auth_method: 'client_secret_post' });
  expect((await service()).statusCode).toBe(200);
  await toPublic(client);
  await toSecret(client);
  expect((await service()).statusCode).toBe(401);
  const secrets = at.deps.db.selectFrom('client_secrets').select('hash').where('client_id', '=', client.client_id);
  const dead = createHash('sha256').update(client.client_secret).digest();
  // It has been given another instead.
  const [another, ...more] = await secrets.execute();
  expect([another?.hash.equals(dead), more]).toEqual([false, []]);
});

test('RFC 7592 §2.2: so it is for a client that replaces itself: changed back, it gets another secret', async () => {
  const metadata = { redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'] };
  const made = await at.app.inject({ method: 'POST', url: '/register', payload: metadata });
  let document = made.json<Record<string, string>>();
  const first = document['client_secret'];
  const put = async (token_endpoint_auth_method: string): Promise<void> => {
    const { client_id } = document;
    const answer = await at.app.inject({
      method: 'PUT',
      url: `/register/${client_id}`,
      headers: { authorization: `Bearer ${document['registration_access_token']}` },
      payload: { ...metadata, client_id, token_endpoint_auth_method },
    });
    expect(answer.statusCode).toBe(200);
    document = answer.json();
  };
  const client = { client_id: document['client_id']!, client_secret: first!, redirect_uri: CALLBACK };
  const { tokens } = await someTokens(at, { client, parameters: { scope: 'openid offline_access' } });
  await put('none');
  expect(document).not.toHaveProperty('client_secret');
  await expectRefused(await refresh(at, byName(client), tokens.refresh_token), /proves who it is/);
  await put('client_secret_basic');
  expect(document['client_secret']).toBeTruthy();
  expect(document['client_secret']).not.toBe(first);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(401);
  const again = { ...client, client_secret: document['client_secret']! };
  expect((await refresh(at, again, tokens.refresh_token)).json<Tokens>().refresh_token).toBeTruthy();
});
