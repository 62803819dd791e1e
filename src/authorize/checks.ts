/**
 * The checks of an authorization request, in order. Each reads raw parameters and the client, and returns its part of the
 * checked request. New endpoints that take authorization requests run the same rows.
 */
import type { Deps } from '../deps.ts';
import { readContexts, requestedAcr, valuesOf } from '../protocol/acr.ts';
import {
  LIMITS,
  RESPONSE_MODES,
  RESPONSE_TYPES,
  type AuthorizationRequest,
  type ResponseMode,
} from '../protocol/authorization-request.ts';
import { narrowClaimsRequest, parseClaimsRequest } from '../protocol/claims-request.ts';
import { isPublic } from '../protocol/client-metadata.ts';
import { invalidRequest, invalidScope, OAuthError, unauthorizedClient } from '../protocol/error.ts';
import { repeatedParameter } from '../protocol/form-encoding.ts';
import { parseChallenge } from '../protocol/pkce.ts';
import { parsePrompt } from '../protocol/prompt.ts';
import { isWebUri } from '../protocol/redirect-uri.ts';
import { kindOf, listOf } from '../protocol/redaction.ts';
import { narrowScope, parseResource, requireKnown } from '../protocol/resource.ts';
import { OPENID, parseScope, scopeForPerson, scopeOpenTo } from '../protocol/scope.ts';
import type { Parameters } from '../protocol/parameters.ts';
import type { Client } from '../store/clients.ts';
import { sectorOf } from '../protocol/sector.ts';
import { readHint } from '../tokens/id-token.ts';
import { rulesOf } from '../tokens/terms.ts';
import { claimsOpenedBy } from '../users/claims.ts';

/** What a check may look at. */
export interface CheckContext {
  deps: Pick<Deps, 'config' | 'directory' | 'keys'>;
  client: Client;
  now: Date;
  /** Did the request come through /par, from an authenticated client? */
  pushed: boolean;
  /** One parameter as sent; undefined when absent. @throws OAuthError invalid_request when it is too long */
  get(name: string): string | undefined;
  parameters: Parameters;
}

type Part = Partial<AuthorizationRequest>;
/** One row. @throws OAuthError */
export type Check = (context: CheckContext) => Part | Promise<Part>;

export const checks = {
  // RFC 6749 §3.1, §4.1.2.1.
  repeated({ parameters }) {
    const refusal = repeatedParameter(parameters);
    if (refusal) throw refusal;
    return {};
  },

  // OpenID Connect Core §3.1.2.6: what we do not support is refused, never ignored.
  unsupported({ get }) {
    if (get('registration') === undefined) return {};
    throw new OAuthError('registration_not_supported', 'the parameter registration is not supported');
  },

  // RFC 9126 §5, §6.
  pushed({ client, deps, pushed }) {
    const required = client.require_pushed_authorization_requests || deps.config.REQUIRE_PUSHED_AUTHORIZATION_REQUESTS;
    if (required && !pushed) {
      const detail = { expected: 'a request_uri from /par', received: 'parameters in the request' };
      throw invalidRequest('the request has to be pushed (RFC 9126)', detail);
    }
    return {};
  },

  response_type({ get, client }) {
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
  },

  response_mode({ get, client }) {
    const mode = get('response_mode');
    if (mode !== undefined && !isResponseMode(mode)) {
      throw invalidRequest(`response_mode must be one of ${RESPONSE_MODES.join(', ')}`, {
        expected: listOf(RESPONSE_MODES),
      });
    }
    // ASVS 10.4.12. Saying nothing is saying query.
    if (!mayUse(client, mode ?? 'query')) {
      throw invalidRequest(`the client is registered for response_mode ${client.response_modes!.join(', ')} only`, {
        expected: listOf(client.response_modes!),
        received: mode ?? 'none, which means query',
      });
    }
    if (mode === 'form_post' && !isWebUri(get('redirect_uri') ?? '')) {
      throw invalidRequest('response_mode=form_post needs an http(s) redirect_uri', { received: get('redirect_uri') });
    }
    return {};
  },

  pkce({ get, client, deps }) {
    // RFC 9700 §2.1.1: a client without a secret has nothing else.
    const required = isPublic(client) || client.require_pkce || deps.config.REQUIRE_PKCE === 'all';
    return { code_challenge: parseChallenge(get('code_challenge'), get('code_challenge_method'), required) };
  },

  async scope({ get, client, deps, parameters }) {
    const rules = await rulesOf(deps);
    const open = scopeForPerson(parseScope(get('scope')), client.scope, await deps.directory.scopes());
    // RFC 8707 §2.2: what no requested resource knows is dropped like any other scope that cannot be had.
    const scope = narrowScope(open, resourceOf(parameters), rules);
    if (scope.length === 0) {
      const received = `${listOf(open)} at ${listOf(resourceOf(parameters))}`;
      throw invalidScope('none of the requested scope is known to the resource', { check: 'scope', received });
    }
    return { scope };
  },

  async resource({ parameters, deps }) {
    const resource = resourceOf(parameters);
    requireKnown(resource, await deps.directory.resources(), deps.config.ISSUER);
    return { resource };
  },

  prompt: ({ get }) => ({ prompt: parsePrompt(get('prompt')) }),

  max_age({ get, client }) {
    const max_age = get('max_age');
    if (max_age === undefined) return { max_age: client.default_max_age ?? undefined };
    if (!/^\d{1,9}$/.test(max_age)) throw invalidRequest('max_age must be a number of seconds', { expected: 'digits' });
    return { max_age: Number(max_age) };
  },

  // OpenID Connect Core §5.5. Of the claims, those that the client's scopes could open: what it may not have by scope, it
  // may not have by name. Unknown ones are ignored, as unknown scopes are.
  async claims({ get, parameters, client, deps }) {
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
  },

  nonce: ({ get }) => ({ nonce: get('nonce') }),

  login_hint: ({ get }) => ({ login_hint: get('login_hint') }),

  async id_token_hint({ get, client, deps, now }) {
    const id_token_hint = get('id_token_hint');
    if (id_token_hint === undefined) return {};
    const hint = await readHint(deps, id_token_hint, now);
    if (!hint) {
      const detail = { expected: 'an ID token that this server signed', received: kindOf(id_token_hint) };
      throw invalidRequest('id_token_hint is not an ID token of this server', detail);
    }
    // Of another sector: would tell this client that two subjects are one person.
    const issuedTo = await deps.directory.client(hint.client_id);
    if ((issuedTo && sectorOf(issuedTo)) !== sectorOf(client)) {
      const detail = { expected: 'an ID token issued in the sector of this client', received: hint.client_id };
      throw invalidRequest('id_token_hint was issued to a client that is told other subjects', detail);
    }
    return { hinted_sub: hint.sub, borrowed_hint: hint.client_id !== client.client_id };
  },
} as const satisfies Record<string, Check>;

function resourceOf({ resource: sent }: Parameters): string[] {
  return parseResource(typeof sent === 'string' ? [sent] : sent);
}

export const isResponseMode = (text: string): text is ResponseMode =>
  (RESPONSE_MODES as readonly string[]).includes(text);

/** May answers to this client travel so? */
export const mayUse = ({ response_modes }: Client, mode: ResponseMode): boolean =>
  response_modes === null || response_modes.includes(mode);

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
