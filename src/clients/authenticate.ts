/** Clients: who is asking. What was presented -> the Client, before any transaction. Registration is beside it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { invalidClient, invalidRequest, tooManyRequests } from '../protocol/error.ts';
import type { Client } from '../store/clients.ts';
import { authMethods, type PresentedCredentials, type Proof } from './auth-methods.ts';

type Needs = Pick<Deps, 'directory' | 'guesses'>;

/**
 * Authenticates a client. Unknown client, wrong secret and wrong method are one answer.
 * @throws OAuthError invalid_client, invalid_request (two methods, none at all), too_many_requests
 */
export async function authenticate(
  { directory, guesses }: Needs,
  presented: PresentedCredentials,
  by: Requester,
  now: Date,
): Promise<Client> {
  const proofs = Object.values(authMethods)
    .map((method) => method(presented))
    .filter((proof): proof is Proof => proof !== undefined);
  const [proof] = proofs;
  if (!proof) throw invalidClient('client authentication is missing');
  // RFC 6749 §2.3: at most one method in a request.
  if (proofs.length > 1) throw invalidRequest('use one client authentication method, not two');
  if (presented.client_id !== undefined && presented.client_id !== proof.client_id) {
    throw invalidRequest('client_id does not match the authenticated client');
  }

  // Without a secret nothing is guessed: a neighbour who guesses cannot slow down a public client's other users.
  const guessing = presented.authorization !== undefined || presented.client_secret !== undefined;
  const retry_after = guessing ? guesses.blocked(proof.client_id, by.network, now) : 0;
  if (retry_after > 0) throw tooManyRequests('too many failed attempts, wait and try again', { retry_after });
  const client = await directory.client(proof.client_id);
  if (client && proof.verify(client, now)) return client;
  if (guessing)
    await guesses.failed({ client_id: proof.client_id, network: by.network, known: client !== undefined }, now);
  throw invalidClient('client authentication failed', {
    cause: client ? 'wrong secret, or a method the client does not use' : 'unknown client',
  });
}
