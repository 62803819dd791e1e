/**
 * The checks of an authorization request: one row a check, in order, and its columns say which endpoint runs it, and whether
 * it is run again. Each reads raw parameters and the client, and returns its part of the checked request.
 */
import type { Deps } from '../deps.ts';
import { requestedDetails } from '../clients/details.ts';
import { lookUp } from '../languages/index.ts';
import { readContexts, requestedAcr, valuesOf } from '../protocol/acr.ts';
import {
  LIMITS,
  RESPONSE_MODES,
  RESPONSE_TYPES,
  type AuthorizationRequest,
} from '../protocol/authorization-request.ts';
import { narrowClaimsRequest, parseClaimsRequest } from '../protocol/claims-request.ts';
import { isThumbprint } from '../protocol/confirmation.ts';
import { DEVICE_GRANT, isPublic } from '../protocol/client.ts';
import type { Check as CheckName } from '../protocol/check.ts';
import { invalidRequest, invalidScope, OAuthError, unauthorizedClient } from '../protocol/error.ts';
import { repeatedParameter } from '../protocol/form-encoding.ts';
import { parseChallenge } from '../protocol/pkce.ts';
import { parsePrompt } from '../protocol/prompt.ts';
import { kindOf, listOf } from '../protocol/redaction.ts';
import { parseResource, requireRegistered, scopeForAny } from '../protocol/resource.ts';
import { OPENID, parseScope, scopeForPerson, scopeOpenTo } from '../protocol/scope.ts';
import type { Parameters } from '../protocol/parameters.ts';
import type { Client } from '../store/clients.ts';
import { sectorOf } from '../protocol/sector.ts';
import { responseAlgOf } from '../tokens/authorization-response.ts';
import { readHint } from '../tokens/id-token-hint.ts';
import { rulesOf } from '../tokens/rules.ts';
import { isRegistrationOn } from '../users/sign-up-policy.ts';
import { claimsOpenedBy } from '../users/claims.ts';
import { canReach, isInJwt, isResponseMode, mayUse } from './response-modes.ts';

/** What a check may look at. */
export interface CheckContext {
  deps: Pick<Deps, 'config' | 'directory' | 'keys'>;
  client: Client;
  now: Date;
  /** One parameter as sent; undefined when absent. @throws OAuthError invalid_request when it is too long */
  get(name: string): string | undefined;
  parameters: Parameters;
}

type Part = Partial<AuthorizationRequest>;
/** @throws OAuthError */
type Check = (context: CheckContext) => Part | Promise<Part>;

/** Where such requests come in. What a request object (RFC 9101) holds is checked as what came outside one. */
export type Endpoint = 'authorize' | 'par' | 'device_authorization';

interface Row {
  check: Check;
  at: readonly Endpoint[];
  /** Also when a request that waited goes on: the row looks at the client, the scopes or the resources of today. */
  again?: true;
}

/** Endpoints whose requests a browser brings on. */
const BY_BROWSER = ['authorize', 'par'] as const;
const EVERYWHERE = [...BY_BROWSER, 'device_authorization'] as const;

/** The matrix, in the order in which the rows run. Another endpoint is another name in `Endpoint`, and in the rows it runs. */
export const checks = {
  repeated: { check: repeated, at: BY_BROWSER },
  unsupported: { check: unsupported, at: BY_BROWSER },
  pushed: { check: pushed, at: ['authorize'], again: true },
  grant_type: { check: grant_type, at: ['device_authorization'], again: true },
  response_type: { check: response_type, at: BY_BROWSER, again: true },
  response_mode: { check: response_mode, at: BY_BROWSER, again: true },
  pkce: { check: pkce, at: BY_BROWSER, again: true },
  dpop_jkt: { check: dpop_jkt, at: BY_BROWSER },
  scope: { check: scope, at: EVERYWHERE, again: true },
  resource: { check: resource, at: EVERYWHERE, again: true },
  authorization_details: { check: authorization_details, at: EVERYWHERE, again: true },
  prompt: { check: prompt, at: BY_BROWSER },
  max_age: { check: max_age, at: BY_BROWSER },
  claims: { check: claims, at: BY_BROWSER, again: true },
  nonce: { check: nonce, at: BY_BROWSER },
  login_hint: { check: login_hint, at: BY_BROWSER },
  ui_locales: { check: ui_locales, at: BY_BROWSER },
  id_token_hint: { check: id_token_hint, at: BY_BROWSER },
} as const satisfies Partial<Record<CheckName, Row>>;

type Rows = ReadonlyArray<readonly [name: CheckName, check: Check]>;
const rowsAt = (endpoint: Endpoint): Record<'sent' | 'again', Rows> => {
  const rows = (Object.entries<Row>(checks) as Array<[CheckName, Row]>).filter(([, { at }]) => at.includes(endpoint));
  const named = ([name, { check }]: [CheckName, Row]) => [name, check] as const;
  return { sent: rows.map(named), again: rows.filter(([, { again }]) => again).map(named) };
};
const ROWS: Record<Endpoint, Record<'sent' | 'again', Rows>> = {
  authorize: rowsAt('authorize'),
  par: rowsAt('par'),
  device_authorization: rowsAt('device_authorization'),
};

