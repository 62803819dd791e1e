/** Client authentication (RFC 6749 §2.3): from presented credentials to the Client, before any transaction. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import type { AuthMethod } from '../protocol/client.ts';
import { invalidClient, invalidRequest, tooManyRequests, type Explanation } from '../protocol/error.ts';
import { textOf } from '../protocol/parameters.ts';
import { listOf, strangeName } from '../protocol/redaction.ts';
import type { Client } from '../store/clients.ts';
import { clientSecretBasic, clientSecretPost } from './auth-methods/client-secret.ts';
import type { Method, PresentedCredentials, Proof, ProofContext } from './auth-methods/method.ts';
import { none } from './auth-methods/none.ts';
import { requireProfile } from './profile.ts';
import { privateKeyJwt } from './auth-methods/private-key-jwt.ts';
import { selfSignedTlsClientAuth } from './auth-methods/self-signed-tls-client-auth.ts';
import { tlsClientAuth } from './auth-methods/tls-client-auth.ts';

export type Needs = Pick<Deps, 'directory' | 'guesses'> & ProofContext['deps'];

/**
 * How clients prove who they are (RFC 6749 §2.3): one row a method, keyed by its registered name, in the order in which they are
 * read. What counts only alone is last.
 */
export const authMethods = {
  client_secret_basic: clientSecretBasic,
  client_secret_post: clientSecretPost,
  private_key_jwt: privateKeyJwt,
  tls_client_auth: tlsClientAuth,
  self_signed_tls_client_auth: selfSignedTlsClientAuth,
  none,
} as const satisfies Record<AuthMethod, Method>;

/** Credentials as they were read, and by which method. */
interface Credentials {
  name: string;
  method: Method;
  proof: Proof;
}

const METHODS: Array<[name: string, method: Method]> = Object.entries(authMethods);

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
  const read = readCredentials(presented);
  const [{ name, method, proof }] = read;
  const { client_id } = proof;
  const refuseGuess = (retry_after: number): void => {
    if (retry_after === 0) return;
    throw tooManyRequests('too many failed attempts, wait and try again', {
      retry_after,
      check: 'client_guesses',
      expected: `a pause of ${retry_after} more seconds`,
      received: name,
    });
  };
  const blocked = (): number => (method.guessable ? guesses.blocked(client_id, by.network, now) : 0);
  refuseGuess(blocked());
  const client = await directory.client(client_id);
  // Again, and nothing is awaited from here until a wrong secret is counted: of many at once no more are compared.
  refuseGuess(blocked());
  const credentials = read.find((one) => client && one.method.isUsedBy(client)) ?? read[0];
  const answer = refute(client, credentials, { deps, now });
  const refuted = answer instanceof Promise ? await answer : answer;
  if (client && refuted === undefined) {
    requireProfile(deps, client);
    return client;
  }
  if (method.guessable) {
    refuseGuess(await guesses.failed({ client_id, network: by.network, known: client !== undefined }, now));
  }
  throw invalidClient('client authentication failed', {
    cause: refuted,
    ...explanationOf(client, credentials, refuted ?? ''),
  });
}

/**
 * The credentials of a request: RFC 6749 §2.3 allows one method in each. Where nothing was sent but a name, several methods may have
 * read it, one of which is the client's: none of them can be guessed.
 * @throws OAuthError invalid_client, invalid_request
 */
function readCredentials(presented: PresentedCredentials): [Credentials, ...Credentials[]] {
  const all: Credentials[] = [];
  const alone: Credentials[] = [];
  for (const [name, method] of METHODS) {
    if (method.onlyAlone && all.length > 0) continue;
    const proof = method.read(presented);
    if (proof) (method.onlyAlone ? alone : all).push({ name, method, proof });
  }
  const [credentials = alone[0]] = all;
  if (!credentials) {
    const detail = { check: 'client_authentication', expected: 'credentials of a client', received: 'none' } as const;
    throw invalidClient('client authentication is missing', detail);
  }
  if (all.length > 1) {
    const received = listOf(all.map(({ name }) => name));
    const detail = { check: 'client_authentication', expected: 'one method', received } as const;
    throw invalidRequest('use one client authentication method, not two', detail);
  }
  const { name, proof } = credentials;
  const client_id = textOf(presented.parameters, 'client_id');
  if (client_id !== undefined && client_id !== proof.client_id) {
    throw invalidRequest('client_id does not match the authenticated client', {
      check: 'client_authentication',
      expected: 'the client_id of the credentials',
      received: `client_id: ${strangeName(client_id)}, ${name}: ${strangeName(proof.client_id)}`,
    });
  }
  return all.length > 0 ? [credentials] : [credentials, ...alone.slice(1)];
}

/** Why the credentials prove nothing; undefined when they prove that it is this client. */
function refute(
  client: Client | undefined,
  { method, proof }: Credentials,
  context: ProofContext,
): ReturnType<Proof['refute']> {
  if (!client) return 'there is no such client, or it is disabled';
  return method.isUsedBy(client) ? proof.refute(client, context) : method.unused;
}

/** For the operator: a client that does not exist, another method than the registered one, or a proof that proves nothing. */
function explanationOf(client: Client | undefined, { name, method, proof }: Credentials, why: string): Explanation {
  if (!client) return { check: 'client_id', expected: 'a registered client', received: strangeName(proof.client_id) };
  const received = `${name}: ${why}`;
  if (method.isUsedBy(client)) return { ...method.refusal, received };
  return { check: 'client_authentication', expected: client.token_endpoint_auth_method, received };
}
