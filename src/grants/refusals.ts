/**
 * Refusals of grants. Where the store spends nothing it returns a verdict, one word; each grant has a table here, with a row
 * for every verdict. What a refusal leaves behind, such as a revoked authorization, stands in the grant.
 */
import type { Check } from '../protocol/check.ts';
import { invalidGrant, OAuthError, type ErrorCode, type ErrorDetail, type Explanation } from '../protocol/error.ts';
import { kindOf, listOf } from '../protocol/redaction.ts';
import type { CodeRefusal, FoundCode, Redemption } from '../store/authorization-codes.ts';
import type { PollRefusal } from '../store/device-codes.ts';
import type { Grant as StoredGrant } from '../store/grants.ts';
import type { FoundToken, RefreshRefusal, Rotation } from '../store/refresh-tokens.ts';
import { openTo } from '../tokens/rules.ts';
import type { GrantContext } from './grant.ts';

/** One row: the error that answers one verdict. `About` is what its explanation is made of. */
export interface RefusalRow<About> {
  error: ErrorCode;
  /** For the caller. Whether a code exists, or whose it is, is nobody else's affair. */
  error_description: string;
  /** For the operator: the check, what would have passed, and what came instead. */
  explain(about: About): Explanation;
}

/** The refusal of a row; `cause` and `sub` are for the operator, too. */
export const refuse = <About>(
  row: RefusalRow<NoInfer<About>>,
  more: Pick<ErrorDetail, 'cause' | 'sub'>,
  about: About,
): OAuthError => new OAuthError(row.error, row.error_description, { ...more, ...row.explain(about) });

/** The explanation where a grant of a confidential client is presented by a client that has become public since. */
const unproven = (): Explanation => ({
  check: 'confidential_client',
  expected: 'the client with its secret or key, as when this was granted',
  received: 'token_endpoint_auth_method none',
});

const revoked: RefusalRow<{ found: Pick<StoredGrant, 'revoked_at' | 'revoked_for'> }> = {
  error: 'invalid_grant',
  error_description: 'the authorization has ended',
  explain: ({ found }) => ({
    check: 'authorization',
    expected: 'an authorization that lives',
    received: found.revoked_at
      ? `one that ended at ${found.revoked_at.toISOString()}: ${found.revoked_for}`
      : 'one that has expired',
  }),
};

/** RFC 8707 §2.2. */
const resource: RefusalRow<Record<'request' | 'found', { resource: readonly string[] }>> = {
  error: 'invalid_target',
  error_description: 'a requested resource was not granted',
  explain: ({ request, found }) => ({
    check: 'resource',
    expected: listOf(found.resource),
    received: listOf(request.resource),
  }),
};

/**
 * The refusal where nothing that was granted is open to the client any more: it needs another authorization (RFC 6749 §5.2).
 * Undefined where something is: then the request asked for too little, and the row of its verdict says so.
 */
export function closedRefusal(
  { client, rules }: Pick<GrantContext, 'client' | 'rules'>,
  granted: readonly string[],
): OAuthError | undefined {
  const open = openTo(client, rules, 'person');
  if (granted.some((name) => open.includes(name))) return undefined;
  return invalidGrant('nothing that was granted is open to this client any more', {
    cause: 'closed',
    check: 'scope',
    expected: `of ${listOf(open)}, one`,
    received: `granted: ${listOf(granted)}`,
  });
}

/** What is known when a code gives nothing. */
interface AboutCode {
  request: Pick<Redemption, 'client_id' | 'redirect_uri' | 'cnf' | 'resource' | 'open_scopes'> & {
    /** Of these values only the kind and size are kept. */
    sent: { code: string; code_verifier?: string | undefined };
    /** The client's, today. */
    redirect_uris: readonly string[];
    now: Date;
  };
  found: FoundCode;
}

const usedBefore: RefusalRow<AboutCode> = {
  error: 'invalid_grant',
  error_description: 'the code was used before; everything it gave is revoked',
  explain: ({ found }) => ({
    check: 'code_replay',
    expected: 'a code that nobody redeemed before',
    received: `a code redeemed at ${found.used_at?.toISOString()}`,
  }),
};

