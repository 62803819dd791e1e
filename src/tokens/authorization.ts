/** The authorization that a grant results in, whichever it was, and that tokens are made from. */
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import type { Claims } from '../protocol/claims.ts';
import type { Confirmation } from '../protocol/confirmation.ts';
import type { Client } from '../store/clients.ts';

/** Who agreed, when and how they proved who they are. */
export interface PersonAuthorization {
  /** The grant: its id goes into the tokens as `gid`, and no token outlives it. */
  grant_id: string;
  /** All that was granted; this authorization may be for a part. */
  granted: {
    scope: readonly string[];
    resource: readonly string[];
    authorization_details: readonly AuthorizationDetail[];
  };
  grant_expires_at: Date;
  /** The sector of the client's `sub` (OpenID Connect Core §8.1). */
  sector: string;
  sid: string;
  auth_time: Date;
  acr: string;
  amr: string[];
  /** Of the authorization request; only the first ID token echoes it. */
  nonce: string | null;
  /** The claims that the granted scope opens. */
  claims: Claims;
  /** The claims that were asked for by name in the ID token (OpenID Connect Core §5.5). */
  requested_claims: Claims;
  /** The claims that the resources of the access token ask for (RFC 9068 §2.2.3.1). */
  access_token_claims: Claims;
}

export interface Authorization {
  client: Client;
  sub: string;
  scope: string[];
  /** The resources this access token is for; empty means ourselves. */
  resource: string[];
  /** The details of this access token (RFC 9396); undefined where none were granted. */
  authorization_details?: readonly AuthorizationDetail[] | undefined;
  /** What the access token is bound to; null makes it a bearer token. */
  cnf: Confirmation | null;
  /** null when the client acts for itself. */
  person: PersonAuthorization | null;
  /** A new refresh token, written by the statement that spends what was presented. */
  refresh_token?: string | undefined;
}
