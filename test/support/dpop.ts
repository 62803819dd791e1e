/** Holders of keys: DPoP proofs (RFC 9449) as a client makes them, and as an attacker would. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { athOf } from '../../src/protocol/dpop.ts';
import type { TestApp } from './app.ts';

/** What a proof is about; `header` and `claims` are put over what is right, undefined takes a member away. */
export interface AProof {
  path: string;
  method?: string;
  access_token?: string;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  /** What signs, instead of the key in the header. */
  signer?: CryptoKey;
}

export interface Holder {
  jkt: string;
  jwk: JWK;
  private_key: CryptoKey;
  /** A proof for a request to this issuer, made now. */
  proof(about: AProof): Promise<string>;
}

let made = 0;

/** Somebody with a key of this algorithm. */
export async function aHolder({ deps }: Pick<TestApp, 'deps'>, alg = 'ES256'): Promise<Holder> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    jkt: await calculateJwkThumbprint(jwk),
    jwk,
    private_key: privateKey,
    proof({ path, method = 'POST', access_token, header, claims, signer = privateKey }) {
      made += 1;
      const said = {
        jti: `proof-${made}`,
        htm: method,
        htu: `${deps.config.ISSUER}${path}`,
        iat: Math.floor(deps.clock().getTime() / 1000),
        ...(access_token !== undefined && { ath: athOf(access_token) }),
        ...claims,
      };
      return new SignJWT(said).setProtectedHeader({ typ: 'dpop+jwt', alg, jwk, ...header }).sign(signer);
    },
  };
}
