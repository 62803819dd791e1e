/**
 * From raw parameters to a checked authorization request, in two halves. Until client and redirect_uri are proven, an
 * error is a page; from then on a ResponseTarget is in hand, and errors travel to the client as success would.
 */
import { requireProfile } from '../clients/profile.ts';
import type { Deps } from '../deps.ts';
import type { AuthorizationRequest, ResponseTarget } from '../protocol/authorization-request.ts';
import { invalidRequest, OAuthError } from '../protocol/error.ts';
import { repeatedParameter } from '../protocol/form-encoding.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { listOf, strangeName } from '../protocol/redaction.ts';
import { isRegisteredRedirectUri } from '../protocol/redirect-uri.ts';
import type { Client } from '../store/clients.ts';
import { reader, runChecks } from './checks.ts';
import { mustSign, openParameters } from './request-object.ts';
import { modeFor } from './response-modes.ts';

type Needs = Pick<Deps, 'clientKeys' | 'config' | 'directory' | 'keys' | 'requestUris'>;

/** A refusal that goes to the client. */
export class RefusedAtTarget {
  readonly target: ResponseTarget;
  readonly refusal: OAuthError;
  /** Was nobody to be asked anything (prompt=none)? */
  readonly silent: boolean;
  constructor(target: ResponseTarget, refusal: OAuthError, { prompt }: Parameters) {
    this.target = target;
    this.refusal = refusal;
    this.silent = prompt === 'none';
  }
}

/** First half: who asks. @throws OAuthError for a page; nothing is ever redirected by it */
export async function findClient(deps: Pick<Deps, 'config' | 'directory'>, parameters: Parameters): Promise<Client> {
  refuseRepeated(parameters, ['client_id']);
  const client_id = reader(parameters)('client_id');
  if (client_id === undefined) throw invalidRequest('client_id is missing', { check: 'client_id', received: 'none' });
  const client = await deps.directory.client(client_id);
  if (!client) {
    const detail = { check: 'client_id', expected: 'a registered client', received: strangeName(client_id) } as const;
    throw invalidRequest('client_id is not known here', detail);
  }
  requireProfile(deps, client);
  return client;
}

/** First half: where the answer goes. @throws OAuthError when redirect_uri is not registered */
export function targetOf(client: Client, parameters: Parameters): ResponseTarget {
  refuseRepeated(parameters, ['redirect_uri', 'state']);
  const get = reader(parameters);
  const redirect_uri = get('redirect_uri');
  const { client_id } = client;
  const detail = { check: 'redirect_uri', expected: listOf(client.redirect_uris), client_id } as const;
  if (redirect_uri === undefined) throw invalidRequest('redirect_uri is missing', { ...detail, received: 'none' });
  if (!isRegisteredRedirectUri(redirect_uri, client.redirect_uris, client.application_type)) {
    throw invalidRequest('redirect_uri is not registered for this client', { ...detail, received: redirect_uri });
  }
  const response_mode = modeFor(client, redirect_uri, parameters['response_mode']);
  return { client_id, redirect_uri, response_mode, state: get('state') };
}

/** Refuses on a page where client_id or redirect_uri is repeated: without them there is no client to redirect to. */
function refuseRepeated(parameters: Parameters, names: readonly string[]): void {
  const repeated = repeatedParameter(
    Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name))),
  );
  if (repeated) throw repeated;
}

/** A request of this client, both halves. @throws OAuthError for a page; other refusals are returned with their target */
export async function readRequest(
  deps: Needs,
  client: Client,
  sent: Parameters,
  now: Date,
  endpoint: 'authorize' | 'par',
): Promise<AuthorizationRequest | RefusedAtTarget> {
  let parameters: Parameters;
  try {
    parameters = await openParameters(deps, client, sent, now);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    error.explain({ check: 'request_object', client_id: client.client_id });
    // An object that is not valid says nothing of where its refusal goes. A registered redirect_uri outside proves as much as
    // in any plain request, so where the client sends those too, the refusal may go there.
    const target = mustSign(deps, client) ? undefined : provenTarget(client, sent);
    if (!target) throw error;
    return new RefusedAtTarget(target, error, sent);
  }
  // Second half. From here on every refusal goes to the client.
  const target = targetOf(client, parameters);
  try {
    const checked = await runChecks({ deps, client, parameters, now }, endpoint, 'sent');
    return { ...target, ...checked, signed: parameters !== sent };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return new RefusedAtTarget(target, error.explain({ client_id: client.client_id }), parameters);
  }
}

function provenTarget(client: Client, parameters: Parameters): ResponseTarget | undefined {
  try {
    return targetOf(client, parameters);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
