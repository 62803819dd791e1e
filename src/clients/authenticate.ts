/** Clients: who is asking. What was presented -> the Client, before any transaction. Registration is beside it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { invalidClient, invalidRequest, tooManyRequests } from '../protocol/error.ts';
import type { Client } from '../store/clients.ts';
import { authMethods } from './auth-methods/index.ts';
import type { PresentedCredentials, Proof, ProofContext } from './auth-methods/method.ts';

export type Needs = Pick<Deps, 'directory' | 'guesses'> & ProofContext['deps'];

/**
 * Authenticates a client. Unknown client, wrong secret and wrong method are one answer.
 * @throws OAuthError invalid_client, invalid_request (two methods, none at all), too_many_requests
 */
export async function authenticate(
  deps: Needs,
  presented: PresentedCredentials,
  by: Requester,
  now: Date,
): Promise<Client> {
  const { directory, guesses } = deps;
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

  const retry_after = proof.guessable ? guesses.blocked(proof.client_id, by.network, now) : 0;
  if (retry_after > 0) throw tooManyRequests('too many failed attempts, wait and try again', { retry_after });
  const client = await directory.client(proof.client_id);
  const refuted = client ? await proof.refute(client, { deps, now }) : 'there is no such client, or it is disabled';
  if (client && refuted === undefined) return client;
  if (proof.guessable) {
    await guesses.failed({ client_id: proof.client_id, network: by.network, known: client !== undefined }, now);
  }
  throw invalidClient('client authentication failed', { cause: refuted });
}
