/**
 * Requests that were checked and then waited: for a browser, a person, or both. What they were checked against may have
 * changed meanwhile, so whoever opens one runs the rows of the check matrix again, against the client and the scopes of
 * today. What came of a request itself, its nonce or whom its hint means, stays as it was read.
 */
import type { Deps } from '../deps.ts';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { DEVICE_GRANT } from '../protocol/client-metadata.ts';
import { invalidRequest, OAuthError, unauthorizedClient } from '../protocol/error.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { listOf } from '../protocol/redaction.ts';
import { formatScope } from '../protocol/scope.ts';
import type { Client } from '../store/clients.ts';
import { checks, reader, type Check, type CheckContext } from './checks.ts';
import type { Interaction } from '../store/interactions.ts';
import { mustSign } from './request-object.ts';
import { RefusedAtTarget, targetOf } from './request.ts';

type Needs = Pick<Deps, 'config' | 'directory' | 'keys'>;

/** The rows that look at the client, the scopes or the resources. */
const AGAIN = ['pushed', 'response_type', 'response_mode', 'pkce', 'scope', 'resource', 'claims'] as const;

/**
 * The request as it may go on today, with no more scope and claims than the client may still have.
 * @throws OAuthError for a page: of a device, or where there is no address any more that an answer could go to
 */
export async function checkAgain(
  deps: Needs,
  client: Client,
  request: AuthorizationRequest,
  { pushed }: { pushed: boolean },
  now: Date,
): Promise<AuthorizationRequest | RefusedAtTarget> {
  const parameters = parametersOf(request);
  const context = { deps, client, now, pushed, parameters, get: reader(parameters) };
  if (request.user_code !== undefined) {
    requireDeviceGrant(client);
    return { ...request, ...(await checks.scope(context)), ...(await checks.resource(context)) };
  }
  const target = targetOf(client, parameters);
  try {
    return await runAgain(deps, context, request);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return new RefusedAtTarget(target, error.explain({ client_id: client.client_id }), parameters);
  }
}

/** The client of a request that waited, as it is today. @throws OAuthError for a page, when it is gone */
export async function clientOf({ directory }: Pick<Deps, 'directory'>, client_id: string): Promise<Client> {
  const client = await directory.client(client_id);
  if (client) return client;
  throw invalidRequest('the application is no longer registered here', {
    check: 'client_id',
    client_id,
    received: 'a client that was deleted while the request waited',
  });
}

/**
 * Nothing was written for a request, and another server may have changed what it was checked against: it is checked once
 * more, by rows that are read anew. @throws OAuthError, and a RefusedAtTarget is returned, when that is why
 */
export async function checkAnew(
  deps: Needs,
  row: Interaction,
  now: Date,
): Promise<AuthorizationRequest | RefusedAtTarget> {
  deps.directory.clear();
  return checkAgain(deps, await clientOf(deps, row.client_id), row.request, { pushed: row.pushed_hash !== null }, now);
}

async function runAgain(
  deps: Needs,
  context: CheckContext,
  request: AuthorizationRequest,
): Promise<AuthorizationRequest> {
  if (request.signed === false && mustSign(deps, context.client)) {
    const detail = { check: 'request_object', expected: 'a signed request', received: 'one that was not' } as const;
    throw invalidRequest('the request has to be a signed request object (RFC 9101)', detail);
  }
  const today = { ...request };
  for (const name of AGAIN) {
    const check: Check = checks[name];
    try {
      const { scope, claims } = await check(context);
      if (name === 'scope') today.scope = scope!;
      if (name === 'claims') today.claims = claims;
    } catch (error) {
      throw error instanceof OAuthError ? error.explain({ check: name }) : error;
    }
  }
  return today;
}

/** What a client would send to ask for this again, as far as the rows above look at it. */
function parametersOf(request: AuthorizationRequest): Parameters {
  const { redirect_uri, response_mode, state, scope, resource, code_challenge, prompt, claims } = request;
  return {
    response_type: 'code',
    redirect_uri,
    response_mode,
    state,
    scope: formatScope(scope),
    resource,
    prompt: prompt.join(' '),
    ...(code_challenge !== undefined && { code_challenge, code_challenge_method: 'S256' }),
    ...(claims && { claims }),
  } as unknown as Parameters;
}

/** @throws OAuthError unauthorized_client */
export function requireDeviceGrant({ grant_types }: Client): void {
  if (grant_types.includes(DEVICE_GRANT)) return;
  throw unauthorizedClient('the client is not registered for the device flow', {
    check: 'grant_type',
    expected: listOf(grant_types),
    received: DEVICE_GRANT,
  });
}
