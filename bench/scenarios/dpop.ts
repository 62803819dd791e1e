/** DPoP (RFC 9449): each request with a proof of its own, signed by ES256, without nonces. The peer keeps its replays in memory. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { filled, type Amount, type Load, type Scenario, type Shot } from '../scenario.ts';
import { athOf } from '../../src/protocol/dpop.ts';
import { SCOPE } from '../shared.ts';
import { machineRequest, redemption, send, type Client } from '../world.ts';
import { has, isSignedBy } from './checks.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) });

/** Proofs for one request, each good once. */
function proofs(count: number, htm: string, htu: string, access_token?: string): string[] {
  const ath = access_token === undefined ? {} : { ath: athOf(access_token) };
  return Array.from({ length: count }, () => {
    const body = `${HEADER}.${encoded({ jti: randomUUID(), htm, htu, iat: Math.floor(Date.now() / 1000), ...ath })}`;
    return `${body}.${sign('sha256', Buffer.from(body), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  });
}

const withProof = (shot: Shot): Shot => ({ ...shot, headers: { ...shot.headers, dpop: '{}' } });

const machineLoad = (origin: string, client: Client, { values }: Amount): Load => ({
  shot: withProof(machineRequest(client, 'es256')),
  values: proofs(values, 'POST', `${origin}/token`),
});

export const clientCredentialsDpop: Scenario = {
  title: 'client_credentials, JWT ES256, DPoP',
  ceiling: 'form',
  postern: async ({ origin, machine }, amount) => machineLoad(origin, machine, amount),
  peer: async ({ origin, client }, amount) => machineLoad(origin, client, amount),
  check(body) {
    isSignedBy(body, 'access_token', 'ES256');
    has(body, 'token_type', 'DPoP');
  },
};

async function userinfoLoad(
  origin: string,
  client: Client,
  code: string,
  path: string,
  { values }: Amount,
): Promise<Load> {
  const [proof] = proofs(1, 'POST', `${origin}/token`);
  const redeemed = filled(withProof({ ...redemption(client), body: filled(redemption(client), code).body! }), proof!);
  const access_token = String((await send(origin, redeemed))['access_token']);
  const shot: Shot = { method: 'GET', path, headers: { authorization: `DPoP ${access_token}`, dpop: '{}' } };
  return { shot, values: proofs(values, 'GET', `${origin}${path}`, access_token) };
}

/** The peer's token is opaque: it takes no JWT there. */
export const userinfoDpop: Scenario = {
  title: 'userinfo, JWT ES256, DPoP',
  ceiling: 'form',
  postern: async ({ origin, jwtApp, codes }, amount) =>
    userinfoLoad(origin, jwtApp, (await codes(1, jwtApp))[0]!, '/userinfo', amount),
  peer: async ({ origin, client, codes }, amount) =>
    userinfoLoad(origin, client, (await codes(1, SCOPE))[0]!, '/me', amount),
  check: (body) => has(body, 'email'),
};
