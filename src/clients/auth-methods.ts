/** How clients prove who they are (RFC 6749 §2.3): what each method presents, one row a method. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { invalidClient, OAuthError } from '../protocol/error.ts';
import { decodeFormValue } from '../protocol/form-encoding.ts';
import type { AuthMethod } from '../protocol/client-metadata.ts';
import type { Client } from '../store/clients.ts';

/** What a request carries that could authenticate a client. */
export interface PresentedCredentials {
  /** The Authorization header, whole. */
  authorization: string | undefined;
  client_id: string | undefined;
  client_secret: string | undefined;
}

export interface Proof {
  client_id: string;
  /** Does it prove that the caller is this client? */
  verify(client: Client, now: Date): boolean;
}

/** Reads one method's credentials; undefined when the request does not use it. */
type Method = (presented: PresentedCredentials) => Proof | undefined;

export const authMethods = {
  client_secret_basic({ authorization }) {
    if (authorization === undefined) return undefined;
    const [client_id, secret] = decodeBasic(authorization);
    return { client_id, verify: (client, now) => isSecretOf(client, secret, now) };
  },
  client_secret_post({ client_id, client_secret }) {
    if (client_secret === undefined) return undefined;
    return { client_id: client_id ?? '', verify: (client, now) => isSecretOf(client, client_secret, now) };
  },
  none({ client_id, client_secret, authorization }) {
    if (client_id === undefined || client_secret !== undefined || authorization !== undefined) return undefined;
    return { client_id, verify: (client) => client.token_endpoint_auth_method === 'none' };
  },
} as const satisfies Record<AuthMethod, Method>;

/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
function decodeBasic(authorization: string): [client_id: string, client_secret: string] {
  const match = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization);
  const text = match ? Buffer.from(match[1]!, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient('the Authorization header is not HTTP Basic with a client_id and a secret');
  try {
    return [decodeFormValue(text.slice(0, colon)), decodeFormValue(text.slice(colon + 1))];
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // A secret with a bare % from a client that does not encode: take it as it came.
    return [text.slice(0, colon), text.slice(colon + 1)];
  }
}

/** Both secret methods prove the same thing, so a client may use either (interoperability: x/oauth2 probes). */
function isSecretOf(client: Client, secret: string, now: Date): boolean {
  if (client.token_endpoint_auth_method === 'none') return false;
  const hash = createHash('sha256').update(secret).digest();
  let matches = false;
  for (const { hash: expected, expires_at } of client.secrets) {
    const live = expires_at === null || expires_at > now;
    if (timingSafeEqual(hash, expected) && live) matches = true;
  }
  return matches;
}
