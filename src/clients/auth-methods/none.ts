/** Public clients (RFC 6749 §2.1): a name and no proof. What protects their codes is PKCE. */
import { isPublic } from '../../protocol/client.ts';
import { textOf } from '../../protocol/parameters.ts';
import type { Method } from './method.ts';

/** A name alone, in the body. */
export const none: Method = {
  read({ parameters }) {
    const client_id = textOf(parameters, 'client_id');
    return client_id === undefined ? undefined : { client_id, refute: () => undefined };
  },
  onlyAlone: true,
  guessable: false,
  isUsedBy: isPublic,
  unused: 'the client is not public',
  refusal: { check: 'client_id', expected: 'a public client' },
};
