/** The tables, column by column, as Kysely sees them. Names are the wire's own; the migrations say what each is for. */
import type { ColumnType, Generated } from 'kysely';
import type { AuthorizationRequest, ResponseMode } from '../protocol/authorization-request.ts';
import type { ClaimsRequest } from '../protocol/claims-request.ts';
import type { PersonClaims } from '../protocol/claims.ts';
import type { AuthMethod, GrantType } from '../protocol/client-metadata.ts';
import type { KeyAlg } from '../protocol/key-alg.ts';
import type { ContentEncryption, EncryptionAlg } from '../protocol/encryption-alg.ts';
import type { PublicJwks } from '../protocol/jwks.ts';
import type { ApplicationType } from '../protocol/redirect-uri.ts';
import type { SubjectType } from '../protocol/sector.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';

/** jsonb: read as a value, written as text (pg would write a JavaScript array as a Postgres one). */
type Json<T> = ColumnType<T, string | (null extends T ? null : never), string | (null extends T ? null : never)>;
type Nullable<T> = T | null;
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
  registered_by: 'operator' | 'self';
  registration_token_hash: Nullable<Buffer>;
  software_statement: Nullable<string>;
  logo_hash: Nullable<string>;
  last_used_at: Nullable<Date>;
  disabled_at: Nullable<Date>;
  /** Access tokens issued before count for nothing. */
  tokens_since: Date;
  created_at: Date;
  updated_at: Date;
}

