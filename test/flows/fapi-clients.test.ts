/** FAPI 2.0 with openid-client: pushed and signed requests, answers in a JWT, assertions and DPoP, played from outside. */
import { exportJWK, generateKeyPair } from 'jose';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { presets } from '../../src/protocol/client-metadata.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, aUser, changeClient } from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { Visitor } from '../support/visitor.ts';

let deployment: Deployment;
let username: string;
stopServersAfterwards();
beforeAll(async () => {
  deployment = await deploy({});
  ({ username } = await aUser(deployment.test));
});

const redirect_uri = 'https://wallet.example.test/callback';
const scope = 'openid profile offline_access';

interface Wallet {
  config: client.Configuration;
  key: client.PrivateKey;
  client_id: string;
}

async function aWallet(profile: 'fapi2_security' | 'fapi2_message_signing'): Promise<Wallet> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const kid = 'one';
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'ES256' }] };
  const { client_id } = await aClient(deployment.test, {
    ...presets.fapi2,
    profile,
    redirect_uris: [redirect_uri],
    scope,
    jwks: jwks as ClientMetadataInput['jwks'],
    ...(profile === 'fapi2_message_signing' && { require_signed_request_object: true, response_modes: ['jwt'] }),
  });
  const key = { key: privateKey, kid };
  // The assertion's audience is the issuer, as one string.
  const config = await client.discovery(
    new URL(deployment.issuer),
    client_id,
    { id_token_signed_response_alg: 'ES256', authorization_signed_response_alg: 'ES256' },
    client.PrivateKeyJwt(key),
    {
      execute: [
        client.allowInsecureRequests,
        ...(profile === 'fapi2_message_signing' ? [client.useJwtResponseMode] : []),
      ],
    },
  );
  return { config, key, client_id };
}

async function signIn({ config, key }: Wallet, signed: boolean, DPoP: client.DPoPHandle) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const parameters = {
    redirect_uri,
    scope,
    state: 'state',
    nonce: 'nonce',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  };
  const url = signed
    ? await client.buildAuthorizationUrlWithPAR(
        config,
        (await client.buildAuthorizationUrlWithJAR(config, parameters, key)).searchParams,
        { DPoP },
      )
    : await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP });
  const callback = await new Visitor(deployment.issuer).authorize(url, { username });
  const checks = { pkceCodeVerifier, expectedState: 'state', expectedNonce: 'nonce', idTokenExpected: true };
  return client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
}

describe.each(['fapi2_security', 'fapi2_message_signing'] as const)('profile %s', (profile) => {
  test('FAPI 2.0 Security Profile §5.3: openid-client signs in, asks userinfo and refreshes, with a token that does not rotate', async () => {
    const wallet = await aWallet(profile);
    const DPoP = client.getDPoPHandle(wallet.config, await client.randomDPoPKeyPair('ES256'));
    const tokens = await signIn(wallet, profile === 'fapi2_message_signing', DPoP);
    expect(tokens.token_type).toBe('dpop');
    expect(decode(tokens.access_token).header['alg']).toBe('ES256');
    expect(decode(tokens.id_token!).header['alg']).toBe('ES256');
    const { sub } = tokens.claims()!;
    expect(await client.fetchUserInfo(wallet.config, tokens.access_token, sub, { DPoP })).toMatchObject({ sub });
    // Three times: nothing of it is a reuse.
    for (let time = 0; time < 3; time += 1) {
      const next = await client.refreshTokenGrant(wallet.config, tokens.refresh_token!, undefined, { DPoP });
      expect(next.refresh_token).toBe(tokens.refresh_token);
      expect(next.access_token).not.toBe(tokens.access_token);
    }
    // Bound to the client, and not to the key that it had.
    const anew = client.getDPoPHandle(wallet.config, await client.randomDPoPKeyPair('ES256'));
    const renewed = await client.refreshTokenGrant(wallet.config, tokens.refresh_token!, undefined, { DPoP: anew });
    expect(await client.fetchUserInfo(wallet.config, renewed.access_token, sub, { DPoP: anew })).toMatchObject({ sub });
    await client.tokenRevocation(wallet.config, tokens.refresh_token!);
    await expect(
      client.refreshTokenGrant(wallet.config, tokens.refresh_token!, undefined, { DPoP: anew }),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('FAPI 2.0 Security Profile §5.3.2.1: no key, no tokens', async () => {
    const { config } = await aWallet(profile);
    await expect(client.clientCredentialsGrant(config)).rejects.toMatchObject({ error: 'unauthorized_client' });
    await expect(client.refreshTokenGrant(config, 'token')).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('a profile cannot be left by halves: a change against it is refused', async () => {
    const { client_id } = await aWallet(profile);
    await expect(changeClient(deployment.test, { client_id }, { dpop_bound_access_tokens: false })).rejects.toThrow(
      'FAPI 2.0 Security Profile §5.3.2.1',
    );
  });
});

describe('FAPI 2.0 Security Profile §5.3.2.2: a request that is not pushed is refused', () => {
  const askedPlainly = async (profile: 'fapi2_security' | 'fapi2_message_signing') => {
    const { config } = await aWallet(profile);
    const url = client.buildAuthorizationUrl(config, { redirect_uri, scope, state: 'state' });
    return new Visitor(deployment.issuer).get(url.href);
  };

  test('and the application is told', async () => {
    const answer = await askedPlainly('fapi2_security');
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe('invalid_request');
  });

  test('on a page, where nothing that is signed says where to', async () => {
    const answer = await askedPlainly('fapi2_message_signing');
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('invalid_request');
  });
});