/** Why an authorization code gives nothing (RFC 6749 §4.1.3): the verdicts of `authorizationCodes.explain`. */
export const codeRefusals = {
  unknown: {
    error: 'invalid_grant',
    error_description: 'the code is not valid',
    explain: ({ request }: { request: Pick<AboutCode['request'], 'sent'> }) => ({
      check: 'code',
      expected: 'a code of this server, not older than its authorization can live',
      received: kindOf(request.sent.code),
    }),
  },
  other_client: {
    error: 'invalid_grant',
    error_description: 'the code is not valid',
    explain: ({ request, found }) => ({
      check: 'code_client',
      expected: `client ${found.client_id}, to whom the code was issued`,
      received: `client ${request.client_id}`,
    }),
  },
  unproven: {
    error: 'invalid_grant',
    error_description: 'the code is for a client that proves who it is',
    explain: unproven,
  },
  redirect_uri: {
    error: 'invalid_grant',
    error_description: 'redirect_uri is not the one of the authorization request',
    explain: ({ request, found }) => ({
      check: 'code_redirect_uri',
      expected: found.redirect_uri,
      received: request.redirect_uri,
    }),
  },
  /** The store found nothing wrong, but its client has lost the address since. */
  redirect_uri_lost: {
    error: 'invalid_grant',
    error_description: 'redirect_uri is not registered for this client any more',
    explain: ({ request }: Pick<AboutCode, 'request'>) => ({
      check: 'code_redirect_uri',
      expected: listOf(request.redirect_uris),
      received: request.redirect_uri,
    }),
  },
  // RFC 7636 §4.6.
  code_verifier: {
    error: 'invalid_grant',
    error_description: 'code_verifier does not answer the code_challenge',
    explain: ({ request: { sent }, found }) => ({
      check: 'code_verifier',
      expected: found.has_challenge ? 'the verifier of the code_challenge' : 'none, since there was no code_challenge',
      received:
        sent.code_verifier === undefined
          ? 'none'
          : `a verifier of ${sent.code_verifier.length} characters for another challenge`,
    }),
  },
  // RFC 9449 §10.
  dpop_jkt: {
    error: 'invalid_grant',
    error_description: 'the code is bound to another DPoP key',
    explain: ({ request, found }) => ({
      check: 'code_dpop_jkt',
      expected: `a proof by the key ${found.dpop_jkt}, which the authorization request named`,
      received: request.cnf?.jkt === undefined ? 'no proof' : `a proof by ${request.cnf.jkt}`,
    }),
  },
  replay: usedBefore,
  repeated: usedBefore,
  expired: {
    error: 'invalid_grant',
    error_description: 'the code has expired',
    explain: ({ request, found }) => ({
      check: 'code_expiry',
      expected: `redeemed before ${found.expires_at.toISOString()}`,
      received: `redeemed at ${request.now.toISOString()}`,
    }),
  },
  revoked,
  resource,
  scope: {
    error: 'invalid_scope',
    error_description: 'the requested resource knows nothing of the granted scope',
    explain: ({ request, found }) => ({
      check: 'scope',
      expected: `of what the resource knows, one: ${listOf(request.open_scopes)}`,
      received: `granted: ${listOf(found.scope)}`,
    }),
  },
} as const satisfies Record<Exclude<CodeRefusal, 'ready'> | 'redirect_uri_lost', RefusalRow<AboutCode>>;

/** What is known when a refresh token gives nothing. */
interface AboutToken {
  request: Pick<Rotation, 'client_id' | 'cnf' | 'scope' | 'resource' | 'open_scopes'> & {
    /** Only its kind and size are kept. */
    refresh_token: string;
    now: Date;
  };
  found: FoundToken;
}

/** Of a request that also the retry window refuses: then only what was granted is known. */
interface AboutGrantedScope extends Pick<AboutToken, 'request'> {
  found: Pick<FoundToken, 'scope'>;
}

