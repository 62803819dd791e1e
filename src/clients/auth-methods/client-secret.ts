/** Client secrets (RFC 6749 §2.3.1), in the header or in the body. Both prove the same thing, so a client may use either. */
import { timingSafeEqual } from 'node:crypto';
import { usesSecret } from '../../protocol/client-metadata.ts';
import { invalidClient, OAuthError } from '../../protocol/error.ts';
import { decodeFormValue } from '../../protocol/form-encoding.ts';
import { readUtf8 } from '../../protocol/plain-text.ts';
import type { Client } from '../../store/clients.ts';
import { sha256 } from '../../store/handle.ts';
import type { Method, Proof } from './method.ts';

/** The secret in the Authorization header. @throws OAuthError invalid_client when the header is not Basic */
export const clientSecretBasic: Method = ({ authorization }) => {
  if (authorization === undefined) return undefined;
  const [client_id, secret] = decodeBasic(authorization);
  return secretProof(client_id, secret);
};

/** The secret in the body. */
export const clientSecretPost: Method = ({ client_id, client_secret }) =>
  client_secret === undefined ? undefined : secretProof(client_id ?? '', client_secret);

const secretProof = (client_id: string, secret: string): Proof => ({
  client_id,
  guessable: true,
  refute: (client, { now }) => problemOf(client, secret, now),
});

/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
function decodeBasic(authorization: string): [client_id: string, client_secret: string] {
  const match = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization);
  const text = (match && readUtf8(Buffer.from(match[1]!, 'base64'))) ?? '';
  const colon = text.indexOf(':');
  if (colon < 0) {
    const detail = { check: 'client_authentication', expected: 'HTTP Basic' } as const;
    throw invalidClient('the Authorization header is not HTTP Basic with a client_id and a secret', detail);
  }
  try {
    return [decodeFormValue(text.slice(0, colon)), decodeFormValue(text.slice(colon + 1))];
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // A secret with a bare % from a client that does not encode: take it as it came.
    return [text.slice(0, colon), text.slice(colon + 1)];
  }
}

/** Why this secret proves nothing; undefined when it does. */
function problemOf(client: Client, secret: string, now: Date): string | undefined {
  if (!usesSecret(client)) return 'the client has no secret';
  const hash = sha256(secret);
  let problem: string | undefined = 'wrong secret';
  for (const { hash: expected, expires_at } of client.secrets) {
    const live = expires_at === null || expires_at > now;
    if (timingSafeEqual(hash, expected))
      problem = live ? undefined : `the secret expired at ${expires_at.toISOString()}`;
  }
  return problem;
}
