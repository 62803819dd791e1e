/** The table of clients, column by column, as Kysely sees it. */
import type { ResponseMode } from '../protocol/authorization-request.ts';
import type { AuthMethod, GrantType } from '../protocol/client-metadata.ts';
import type { ContentEncryption, EncryptionAlg } from '../protocol/encryption-alg.ts';
import type { PublicJwks } from '../protocol/jwks.ts';
import type { ApplicationType } from '../protocol/redirect-uri.ts';
import type { SubjectType } from '../protocol/sector.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { Json, Nullable } from './columns.ts';

export type TokenFormat = 'jwt' | 'opaque';

/** A row a client: its metadata by their registered names, and ours. */
export interface ClientsTable {
  client_id: string;
  client_name: Nullable<string>;
  client_uri: Nullable<string>;
  logo_uri: Nullable<string>;
  policy_uri: Nullable<string>;
  tos_uri: Nullable<string>;
  software_id: Nullable<string>;
  software_version: Nullable<string>;
  initiate_login_uri: Nullable<string>;
  contacts: string[];
  application_type: ApplicationType;
  token_endpoint_auth_method: AuthMethod;
  token_endpoint_auth_signing_alg: Nullable<string>;
  jwks: Json<Nullable<PublicJwks>>;
  jwks_uri: Nullable<string>;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  grant_types: GrantType[];
  scope: string[];
  allowed_origins: string[];
  id_token_signed_response_alg: SigningAlg;
  id_token_encrypted_response_alg: Nullable<EncryptionAlg>;
  id_token_encrypted_response_enc: Nullable<ContentEncryption>;
  userinfo_signed_response_alg: Nullable<SigningAlg>;
  userinfo_encrypted_response_alg: Nullable<EncryptionAlg>;
  userinfo_encrypted_response_enc: Nullable<ContentEncryption>;
  subject_type: SubjectType;
  sector_identifier_uri: Nullable<string>;
  access_token_format: Nullable<TokenFormat>;
  access_token_ttl: Nullable<number>;
  id_token_ttl: Nullable<number>;
  refresh_token_ttl: Nullable<number>;
  refresh_token_idle_ttl: Nullable<number>;
  id_token_claims: Nullable<'scope' | 'minimal'>;
  request_uris: string[];
  request_object_signing_alg: Nullable<string>;
  request_object_encryption_alg: Nullable<string>;
  request_object_encryption_enc: Nullable<string>;
  backchannel_logout_uri: Nullable<string>;
  backchannel_logout_session_required: boolean;
  response_modes: Nullable<ResponseMode[]>;
  default_max_age: Nullable<number>;
  require_auth_time: boolean;
  default_acr_values: Nullable<string[]>;
  frontchannel_logout_uri: Nullable<string>;
  frontchannel_logout_session_required: boolean;
  require_pkce: boolean;
  require_pushed_authorization_requests: boolean;
  require_signed_request_object: boolean;
  skip_consent: boolean;
  may_introspect: boolean;
  may_administer: boolean;
  registered_by: 'operator' | 'self';
  registration_token_hash: Nullable<Buffer>;
  software_statement: Nullable<string>;
  logo_hash: Nullable<string>;
  last_used_at: Nullable<Date>;
  disabled_at: Nullable<Date>;
  /** Access tokens issued before count for nothing. */
  tokens_since: Date;
  /** The same, of those that the client got for itself. */
  machine_tokens_since: Date;
  created_at: Date;
  updated_at: Date;
}