/** Why a refresh token gives nothing (RFC 6749 §6): the verdicts of `refreshTokens.explain`. */
export const refreshTokenRefusals = {
  unknown: {
    error: 'invalid_grant',
    error_description: 'the refresh token is not valid',
    explain: ({ request }: { request: Pick<AboutToken['request'], 'refresh_token'> }) => ({
      check: 'refresh_token',
      expected: 'a refresh token of this server, not older than its authorization can live',
      received: kindOf(request.refresh_token),
    }),
  },
  other_client: {
    error: 'invalid_grant',
    error_description: 'the refresh token is not valid',
    explain: ({ request, found }) => ({
      check: 'refresh_token_client',
      expected: `client ${found.client_id}, to whom the token was issued`,
      received: `client ${request.client_id}`,
    }),
  },
  unproven: {
    error: 'invalid_grant',
    error_description: 'the refresh token is for a client that proves who it is',
    explain: unproven,
  },
  // RFC 9449 §5.
  not_held: {
    error: 'invalid_grant',
    error_description: 'the refresh token is bound to another key',
    explain: ({ request: { cnf } }) => ({
      check: 'refresh_token_binding',
      expected: 'a proof by the key that the token was given for',
      received: cnf === null ? 'no proof' : `a proof by ${Object.values(cnf).join(' ')}`,
    }),
  },
  scope: {
    error: 'invalid_scope',
    error_description: 'a requested scope was not granted',
    explain: ({ request, found }: AboutGrantedScope) => ({
      check: 'scope',
      expected: listOf(found.scope),
      received: listOf(request.scope),
    }),
  },
  other_scope: {
    error: 'invalid_scope',
    error_description: 'the requested resource knows nothing of the scope',
    explain: ({ request, found }: AboutGrantedScope) => ({
      check: 'scope',
      expected: `of what the resource knows, one: ${listOf(request.open_scopes)}`,
      received: listOf(request.scope.length > 0 ? request.scope : found.scope),
    }),
  },
  resource,
  // RFC 9700 §4.14.2.
  reuse: {
    error: 'invalid_grant',
    error_description: 'the refresh token was used before; the authorization is revoked',
    explain: ({ found }) => ({
      check: 'refresh_token_reuse',
      expected: 'the newest refresh token of its authorization',
      received: `one that was used at ${found.used_at?.toISOString()}`,
    }),
  },
  expired: {
    error: 'invalid_grant',
    error_description: 'the refresh token has expired',
    explain: ({ request, found }) => ({
      check: 'refresh_token_expiry',
      expected: `used before ${found.expires_at.toISOString()}`,
      received: `used at ${request.now.toISOString()}`,
    }),
  },
  revoked,
} as const satisfies Record<Exclude<RefreshRefusal, 'ready'>, RefusalRow<AboutToken>>;

/** It is explained by the kind of what was sent, and the verdict. */
type DeviceCodeRefusal = RefusalRow<string>;

const polled = (error: ErrorCode, error_description: string, check: Check, expected?: string): DeviceCodeRefusal => ({
  error,
  error_description,
  explain: (received) => ({ check, expected, received }),
});

/** Why a device code gives nothing, or nothing yet (RFC 8628 §3.5): the verdicts of `deviceCodes.poll`. */
export const deviceCodeRefusals: Record<Exclude<PollRefusal, 'ready'>, DeviceCodeRefusal> = {
  unknown: polled('invalid_grant', 'the device code is not valid', 'device_code', 'a device code of this client'),
  used: polled('invalid_grant', 'the device code was used before', 'device_code'),
  resource: polled('invalid_target', 'a requested resource was not granted', 'resource'),
  scope: polled('invalid_scope', 'the requested resource knows nothing of the granted scope', 'scope'),
  ended: polled('invalid_grant', 'the authorization has ended', 'authorization'),
  denied: polled('access_denied', 'the person did not allow the request', 'consent'),
  expired: polled('expired_token', 'the device code has expired', 'device_code'),
  slow_down: polled('slow_down', 'ask less often: five seconds more between two requests', 'poll_interval'),
  pending: polled('authorization_pending', 'the person has not decided yet', 'device_code'),
};