/** Every table, column by column. */
export interface Database {
  subjects: { sub: string; kind: 'user' | 'client' | 'server' };
  clients: ClientsTable;
  client_secrets: {
    secret_id: string;
    client_id: string;
    hash: Buffer;
    created_at: Date;
    expires_at: Nullable<Date>;
  };
  client_logos: {
    client_id: string;
    attempts: number;
    next_at: Nullable<Date>;
    last_failure: Nullable<string>;
    fetched_at: Nullable<Date>;
    hash: Nullable<string>;
    media_type: Nullable<string>;
    image: Nullable<Buffer>;
  };
  initial_access_tokens: {
    token_id: string;
    hash: Buffer;
    label: Nullable<string>;
    uses_left: number;
    created_at: Date;
    expires_at: Date;
  };
  scopes: {
    name: string;
    description: Nullable<string>;
    claims: string[];
    for_people: boolean;
    for_machines: boolean;
  };
  resources: {
    resource: string;
    name: Nullable<string>;
    client_id: Nullable<string>;
    scope: string[];
    access_token_format: Nullable<TokenFormat>;
    access_token_ttl: Nullable<number>;
    access_token_signing_alg: Nullable<SigningAlg>;
  };
  users: {
    sub: string;
    username: string;
    username_folded: string;
    email: Nullable<string>;
    email_folded: Nullable<string>;
    email_verified: boolean;
    claims: Json<PersonClaims>;
    disabled_at: Nullable<Date>;
    created_at: Date;
    updated_at: Date;
  };
  password_credentials: { sub: string; phc: string; changed_at: Date };
  failures: { key: string; count: number; last_at: Date };
  sessions: {
    expires_bucket: number;
    hash: Buffer;
    sid: string;
    kind: 'browser' | 'login';
    sub: string;
    auth_time: Date;
    amr: string[];
    acr: string;
    created_at: Date;
    seen_at: Date;
    expires_at: Date;
    ended_at: Nullable<Date>;
  };
  interactions: {
    expires_bucket: number;
    hash: Buffer;
    browser_hash: Nullable<Buffer>;
    client_id: string;
    request: Json<AuthorizationRequest>;
    sign_in_after: Nullable<Date>;
    selected_sub: Nullable<string>;
    consented_sid: Nullable<string>;
    refused_error: Nullable<string>;
    pushed_bucket: Nullable<number>;
    pushed_hash: Nullable<Buffer>;
    device_bucket: Nullable<number>;
    device_hash: Nullable<Buffer>;
    answered_at: Nullable<Date>;
    created_at: Date;
    expires_at: Date;
  };
  pushed_requests: {
    expires_bucket: number;
    hash: Buffer;
    client_id: string;
    request: Json<AuthorizationRequest>;
    created_at: Date;
    expires_at: Date;
    used_at: Nullable<Date>;
  };
  device_codes: {
    expires_bucket: number;
    hash: Buffer;
    user_code_hash: Buffer;
    client_id: string;
    scope: string[];
    resource: string[];
    poll_interval: number;
    polled_at: Nullable<Date>;
    grant_id: Nullable<string>;
    denied_at: Nullable<Date>;
    used_at: Nullable<Date>;
    created_at: Date;
    expires_at: Date;
  };
  consents: { sub: string; client_id: string; resource: string; scope: string[]; claims: string[]; updated_at: Date };
  grants: {
    expires_bucket: number;
    grant_id: string;
    client_id: string;
    sub: string;
    sid: string;
    scope: string[];
    resource: string[];
    auth_time: Date;
    acr: string;
    amr: string[];
    offline: boolean;
    requested_claims: Json<Nullable<ClaimsRequest>>;
    created_at: Date;
    expires_at: Date;
    revoked_at: Nullable<Date>;
    revoked_for: Nullable<string>;
  };
  authorization_codes: {
    expires_bucket: number;
    hash: Buffer;
    grant_id: string;
    client_id: string;
    redirect_uri: string;
    code_challenge: Nullable<string>;
    nonce: Nullable<string>;
    created_at: Date;
    expires_at: Date;
    used_at: Nullable<Date>;
  };
  refresh_tokens: {
    expires_bucket: number;
    hash: Buffer;
    grant_id: string;
    created_at: Date;
    expires_at: Date;
    used_at: Nullable<Date>;
    successor_hash: Nullable<Buffer>;
    retry_key: Nullable<string>;
    retry_salt: Nullable<Buffer>;
  };
  access_tokens: {
    expires_bucket: number;
    hash: Buffer;
    jti: string;
    client_id: string;
    sub: string;
    scope: string[];
    aud: string[];
    grant_bucket: Nullable<number>;
    grant_id: Nullable<string>;
    sid: Nullable<string>;
    auth_time: Nullable<Date>;
    acr: Nullable<string>;
    amr: Nullable<string[]>;
    created_at: Date;
    expires_at: Date;
    revoked_at: Nullable<Date>;
  };
  revoked_tokens: { expires_bucket: number; jti: string; expires_at: Date };
  replays: { expires_bucket: number; hash: Buffer; expires_at: Date };
  signing_keys: {
    kid: string;
    alg: KeyAlg;
    public_jwk: Json<Record<string, unknown>>;
    sealed_private_key: Nullable<Buffer>;
    created_at: Date;
    activates_at: Date;
    retired_at: Nullable<Date>;
    withdrawn_at: Nullable<Date>;
  };
  salts: { name: string; fingerprint: Buffer; sealed: Buffer };
  logout_notices: {
    notice_id: Generated<string>;
    client_id: string;
    sub: string;
    sid: string;
    attempts: number;
    next_at: Date;
    dead_at: Nullable<Date>;
    last_failure: Nullable<string>;
    created_at: Date;
  };
  idempotency_keys: {
    principal: string;
    key: string;
    request_hash: Buffer;
    status: number;
    location: Nullable<string>;
    body: Json<Nullable<Record<string, unknown>>>;
    expires_at: Date;
  };
  sign_outs: {
    expires_bucket: number;
    hash: Buffer;
    browser_hash: Buffer;
    sids: string[];
    client_id: Nullable<string>;
    return_to: Nullable<string>;
    created_at: Date;
    expires_at: Date;
  };
  audit_events: {
    event_id: Generated<string>;
    at: Date;
    event: string;
    sub: Nullable<string>;
    client_id: Nullable<string>;
    actor: Nullable<string>;
    ip: Nullable<string>;
    request_id: Nullable<string>;
    detail: Json<Record<string, unknown>>;
  };
}
