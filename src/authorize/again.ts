/**
 * Checks again a request that was checked and then waited, for a browser, a person, or both. What it was checked against may have
 * changed meanwhile, so whoever opens one runs the rows of the check matrix again, against the client and the scopes of
 * today. What came of a request itself, its nonce or whom its hint means, stays as it was read.
 */
import { requireProfile } from '../clients/profile.ts';
import type { Deps } from '../deps.ts';
import type { DeviceTarget, InteractionRequest, ResponseTarget } from '../protocol/authorization-request.ts';
import { invalidRequest, OAuthError } from '../protocol/error.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { formatScope } from '../protocol/scope.ts';
import type { Client } from '../store/clients.ts';
import type { Interaction } from '../store/interactions.ts';
import { runChecks, type Endpoint } from './checks.ts';
import { mustSign } from './request-object.ts';
import { RefusedAtTarget, targetOf } from './request.ts';

type Needs = Pick<Deps, 'config' | 'directory' | 'keys'>;

/**
 * The request as it may go on today, with no more scope and claims than the client may still have.
 * @throws OAuthError for a page: of a device, or where there is no address any more that an answer could go to
 */
export async function checkAgain<Request extends InteractionRequest>(
  deps: Needs,
  client: Client,
  request: Request,
  endpoint: Endpoint,
  now: Date,
): Promise<Request | RefusedAtTarget> {
  const parameters = parametersOf(request);
  const target: ResponseTarget | DeviceTarget =
    request.user_code === undefined ? targetOf(client, parameters) : request;
  try {
    requireSigned(deps, client, request);
    const { scope, claims, authorization_details } = await runChecks(
      { deps, client, parameters, now },
      endpoint,
      'again',
    );
    return { ...request, scope, claims, authorization_details };
  } catch (error) {
    if (!(error instanceof OAuthError) || target.user_code !== undefined) throw error;
    return new RefusedAtTarget(target, error.explain({ client_id: client.client_id }), parameters);
  }
}

/** Where the request of an interaction came in. */
export function endpointOf({ device_hash, pushed_hash }: Interaction): Endpoint {
  if (device_hash !== null) return 'device_authorization';
  return pushed_hash === null ? 'authorize' : 'par';
}

/** The client of a request that waited, as it is today. @throws OAuthError for a page, when it is gone */
export async function clientOf(deps: Pick<Deps, 'config' | 'directory'>, client_id: string): Promise<Client> {
  const client = await deps.directory.client(client_id);
  if (client) {
    requireProfile(deps, client);
    return client;
  }
  throw invalidRequest('the application is no longer registered here', {
    check: 'client_id',
    client_id,
    received: 'a client that was deleted while the request waited',
  });
}

/**
 * Checks a request once more by rows read past the cache: nothing was written for it, perhaps because another server changed
 * what it was checked against. @throws OAuthError, or returns a RefusedAtTarget, where that is why
 */
export async function checkAgainUncached(
  deps: Needs,
  row: Interaction,
  now: Date,
): Promise<InteractionRequest | RefusedAtTarget> {
  deps.directory.clear();
  return checkAgain(deps, await clientOf(deps, row.client_id), row.request, endpointOf(row), now);
}

/** Where an older server stored the request, `signed` is undefined, and the request may go on. @throws OAuthError invalid_request */
function requireSigned(deps: Needs, client: Client, { signed }: InteractionRequest): void {
  if (signed !== false || !mustSign(deps, client)) return;
  const detail = { check: 'request_object', expected: 'a signed request', received: 'one that was not' } as const;
  throw invalidRequest('the request has to be a signed request object (RFC 9101)', detail);
}

/** The parameters of a stored request, as far as the rows that are run again read them. */
function parametersOf(request: InteractionRequest): Parameters {
  const { scope, resource, code_challenge, prompt, claims, authorization_details } = request;
  return {
    ...(request.user_code === undefined && {
      response_type: 'code',
      redirect_uri: request.redirect_uri,
      response_mode: request.response_mode,
      state: request.state,
    }),
    scope: formatScope(scope),
    resource,
    prompt: prompt.join(' '),
    ...(code_challenge !== undefined && { code_challenge, code_challenge_method: 'S256' }),
    ...(claims && { claims }),
    ...(authorization_details && { authorization_details: JSON.stringify(authorization_details) }),
  } as unknown as Parameters;
}
