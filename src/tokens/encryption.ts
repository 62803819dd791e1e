/** JWE (RFC 7516): tokens that only their client can read. Its key is fetched before anything is spent, and used after. */
import { CompactEncrypt } from 'jose';
import type { Deps } from '../deps.ts';
import type { Encrypted } from '../protocol/client-metadata.ts';
import { temporarilyUnavailable } from '../protocol/error.ts';
import type { Client } from '../store/clients.ts';

/** Encrypts to one client; `header` goes in the clear. */
export type Seal = (payload: string, header?: Record<string, string>) => Promise<string>;

/** The header of a JWE that holds a JWT (RFC 7519 §5.2). */
export const NESTED = { cty: 'JWT' };

/** Seconds until we look for a client's keys again. */
const RETRY_AFTER = 30;

/**
 * What encrypts this client's ID tokens, or its userinfo; undefined when it registered for no encryption.
 * @throws OAuthError temporarily_unavailable when its key cannot be had: what it presented can be presented again
 */
export async function sealFor(
  { clientKeys }: Pick<Deps, 'clientKeys'>,
  client: Client,
  what: Encrypted,
): Promise<Seal | undefined> {
  const alg = client[`${what}_encrypted_response_alg`];
  const enc = client[`${what}_encrypted_response_enc`];
  if (alg === null || enc === null) return undefined;
  const found = await clientKeys.encryptionKeyOf(client, alg);
  if (!found) {
    const description = `the client has no usable key for ${alg} that we can have: see its jwks or jwks_uri`;
    throw temporarilyUnavailable(description, { retry_after: RETRY_AFTER });
  }
  const { key, kid } = found;
  return (payload, header = {}) =>
    new CompactEncrypt(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg, enc, ...(kid !== undefined && { kid }), ...header })
      .encrypt(key);
}