/**
 * Runs the rows of an endpoint in order: all of them for a request that was just sent, some again for one that waited.
 * Returns what they made of it. @throws OAuthError with the name of the row that failed
 */
export async function runChecks(
  { deps, client, parameters, now }: Omit<CheckContext, 'get'>,
  endpoint: Endpoint,
  when: 'sent' | 'again',
): Promise<Checked> {
  const context: CheckContext = { deps, client, parameters, now, get: reader(parameters) };
  const checked: Checked = { scope: [], resource: [], prompt: [] };
  for (const [name, check] of ROWS[endpoint][when]) {
    try {
      Object.assign(checked, await check(context));
    } catch (error) {
      throw error instanceof OAuthError
        ? error.explain({ check: name, received: shownValue(name, parameters) })
        : error;
    }
  }
  return checked;
}

type Checked = Part & Pick<AuthorizationRequest, 'scope' | 'resource' | 'prompt'>;

// Parameters whose value may be shown in an explanation: no secret, and no longer than a line.
const SHOWN: ReadonlySet<string> = new Set([
  'response_type',
  'response_mode',
  'scope',
  'resource',
  'prompt',
  'max_age',
]);

function shownValue(name: string, parameters: Parameters): string | undefined {
  if (!SHOWN.has(name)) return undefined;
  return listOf([parameters[name] ?? []].flat());
}

// RFC 6749 §3.1, §4.1.2.1.
function repeated({ parameters }: CheckContext): Part {
  const refusal = repeatedParameter(parameters);
  if (refusal) throw refusal;
  return {};
}

// OpenID Connect Core §3.1.2.6: what we do not support is refused, never ignored.
function unsupported({ get }: CheckContext): Part {
  if (get('registration') === undefined) return {};
  throw new OAuthError('registration_not_supported', 'the parameter registration is not supported');
}

// RFC 9126 §5, §6.
function pushed({ client, deps }: CheckContext): Part {
  if (!client.require_pushed_authorization_requests && !deps.config.REQUIRE_PUSHED_AUTHORIZATION_REQUESTS) return {};
  const detail = { expected: 'a request_uri from /par', received: 'parameters in the request' };
  throw invalidRequest('the request has to be pushed (RFC 9126)', detail);
}

/** RFC 8628 §3.1. */
function grant_type({ client }: CheckContext): Part {
  if (client.grant_types.includes(DEVICE_GRANT)) return {};
  throw unauthorizedClient('the client is not registered for the device flow', {
    expected: listOf(client.grant_types),
    received: DEVICE_GRANT,
  });
}

function response_type({ get, client }: CheckContext): Part {
  const response_type = get('response_type');
  if (response_type === undefined) throw invalidRequest('response_type is missing');
  if (!(RESPONSE_TYPES as readonly string[]).includes(response_type)) {
    throw new OAuthError('unsupported_response_type', 'response_type must be code', { expected: 'code' });
  }
  if (!client.grant_types.includes('authorization_code')) {
    throw unauthorizedClient('the client is not registered for the authorization_code grant', {
      expected: `grant_types ${listOf(client.grant_types)}`,
      received: 'a request for a code',
    });
  }
  return {};
}

function response_mode({ get, client, deps, now }: CheckContext): Part {
  const mode = get('response_mode') ?? 'query';
  if (!isResponseMode(mode)) {
    throw invalidRequest(`response_mode must be one of ${RESPONSE_MODES.join(', ')}`, {
      expected: listOf(RESPONSE_MODES),
    });
  }
  // ASVS 10.4.12. Saying nothing is saying query.
  if (!mayUse(client, mode)) {
    throw invalidRequest(`the client is registered for response_mode ${client.response_modes!.join(', ')} only`, {
      expected: listOf(client.response_modes!),
      received: get('response_mode') ?? 'none, which means query',
    });
  }
  const redirect_uri = get('redirect_uri') ?? '';
  if (!canReach(mode, redirect_uri)) {
    throw invalidRequest(`response_mode=${mode} needs an http(s) redirect_uri`, { received: redirect_uri });
  }
  // Here, before anybody is asked anything.
  if (isInJwt(mode)) responseAlgOf(deps, client, now);
  return {};
}

function pkce({ get, client, deps }: CheckContext): Part {
  // RFC 9700 §2.1.1: a client without a secret has nothing else.
  const required = isPublic(client) || client.require_pkce || deps.config.REQUIRE_PKCE === 'all';
  return { code_challenge: parseChallenge(get('code_challenge'), get('code_challenge_method'), required) };
}

// RFC 9449 §10.
function dpop_jkt({ get }: CheckContext): Part {
  const dpop_jkt = get('dpop_jkt');
  if (dpop_jkt !== undefined && !isThumbprint(dpop_jkt)) {
    throw invalidRequest('dpop_jkt must be the SHA-256 thumbprint of a key', {
      expected: '43 characters of base64url',
    });
  }
  return { dpop_jkt };
}

