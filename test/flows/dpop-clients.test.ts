/** DPoP (RFC 9449) as libraries do it: keys, proofs, nonces and the API that checks, none of it ours. */
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { beforeAll, expect, test } from 'vitest';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, aPublicClient, aService, aUser, type AClient } from '../support/fixtures.ts';
import { Visitor } from '../support/visitor.ts';

let deployment: Deployment;
let username: string;
let service: AClient;
stopServersAfterwards();
beforeAll(async () => {
  deployment = await deploy({ prepare: async (test) => (service = await aService(test)) });
  ({ username } = await aUser(deployment.test));
});

const REDIRECT_URI = 'http://localhost:5555/callback';
const scope = 'openid profile offline_access';

const configOf = (of: AClient): Promise<client.Configuration> =>
  client.discovery(new URL(deployment.issuer), of.client_id, of.client_secret || undefined, undefined, {
    execute: [client.allowInsecureRequests],
  });

test.each(['pushed', 'plain'])(
  'RFC 9449 §5, §8, §10: openid-client signs in, refreshes and asks userinfo with its key and our nonces, its request %s',
  async (how) => {
    const config = await configOf(
      how === 'pushed'
        ? await aClient(deployment.test, { redirect_uris: [REDIRECT_URI], scope, require_dpop_nonce: true })
        : await aPublicClient(deployment.test, {
            redirect_uris: [REDIRECT_URI],
            scope,
            grant_types: ['authorization_code', 'refresh_token'],
            dpop_bound_access_tokens: true,
            require_dpop_nonce: true,
          }),
    );
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'));
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const parameters = {
      redirect_uri: REDIRECT_URI,
      scope,
      state: 'state',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    };
    const url =
      how === 'pushed'
        ? await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP })
        : client.buildAuthorizationUrl(config, {
            ...parameters,
            dpop_jkt: await DPoP.calculateThumbprint(),
          });
    const callback = await new Visitor(deployment.issuer).authorize(url, { username });
    const checks = { pkceCodeVerifier, expectedState: 'state', idTokenExpected: true };
    const first = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
    expect(first.token_type).toBe('dpop');
    const { sub } = first.claims()!;
    expect(await client.fetchUserInfo(config, first.access_token, sub, { DPoP })).toMatchObject({ sub });
    const second = await client.refreshTokenGrant(config, first.refresh_token!, undefined, { DPoP });
    expect(second.token_type).toBe('dpop');
    await expect(client.fetchUserInfo(config, second.access_token, sub)).rejects.toMatchObject({
      cause: [
        { scheme: 'bearer', parameters: { error: 'invalid_token' } },
        { scheme: 'dpop', parameters: { algs: expect.stringContaining('ES256') as string } },
      ],
    });
  },
);

test('RFC 9449 §7.1: an API accepts a bound token with the validation of oauth4webapi, and not from a thief', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true } as const;
  const issuer = new URL(deployment.issuer);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const self: oauth.Client = { client_id: service.client_id };
  const DPoP = oauth.DPoP(self, await oauth.generateKeyPair('ES256'));
  const auth = oauth.ClientSecretBasic(service.client_secret);
  const response = await oauth.clientCredentialsGrantRequest(as, self, auth, {}, { ...insecure, DPoP });
  const { access_token, token_type } = await oauth.processClientCredentialsResponse(as, self, response);
  expect(token_type).toBe('dpop');

  const requests: Request[] = [];
  const take: typeof fetch = async (input, init) => {
    requests.push(new Request(input, init));
    return new Response('', { status: 200 });
  };
  const api = new URL('https://api.example.test/jobs');
  const call = (with_key: oauth.DPoPHandle) =>
    oauth.protectedResourceRequest(access_token, 'GET', api, undefined, undefined, {
      DPoP: with_key,
      [oauth.customFetch]: take as never,
    });
  await call(DPoP);
  await call(oauth.DPoP(self, await oauth.generateKeyPair('ES256')));
  const [mine, stolen] = requests as [Request, Request];
  const validate = (request: Request) => oauth.validateJwtAccessToken(as, request, deployment.issuer, insecure);
  expect(await validate(mine)).toMatchObject({
    client_id: service.client_id,
    cnf: { jkt: expect.any(String) as string },
  });
  await expect(validate(stolen)).rejects.toThrow(/JWT Access Token confirmation mismatch|DPoP/);
});
