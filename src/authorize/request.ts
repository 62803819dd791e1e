/**
 * From raw parameters to a checked authorization request, in two halves. Until client and redirect_uri are proven, an
 * error is a page; from then on a ResponseTarget is in hand, and errors travel to the client as success would.
 */
import type { Deps } from '../deps.ts';
import {
  RESPONSE_MODES,
  type AuthorizationRequest,
  type ResponseMode,
  type ResponseTarget,
} from '../protocol/authorization-request.ts';
import { invalidRequest, OAuthError } from '../protocol/error.ts';
import { repeatedParameter } from '../protocol/form-encoding.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { listOf, strangeName } from '../protocol/redaction.ts';
import { isRegisteredRedirectUri, isWebUri } from '../protocol/redirect-uri.ts';
import type { Client } from '../store/clients.ts';
import { checks, type Check, isResponseMode, mayUse, reader, type CheckContext } from './checks.ts';
import { mustSign, openParameters } from './request-object.ts';

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
export async function findClient({ directory }: Pick<Deps, 'directory'>, parameters: Parameters): Promise<Client> {
  refuseRepeated(parameters, ['client_id']);
  const client_id = reader(parameters)('client_id');
  if (client_id === undefined) throw invalidRequest('client_id is missing', { check: 'client_id', received: 'none' });
  const client = await directory.client(client_id);
  if (!client) {
    const detail = { check: 'client_id', expected: 'a registered client', received: strangeName(client_id) } as const;
    throw invalidRequest('client_id is not known here', detail);
  }
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
  const mode = parameters['response_mode'];
  // A page cannot post to a private-use scheme: there even the refusal of form_post goes by query.
  const usable = (one: ResponseMode): boolean => mayUse(client, one) && (one !== 'form_post' || isWebUri(redirect_uri));
  const asked = typeof mode === 'string' && isResponseMode(mode) ? mode : 'query';
  const response_mode = [asked, ...RESPONSE_MODES].find(usable) ?? 'query';
  return { client_id, redirect_uri, response_mode, state: get('state') };
}

/** Of these no client can be told: they say who and where it is. */
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
  { pushed }: { pushed: boolean },
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
  const request = await checkRequest(deps, client, targetOf(client, parameters), parameters, now, { pushed });
  return request instanceof RefusedAtTarget ? request : { ...request, signed: parameters !== sent };
}

function provenTarget(client: Client, parameters: Parameters): ResponseTarget | undefined {
  try {
    return targetOf(client, parameters);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** Second half: everything else. Returns the refusal with its target instead of throwing. */
async function checkRequest(
  deps: Needs,
  client: Client,
  target: ResponseTarget,
  parameters: Parameters,
  now: Date,
  { pushed }: { pushed: boolean },
): Promise<AuthorizationRequest | RefusedAtTarget> {
  const context: CheckContext = { deps, client, now, pushed, parameters, get: reader(parameters) };
  const request: AuthorizationRequest = { ...target, scope: [], resource: [], prompt: [] };
  const { client_id } = client;
  for (const [name, check] of Object.entries<Check>(checks) as Array<[keyof typeof checks, Check]>) {
    try {
      Object.assign(request, await check(context));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      error.explain({ check: name, client_id, received: sentAs(name, parameters) });
      return new RefusedAtTarget(target, error, parameters);
    }
  }
  return request;
}

// Of these the value is no secret and no bigger than a line.
const SHOWN: ReadonlySet<string> = new Set([
  'response_type',
  'response_mode',
  'scope',
  'resource',
  'prompt',
  'max_age',
]);

function sentAs(name: string, parameters: Parameters): string | undefined {
  if (!SHOWN.has(name)) return undefined;
  return listOf([parameters[name] ?? []].flat());
}
