/**
 * Profiles: the FAPI 2.0 Security Profile and FAPI 2.0 Message Signing (both Final), as what a client's registration has to say. A client
 * keeps to all of it or to nothing: every rule is a row, with its clause and with the options that mend it.
 */
import type { ClientMetadata } from './client-metadata.ts';

export const PROFILES = ['fapi2_security', 'fapi2_message_signing'] as const;
export type Profile = (typeof PROFILES)[number];

/** What may sign (FAPI 2.0 Security Profile §5.4.1). RFC 9864's name of EdDSA stands beside the old one. */
export const FAPI_ALGS: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Seconds that a code may live (§5.3.2.1). */
export const FAPI_CODE_TTL = 60;

/** A client, by what the rules look at: a document that is being registered, or its row, in which what is not said is null. */
export type Profiled = { [Member in RuledMember]?: ClientMetadata[Member] | null | undefined };
type RuledMember =
  | 'profile'
  | 'application_type'
  | 'grant_types'
  | 'redirect_uris'
  | 'response_modes'
  | 'token_endpoint_auth_method'
  | 'token_endpoint_auth_signing_alg'
  | 'id_token_signed_response_alg'
  | 'userinfo_signed_response_alg'
  | 'authorization_signed_response_alg'
  | 'request_object_signing_alg'
  | 'require_pushed_authorization_requests'
  | 'require_signed_request_object'
  | 'require_pkce'
  | 'dpop_bound_access_tokens'
  | 'tls_client_certificate_bound_access_tokens';

/** What a client's registration says against a profile. */
export interface Deviation {
  member: RuledMember;
  clause: string;
  problem: string;
  /** Options of `postern clients update` that mend it. */
  mend: string;
}

interface Rule extends Deviation {
  /** Of this profile alone, and not of the one below it. */
  only?: Profile;
  isKept(client: Profiled): boolean;
}

const SECURITY = 'FAPI 2.0 Security Profile';
const SIGNING = 'FAPI 2.0 Message Signing';
const ALGS = 'PS256, ES256 or EdDSA';

const usesCode = ({ grant_types }: Profiled): boolean => grant_types?.includes('authorization_code') === true;
const isAlg = (alg: string | null | undefined): boolean => alg !== null && alg !== undefined && FAPI_ALGS.includes(alg);
const isAlgOrNone = (alg: string | null | undefined): boolean => alg === null || alg === undefined || isAlg(alg);
const isHttps = (uri: string, { application_type }: Profiled): boolean =>
  uri.startsWith('https://') || (application_type === 'native' && /^http:\/\/(127\.0\.0\.1|\[::1\])[:/]/.test(uri));
const usesJarm = ({ response_modes }: Profiled): boolean =>
  response_modes === null || response_modes === undefined || response_modes.some((mode) => mode.endsWith('jwt'));

