/** Clients: who is asking. What was presented -> the Client, before any transaction. Registration is beside it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { usesSecret, type AuthMethod } from '../protocol/client-metadata.ts';
import { invalidClient, invalidRequest, tooManyRequests, type Explanation } from '../protocol/error.ts';
import { listOf, strangeName } from '../protocol/redaction.ts';
import type { Client } from '../store/clients.ts';
import { authMethods } from './auth-methods/index.ts';
import type { Method, PresentedCredentials, Proof, ProofContext } from './auth-methods/method.ts';

export type Needs = Pick<Deps, 'directory' | 'guesses'> & ProofContext['deps'];

const METHODS = Object.entries(authMethods) as Array<[AuthMethod, Method]>;

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
  const proofs: Array<Proof & { method: AuthMethod }> = [];
  for (const [method, prove] of METHODS) {
    const proof = prove(presented);
    if (proof) proofs.push({ ...proof, method });
  }
  const methods = (): string => listOf(proofs.map(({ method }) => method));
  const [proof] = proofs;
  if (!proof) {
    const detail = { check: 'client_authentication', expected: 'credentials of a client', received: 'none' } as const;
    throw invalidClient('client authentication is missing', detail);
  }
  // RFC 6749 §2.3: at most one method in a request.
  if (proofs.length > 1) {
    const detail = { check: 'client_authentication', expected: 'one method', received: methods() } as const;
    throw invalidRequest('use one client authentication method, not two', detail);
  }
  if (presented.client_id !== undefined && presented.client_id !== proof.client_id) {
    throw invalidRequest('client_id does not match the authenticated client', {
      check: 'client_authentication',
      expected: 'the client_id of the credentials',
      received: `client_id: ${strangeName(presented.client_id)}, ${proof.method}: ${strangeName(proof.client_id)}`,
    });
  }

  const { client_id, guessable } = proof;
  const refuseGuess = (retry_after: number): void => {
    if (retry_after === 0) return;
    throw tooManyRequests('too many failed attempts, wait and try again', {
      retry_after,
      check: 'client_guesses',
      expected: `a pause of ${retry_after} more seconds`,
      received: methods(),
    });
  };
  const blocked = (): number => (guessable ? guesses.blocked(client_id, by.network, now) : 0);
  refuseGuess(blocked());
  const client = await directory.client(client_id);
  // Again, and nothing is awaited from here until a wrong secret is counted: of many at once no more are compared.
  refuseGuess(blocked());
  const answer = client ? proof.refute(client, { deps, now }) : 'there is no such client, or it is disabled';
  const refuted = answer instanceof Promise ? await answer : answer;
  if (client && refuted === undefined) return client;
  if (guessable) {
    refuseGuess(await guesses.failed({ client_id, network: by.network, known: client !== undefined }, now));
  }
  throw invalidClient('client authentication failed', {
    cause: refuted,
    ...explanationOf(client, proof, refuted ?? ''),
  });
}

/** For the operator: a client that does not exist, another method than the registered one, or a proof that proves nothing. */
function explanationOf(
  client: Client | undefined,
  { method, client_id }: Proof & { method: AuthMethod },
  why: string,
): Explanation {
  if (!client) return { check: 'client_id', expected: 'a registered client', received: strangeName(client_id) };
  const registered = client.token_endpoint_auth_method;
  const received = `${method}: ${why}`;
  const fits = method === registered || (isSecretMethod(method) && usesSecret(client));
  if (!fits) return { check: 'client_authentication', expected: registered, received };
  return isSecretMethod(method)
    ? { check: 'client_secret', expected: 'a secret of the client that has not expired', received }
    : { check: 'client_assertion', expected: 'an assertion signed with a key of the client', received };
}

const isSecretMethod = (method: AuthMethod): boolean =>
  method === 'client_secret_basic' || method === 'client_secret_post';
