/** A client's end of encryption: its keys, and what it reads with them. */
import {
  compactDecrypt,
  exportJWK,
  generateKeyPair,
  type CryptoKey,
  type JWK,
  type ProtectedHeaderParameters,
} from 'jose';
import type { Outbound } from '../../src/platform/outbound.ts';
import type { PublicJwks } from '../../src/protocol/jwks.ts';

export interface EncryptionPair {
  privateKey: CryptoKey;
  jwk: JWK;
}

/** A pair to encrypt to. `members` are added to the public half. */
export async function anEncryptionKey(
  alg: string,
  members: { [K in keyof JWK]?: JWK[K] | undefined } = {},
  crv?: string,
): Promise<EncryptionPair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, {
    extractable: true,
    ...(crv !== undefined && { crv }),
  });
  const jwk = { ...(await exportJWK(publicKey)), use: 'enc', kid: `${alg} key`, ...members };
  return { privateKey, jwk: JSON.parse(JSON.stringify(jwk)) as JWK };
}

export const jwksOf = (...keys: JWK[]): PublicJwks => ({ keys: keys as PublicJwks['keys'] });

/** What a client finds in a JWE. */
export async function opened(
  jwe: string,
  privateKey: CryptoKey,
): Promise<{ header: ProtectedHeaderParameters & { kid?: string; iss?: string }; text: string }> {
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, privateKey);
  return { header: protectedHeader, text: new TextDecoder().decode(plaintext) };
}

/** A network of the given documents; everything else answers 404. Counts what it was asked. */
export function aNetwork(documents: Record<string, unknown>): { fetch: Outbound; asked: string[] } {
  const asked: string[] = [];
  const fetch: Outbound = (url) => {
    asked.push(url);
    const found = documents[url];
    if (found instanceof Error) return Promise.reject(found);
    const headers = { get: () => null };
    const text = typeof found === 'string' ? found : JSON.stringify(found ?? null);
    const answer = { media_type: 'application/json', headers, bytes: Buffer.from(text), text };
    return Promise.resolve({ status: found === undefined ? 404 : 200, ...answer });
  };
  return { fetch, asked };
}