const RULES: readonly Rule[] = [
  {
    member: 'token_endpoint_auth_method',
    clause: `${SECURITY} §5.3.2.1`,
    problem: 'the client has to authenticate with private_key_jwt or a certificate',
    mend: '--auth-method private_key_jwt --jwks-uri <url>',
    isKept: ({ token_endpoint_auth_method: method }) =>
      method === 'private_key_jwt' || method === 'tls_client_auth' || method === 'self_signed_tls_client_auth',
  },
  {
    member: 'token_endpoint_auth_signing_alg',
    clause: `${SECURITY} §5.4.1`,
    problem: `its assertions have to be signed with ${ALGS}`,
    mend: '--assertion-alg ES256',
    isKept: ({ token_endpoint_auth_signing_alg: alg, token_endpoint_auth_method: method }) =>
      method !== 'private_key_jwt' || isAlg(alg),
  },
  {
    member: 'dpop_bound_access_tokens',
    clause: `${SECURITY} §5.3.2.1`,
    problem: 'its access tokens have to be bound to its key or certificate',
    mend: '--dpop-bound',
    isKept: (client) =>
      client.dpop_bound_access_tokens === true || client.tls_client_certificate_bound_access_tokens === true,
  },
  {
    member: 'require_pushed_authorization_requests',
    clause: `${SECURITY} §5.3.2.2`,
    problem: 'its authorization requests have to be pushed (RFC 9126)',
    mend: '--require-par',
    isKept: (client) => !usesCode(client) || client.require_pushed_authorization_requests === true,
  },
  {
    member: 'require_pkce',
    clause: `${SECURITY} §5.3.2.2`,
    problem: 'PKCE has to be required of it (RFC 7636, S256)',
    mend: '--require-pkce',
    isKept: (client) => !usesCode(client) || client.require_pkce === true,
  },
  {
    member: 'redirect_uris',
    clause: `${SECURITY} §5.3.2.2`,
    problem: 'redirect URIs have to be https, but for the loopback addresses of native applications',
    mend: '--redirect-uri https://…',
    isKept: (client) => (client.redirect_uris ?? []).every((uri) => isHttps(uri, client)),
  },
  {
    member: 'id_token_signed_response_alg',
    clause: `${SECURITY} §5.4.1`,
    problem: `ID tokens have to be signed with ${ALGS}`,
    mend: '--id-token-alg ES256',
    isKept: ({ id_token_signed_response_alg: alg }) => isAlg(alg),
  },
  {
    member: 'userinfo_signed_response_alg',
    clause: `${SECURITY} §5.4.1`,
    problem: `userinfo has to be signed with ${ALGS}, where it is`,
    mend: '--userinfo-alg ES256',
    isKept: ({ userinfo_signed_response_alg: alg }) => isAlgOrNone(alg),
  },
  {
    member: 'authorization_signed_response_alg',
    clause: `${SECURITY} §5.4.1`,
    problem: `answers in a JWT, which it may ask for, have to be signed with ${ALGS}`,
    mend: '--authorization-alg ES256',
    isKept: (client) => !usesCode(client) || !usesJarm(client) || isAlg(client.authorization_signed_response_alg),
  },
  {
    member: 'request_object_signing_alg',
    clause: `${SECURITY} §5.4.1`,
    problem: `request objects have to be signed with ${ALGS}`,
    mend: '--request-object-alg ES256',
    isKept: (client) => !usesCode(client) || isAlg(client.request_object_signing_alg),
  },
  {
    member: 'require_signed_request_object',
    clause: `${SIGNING} §5.3.1`,
    problem: 'its authorization requests have to be signed (RFC 9101)',
    mend: '--require-signed-request',
    only: 'fapi2_message_signing',
    isKept: (client) => !usesCode(client) || client.require_signed_request_object === true,
  },
];

/** Everything that a client's registration says against a profile, in the order of the rules. */
export const deviationsFrom = (profile: Profile, client: Profiled): Deviation[] =>
  RULES.filter(({ only, isKept }) => (only === undefined || only === profile) && !isKept(client)).map(
    ({ member, clause, problem, mend }) => ({ member, clause, problem, mend }),
  );

/** The profile that counts for a client: the stricter of its own and the server's. */
export function profileOf(server: Profile | 'none', { profile = null }: Pick<Profiled, 'profile'>): Profile | null {
  const strictness = (one: Profile | 'none' | null): number => PROFILES.indexOf(one as Profile);
  return PROFILES[Math.max(strictness(server), strictness(profile))] ?? null;
}

/** What a client of a profile has from the beginning (`postern clients create --preset fapi2`). */
export const FAPI_PRESET = {
  profile: 'fapi2_security',
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_signing_alg: 'ES256',
  dpop_bound_access_tokens: true,
  require_pushed_authorization_requests: true,
  require_pkce: true,
  id_token_signed_response_alg: 'ES256',
  authorization_signed_response_alg: 'ES256',
  request_object_signing_alg: 'ES256',
} as const satisfies Partial<Record<keyof ClientMetadata, unknown>>;
