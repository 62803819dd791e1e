/** How clients prove who they are (RFC 6749 §2.3): one row a method, keyed by its registered name. */
import type { AuthMethod } from '../../protocol/client-metadata.ts';
import { clientSecretBasic, clientSecretPost } from './client-secret.ts';
import type { Method } from './method.ts';
import { none } from './none.ts';
import { privateKeyJwt } from './private-key-jwt.ts';

export const authMethods = {
  client_secret_basic: clientSecretBasic,
  client_secret_post: clientSecretPost,
  private_key_jwt: privateKeyJwt,
  none,
} as const satisfies Record<AuthMethod, Method>;
