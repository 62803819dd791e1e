/**
 * The catalogue of errors: every code Postern answers with, its HTTP status and the clause that defines it.
 * A refusal names its code; the status is looked up here and typed nowhere else.
 */
import { clauseOf, type Check } from './check.ts';

const catalogue = {
  // RFC 6749 §5.2, §4.1.2.1
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  access_denied: 400,
  unsupported_response_type: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  // RFC 6750 §3.1
  invalid_token: 401,
  insufficient_scope: 403,
  // RFC 8628 §3.5
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  // RFC 9101 §7, OpenID Connect Core §3.1.2.6
  invalid_request_uri: 400,
  invalid_request_object: 400,
  // RFC 7591 §3.2.2
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  invalid_software_statement: 400,
  unapproved_software_statement: 400,
  // RFC 9449 §12.2
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  // RFC 8707 §2
  invalid_target: 400,
  // RFC 9396 §5
  invalid_authorization_details: 400,
  // OpenID Connect Core §3.1.2.6
  interaction_required: 400,
  login_required: 400,
  consent_required: 400,
  account_selection_required: 400,
  // OpenID Connect Core Error Code unmet_authentication_requirements
  unmet_authentication_requirements: 400,
  registration_not_supported: 400,
  // Ours: POST /login, throttling, routing.
  invalid_credentials: 401,
  too_many_requests: 429,
  not_found: 404,
  method_not_allowed: 405,
  // RFC 9110 §15.5.20
  misdirected_request: 421,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof catalogue;
export const ERROR_CODES = Object.keys(catalogue) as ErrorCode[];

/**
 * Why, for those who run the server: kept with the request's id, and never told to the caller. No secret may be in it:
 * of codes, tokens and passwords there is at most their kind and size (protocol/redaction.ts).
 */
export interface Explanation {
  check?: Check | undefined;
  /** What would have passed: registered or configured values, or what the clause wants. */
  expected?: string | undefined;
  /** What came instead. */
  received?: string | undefined;
  /** Whom it concerns, where that is known better than from the request. */
  client_id?: string | undefined;
  sub?: string | undefined;
}

/** What a refusal may carry besides its sentence. */
export interface ErrorDetail extends Explanation {
  /** For the log only: why, in our own terms. Never a secret. */
  cause?: unknown;
  /** Seconds after which it is worth trying again (Retry-After). */
  retry_after?: number;
  /** Scope that would have been enough (RFC 6750 §3). */
  scope?: string;
}

/**
 * A refusal in the words of RFC 6749 §5.2. `error_description` is for the caller, `cause` for the log.
 * `transact` commits when one of these is thrown: a revocation written on the way to a refusal must stand.
 */
export class OAuthError extends Error {
  readonly error: ErrorCode;
  readonly error_description: string;
  readonly retry_after: number | undefined;
  readonly scope: string | undefined;
  #explanation: Explanation;
  #atResource = false;

  constructor(error: ErrorCode, error_description: string, detail: ErrorDetail = {}) {
    super(`${error}: ${error_description}`, 'cause' in detail ? { cause: detail.cause } : undefined);
    this.name = 'OAuthError';
    this.error = error;
    this.error_description = describable(error_description);
    this.retry_after = detail.retry_after;
    this.scope = detail.scope;
    const { check, expected, received, client_id, sub } = detail;
    this.#explanation = { check, expected, received, client_id, sub };
  }

  /** Says that what is refused came with an access token: there a proof that does not prove is a 401 (RFC 9449 §7.1). */
  atResource(): this {
    this.#atResource = true;
    return this;
  }

  get explanation(): Explanation {
    return this.#explanation;
  }

  /** Adds what is known further up. What the throw itself explained stays. */
  explain(more: Explanation): this {
    const known = Object.entries(this.#explanation).filter(([, value]) => value !== undefined);
    this.#explanation = { ...more, ...Object.fromEntries(known) };
    return this;
  }

  /** The check that failed, with its clause. A refusal that names none is known by its error code. */
  get failed(): { check: string; clause: string | undefined } {
    const check = this.#explanation.check ?? this.error;
    return { check, clause: clauseOf(check) };
  }

  get status(): number {
    return this.#atResource && isAboutProof(this.error) ? 401 : catalogue[this.error];
  }
}

/** Is it about a DPoP proof (RFC 9449 §12.2)? */
export const isAboutProof = (error: ErrorCode): boolean => error === 'invalid_dpop_proof' || error === 'use_dpop_nonce';

/** RFC 6749 §5.2: %x20-21 / %x23-5B / %x5D-7E. Also keeps WWW-Authenticate's quoted-string well formed. */
function describable(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x5B\x5D-\x7E]/g, '?');
}

type Refusal = (error_description: string, detail?: ErrorDetail) => OAuthError;
const refusal =
  (error: ErrorCode): Refusal =>
  (error_description, detail) =>
    new OAuthError(error, error_description, detail);

export const invalidRequest = refusal('invalid_request');
export const invalidClient = refusal('invalid_client');
export const invalidGrant = refusal('invalid_grant');
export const unauthorizedClient = refusal('unauthorized_client');
export const invalidScope = refusal('invalid_scope');
export const invalidRedirectUri = refusal('invalid_redirect_uri');
export const invalidClientMetadata = refusal('invalid_client_metadata');
export const invalidSoftwareStatement = refusal('invalid_software_statement');
export const unapprovedSoftwareStatement = refusal('unapproved_software_statement');
export const invalidRequestUri = refusal('invalid_request_uri');
export const invalidRequestObject = refusal('invalid_request_object');
export const invalidTarget = refusal('invalid_target');
export const invalidDpopProof = refusal('invalid_dpop_proof');
export const useDpopNonce = refusal('use_dpop_nonce');
export const invalidToken = refusal('invalid_token');
export const insufficientScope = refusal('insufficient_scope');
export const accessDenied = refusal('access_denied');
export const tooManyRequests = refusal('too_many_requests');
export const temporarilyUnavailable = refusal('temporarily_unavailable');
