/** The tables, column by column, as Kysely sees them. Names are the wire's own; the migrations say what each is for. */
import type { Generated } from 'kysely';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import type { ClaimsRequest } from '../protocol/claims-request.ts';
import type { MembershipClaim, PersonClaims } from '../protocol/claims.ts';
import type { KeyAlg } from '../protocol/key-alg.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { ClientsTable, TokenFormat } from './clients-table.ts';
import type { Json, Nullable } from './columns.ts';

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
    claims: Generated<MembershipClaim[]>;
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
  groups: {
    group_id: string;
    name: string;
    description: Nullable<string>;
    created_at: Date;
    updated_at: Date;
  };
  group_members: { group_id: string; sub: string; created_at: Date };
  roles: {
    role_id: string;
    resource: Nullable<string>;
    name: string;
    description: Nullable<string>;
    created_at: Date;
    updated_at: Date;
  };
  role_users: { role_id: string; sub: string; created_at: Date };
  role_groups: { role_id: string; group_id: string; created_at: Date };
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
  refusals: {
    expires_bucket: number;
    refusal_id: Generated<string>;
    at: Date;
    request_id: Nullable<string>;
    client_id: Nullable<string>;
    sub: Nullable<string>;
    ip: Nullable<string>;
    network: string;
    method: Nullable<string>;
    route: Nullable<string>;
    status: Nullable<number>;
    error: Nullable<string>;
    error_description: Nullable<string>;
    check: Nullable<string>;
    expected: Nullable<string>;
    received: Nullable<string>;
    dropped: Generated<number>;
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
