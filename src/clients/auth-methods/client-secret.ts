/** Client secrets (RFC 6749 §2.3.1), in the header or in the body. Both prove the same thing, so a client may use either. */
import { isAscii } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { usesSecret } from '../../protocol/client.ts';
import { invalidClient, OAuthError } from '../../protocol/error.ts';
import { decodeFormValue } from '../../protocol/form-encoding.ts';
import { textOf } from '../../protocol/parameters.ts';
import { readUtf8 } from '../../protocol/plain-text.ts';
import type { Client } from '../../store/clients.ts';
import { sha256 } from '../../protocol/handle.ts';
import type { Method, Proof } from './method.ts';

/** What both methods have in common. */
const secretMethod = {
  guessable: true,
  isUsedBy: usesSecret,
  unused: 'the client has no secret',
  refusal: { check: 'client_secret', expected: 'a secret of the client that has not expired' },
} as const satisfies Partial<Method>;

/** The secret in the Authorization header. */
export const clientSecretBasic: Method = {
  ...secretMethod,
  /** @throws OAuthError invalid_client when the header is not Basic */
  read({ headers: { authorization } }) {
    if (authorization === undefined) return undefined;
    const [client_id, secret] = decodeBasic(authorization);
    return secretProof(client_id, secret);
  },
};

/** The secret in the body. */
export const clientSecretPost: Method = {
  ...secretMethod,
  read({ parameters }) {
    const secret = textOf(parameters, 'client_secret');
    return secret === undefined ? undefined : secretProof(textOf(parameters, 'client_id') ?? '', secret);
  },
};

const secretProof = (client_id: string, secret: string): Proof => ({
  client_id,
  refute: (client, { now }) => problemOf(client, secret, now),
});

/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
function decodeBasic(authorization: string): [client_id: string, client_secret: string] {
  const match = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization);
  const text = (match && textIn(Buffer.from(match[1]!, 'base64'))) ?? '';
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

/** Nearly every header is ASCII, at which a strict decoder is slow. */
const textIn = (bytes: Buffer): string | undefined => (isAscii(bytes) ? bytes.toString('latin1') : readUtf8(bytes));

/** Why this secret does not authenticate the client; undefined when it does. */
function problemOf(client: Client, secret: string, now: Date): string | undefined {
  const hash = sha256(secret);
  let problem: string | undefined = 'wrong secret';
  for (const { hash: expected, expires_at } of client.secrets) {
    const live = expires_at === null || expires_at > now;
    if (timingSafeEqual(hash, expected))
      problem = live ? undefined : `the secret expired at ${expires_at.toISOString()}`;
  }
  return problem;
}
