/** The authorization request (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1) as it is once every check has passed. */
import type { RequestedAcr } from './acr.ts';
import type { AuthorizationDetail } from './authorization-details.ts';
import type { ClaimsRequest } from './claims-request.ts';
import type { Prompt } from './prompt.ts';
import { MAX_REQUEST_OBJECT, MAX_REQUEST_URI } from './request-object.ts';

export const RESPONSE_TYPES = ['code'] as const;
/**
 * Codes travel in the query or in a POST body, by themselves or in a JWT (JARM). There is no `fragment`: nothing of ours belongs
 * there (docs/specification.md).
 */
export const RESPONSE_MODES = ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'] as const;
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/** Where and how the answer goes. In hand as soon as client and redirect_uri are proven, and not before. */
export interface ResponseTarget {
  client_id: string;
  redirect_uri: string;
  response_mode: ResponseMode;
  state?: string | undefined;
  user_code?: undefined;
}

/** A device that polls for its answer (RFC 8628 §3.4): no browser is sent anywhere, and a refusal is a page for the person. */
export interface DeviceTarget {
  client_id: string;
  /** The code that the device shows. */
  user_code: string;
}

/** What is asked for, wherever the answer goes. It is stored as JSON, so it holds nothing but JSON values. */
interface Requested {
  /** Granted at most this: already narrowed to what the client may have. */
  scope: string[];
  resource: string[];
  /** What exactly is asked for beside the scope (RFC 9396); undefined is nothing. */
  authorization_details?: readonly AuthorizationDetail[] | undefined;
  code_challenge?: string | undefined;
  /** The key that the redemption of the code has to prove (RFC 9449 §10). */
  dpop_jkt?: string | undefined;
  nonce?: string | undefined;
  prompt: Prompt[];
  /** Seconds. */
  max_age?: number | undefined;
  login_hint?: string | undefined;
  /** Languages for the pages, the most wanted first. */
  ui_locales?: string[] | undefined;
  /** The person an id_token_hint named, as this client is told. */
  hinted_sub?: string | undefined;
  /** Was that ID token another client's? */
  borrowed_hint?: boolean | undefined;
  /** The people whom `sub` in the claims parameter names. */
  requested_sub?: string[] | undefined;
  /** Claims asked for by name, narrowed to what the client may have. */
  claims?: ClaimsRequest | undefined;
  acr?: RequestedAcr | undefined;
  /** Was it a request object (RFC 9101)? Undefined of one that an older server stored. */
  signed?: boolean | undefined;
}

/** A checked request of a client that is answered through the browser. */
export interface AuthorizationRequest extends ResponseTarget, Requested {}

/** A checked request of a device (RFC 8628 §3.1). */
export interface DeviceRequest extends DeviceTarget, Requested {}

/** A request that a person decides about. */
export type InteractionRequest = AuthorizationRequest | DeviceRequest;

/** Longest values we echo or keep, in characters. */
export const LIMITS = {
  state: 2048,
  nonce: 1024,
  login_hint: 320,
  scope: 4000,
  redirect_uri: 2000,
  request: MAX_REQUEST_OBJECT,
  request_uri: MAX_REQUEST_URI,
} as const;