async function scope({ get, client, deps, parameters }: CheckContext): Promise<Part> {
  const rules = await rulesOf(deps);
  const open = scopeForPerson(parseScope(get('scope')), client.scope, await deps.directory.scopes());
  // RFC 8707 §2.2: scope that no requested resource knows is dropped, as scope is that the client may not have.
  const scope = scopeForAny(open, resourceOf(parameters), rules);
  if (scope.length === 0) {
    const received = `${listOf(open)} at ${listOf(resourceOf(parameters))}`;
    throw invalidScope('none of the requested scope is known to the resource', { check: 'scope', received });
  }
  return { scope };
}

async function resource({ parameters, deps }: CheckContext): Promise<Part> {
  const resource = resourceOf(parameters);
  requireRegistered(resource, await deps.directory.resources(), deps.config.ISSUER);
  return { resource };
}

// RFC 9396 §5. A member that JSON types comes as its text, out of a request object as well.
async function authorization_details({ parameters, client, deps }: CheckContext): Promise<Part> {
  const { authorization_details: sent } = parameters;
  if (sent === undefined) return {};
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  return {
    authorization_details: requestedDetails(text, client, await deps.directory.types(), resourceOf(parameters)),
  };
}

function prompt({ get, deps }: CheckContext): Part {
  return { prompt: parsePrompt(get('prompt'), isRegistrationOn(deps.config)) };
}

function max_age({ get, client }: CheckContext): Part {
  const max_age = get('max_age');
  if (max_age === undefined) return { max_age: client.default_max_age ?? undefined };
  if (!/^\d{1,9}$/.test(max_age)) throw invalidRequest('max_age must be a number of seconds', { expected: 'digits' });
  return { max_age: Number(max_age) };
}

// OpenID Connect Core §5.5. Of the claims, those that the client's scopes could open: what it may not have by scope, it
// may not have by name. Unknown ones are ignored, as unknown scopes are.
async function claims({ get, parameters, client, deps }: CheckContext): Promise<Part> {
  get('claims');
  const sent = parseClaimsRequest(parameters['claims']);
  const acr_claim = sent?.id_token['acr'];
  const sub = sent?.id_token['sub'];
  const contexts = readContexts(deps.config.ACR_VALUES);
  const known = await deps.directory.scopes();
  const open = scopeOpenTo(client, known, 'person');
  const isOpenid = parseScope(get('scope')).includes(OPENID) && open.includes(OPENID);
  const tellable = isOpenid ? claimsOpenedBy(open, known) : new Set<string>();
  return {
    claims: sent && narrowClaimsRequest(sent, tellable),
    acr: requestedAcr(acr_claim, get('acr_values'), client.default_acr_values, contexts),
    requested_sub: sub && (valuesOf(sub) as string[] | undefined),
  };
}

function nonce({ get }: CheckContext): Part {
  return { nonce: get('nonce') };
}

function login_hint({ get }: CheckContext): Part {
  return { login_hint: get('login_hint') };
}

// Never an error: what is not spoken here is passed over. One language is kept, the one that the pages will have.
function ui_locales({ parameters }: CheckContext): Part {
  const sent = parameters['ui_locales'];
  const language = typeof sent === 'string' ? lookUp(sent.slice(0, 1000).split(' ').filter(Boolean)) : undefined;
  return { ui_locales: language && [language] };
}

async function id_token_hint({ get, client, deps, now }: CheckContext): Promise<Part> {
  const id_token_hint = get('id_token_hint');
  if (id_token_hint === undefined) return {};
  const hint = await readHint(deps, id_token_hint, now);
  if (!hint) {
    const detail = { expected: 'an ID token that this server signed', received: kindOf(id_token_hint) };
    throw invalidRequest('id_token_hint is not an ID token of this server', detail);
  }
  // A hint from another sector would tell this client that two pairwise subjects are one person.
  const issuedTo = await deps.directory.client(hint.client_id);
  if ((issuedTo && sectorOf(issuedTo)) !== sectorOf(client)) {
    const detail = { expected: 'an ID token issued in the sector of this client', received: hint.client_id };
    throw invalidRequest('id_token_hint was issued to a client that is told other subjects', detail);
  }
  return { hinted_sub: hint.sub, borrowed_hint: hint.client_id !== client.client_id };
}

function resourceOf({ resource: sent }: Parameters): string[] {
  return parseResource(typeof sent === 'string' ? [sent] : sent);
}

/** Reads single parameters, within our stated sizes. */
export function reader(parameters: Parameters): CheckContext['get'] {
  return (name) => {
    const value = parameters[name];
    if (typeof value !== 'string') return undefined;
    const limit = name in LIMITS ? LIMITS[name as keyof typeof LIMITS] : 8192;
    if (value.length > limit) {
      const received = `${name} of ${value.length} characters`;
      const detail = { check: 'parameter', expected: `at most ${limit} characters`, received } as const;
      if (name === 'scope') throw invalidScope(`scope is longer than ${limit} characters`, detail);
      throw invalidRequest(`${name} is longer than ${limit} characters`, detail);
    }
    return value;
  };
}
