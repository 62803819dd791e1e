/** Public clients (RFC 6749 §2.1): a name and no proof. What protects their codes is PKCE. */
import { isPublic } from '../../protocol/client-metadata.ts';
import type { Method } from './method.ts';

/** A name alone, in the body. */
export const none: Method = ({ client_id, client_secret, client_assertion, authorization }) => {
  const silent = client_secret === undefined && client_assertion === undefined && authorization === undefined;
  if (client_id === undefined || !silent) return undefined;
  return {
    client_id,
    guessable: false,
    refute: (client) => (isPublic(client) ? undefined : 'the client is not public'),
  };
};
