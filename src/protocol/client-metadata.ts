/** Client metadata (RFC 7591 §2, OpenID Connect Registration §2) with our own few additions: shapes, defaults and presets. */
import { z } from 'zod';
import { isDetailsType } from './authorization-details.ts';
import { RESPONSE_MODES } from './authorization-request.ts';
import {
  AUTH_METHODS,
  DEVICE_GRANT,
  GRANT_TYPES,
  isPublic,
  MACHINE_GRANTS,
  TLS_SUBJECTS,
  usesKeys,
  type AuthMethod,
  type GrantType,
} from './client.ts';
import { isAdminScope } from './admin-api.ts';
import { deviationsFrom, FAPI_PRESET, PROFILES } from './profile.ts';
import { readDistinguishedName } from './distinguished-name.ts';
import { isPlainText } from './plain-text.ts';
import { isScopeToken } from './scope.ts';
import { frontchannelUriProblem, redirectUriProblem } from './redirect-uri.ts';
import { encryptionKeysOf, holdsCertificate, publicJwks, type PublicJwks } from './jwks.ts';
import { ASSERTION_ALGS } from './jwt-assertion.ts';
import {
  CONTENT_ENCRYPTION,
  DEFAULT_CONTENT_ENCRYPTION,
  ENCRYPTION_ALGS,
  type ContentEncryption,
  type EncryptionAlg,
} from './encryption-alg.ts';
import { DECRYPTION_ALGS } from './key-alg.ts';
import { REQUEST_OBJECT_SIGNING_ALGS, requestUriProblem } from './request-object.ts';
import { sectorProblem, SUBJECT_TYPES } from './sector.ts';
import { SIGNING_ALGS } from './signing-alg.ts';
import { TOKEN_FORMATS } from './token-format.ts';
import { webUri } from './uri.ts';
import { DAY } from './numeric-date.ts';

/** Longest life of an ID token or access token, in seconds: a retired key stays published this long. */
export const MAX_TOKEN_TTL = DAY;
/** Longest life of a refresh token or session, in seconds. */
export const MAX_GRANT_TTL = 400 * DAY;

const uri = webUri();
const plain = z
  .string()
  .regex(/^[^\p{C}]*$/u, { message: 'must be plain text', abort: true })
  .refine(isPlainText, 'must be plain text')
  .meta({ title: 'PlainText' });
const tokenTtl = z.int().min(1).max(MAX_TOKEN_TTL);
const grantTtl = z.int().min(1).max(MAX_GRANT_TTL);
const origin = z
  .string()
  .refine((text) => URL.canParse(text) && new URL(text).origin === text && text !== 'null', 'must be a web origin');
const scope = z
  .string()
  .max(4000)
  .refine((text) => text.split(' ').every((token) => token === '' || isScopeToken(token)), 'must be scope tokens');

const addresses = [z.ipv4(), z.ipv6()];
const isAddress = (text: string): boolean => addresses.some((kind) => kind.safeParse(text).success);
const isMailAddress = (text: string): boolean => /^[^@]+@[^@]+$/.test(text);

// OpenID Connect Registration §2: https. We add parameters to it, which nothing may follow.
const initiateLoginUri = webUri('https').refine((text) => !text.includes('#'), 'must not have a fragment');

/** Each member on its own. What they mean for each other is checked by `clientMetadata`. */
export const clientMetadataFields = z.strictObject({
  client_name: plain.min(1).max(200).optional(),
  client_uri: uri.optional(),
  logo_uri: uri.optional(),
  policy_uri: uri.optional(),
  tos_uri: uri.optional(),
  software_id: plain.min(1).max(200).optional(),
  software_version: plain.min(1).max(200).optional(),
  initiate_login_uri: initiateLoginUri.optional(),
  contacts: z.array(plain.min(1).max(320)).max(20).default([]),
  application_type: z.enum(['web', 'native']).default('web'),
  token_endpoint_auth_method: z.enum(AUTH_METHODS).default('client_secret_basic'),
  token_endpoint_auth_signing_alg: z.enum(ASSERTION_ALGS).optional(),
  /** RFC 8705 §2.1.2: whom its certificate is for. */
  tls_client_auth_subject_dn: plain
    .max(1000)
    .refine((text) => readDistinguishedName(text) !== undefined, 'must be a distinguished name (RFC 4514)')
    .optional(),
  tls_client_auth_san_dns: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'must be a host name')
    .optional(),
  tls_client_auth_san_uri: plain.max(2000).refine(URL.canParse, 'must be an absolute URI').optional(),
  tls_client_auth_san_ip: z.string().max(45).refine(isAddress, 'must be an IP address').optional(),
  tls_client_auth_san_email: plain.max(320).refine(isMailAddress, 'must be a mail address').optional(),
  jwks: publicJwks.optional(),
  jwks_uri: uri.optional(),
  redirect_uris: z.array(z.string()).max(100).default([]),
  post_logout_redirect_uris: z.array(z.string()).max(100).default([]),
  grant_types: z.array(z.enum(GRANT_TYPES)).min(1).default(['authorization_code']),
  response_types: z.array(z.enum(['code'])).optional(),
  /** How answers may travel (FAPI 2.0 Message Signing §5.3.2); any way when nothing is said. */
  response_modes: z.array(z.enum(RESPONSE_MODES)).min(1).optional(),
  default_max_age: z.int().min(0).max(999_999_999).optional(),
  /** Always true of our ID tokens. */
  require_auth_time: z.boolean().default(false),
  default_acr_values: z
    .array(z.string().regex(/^[\x21-\x7E]{1,200}$/, 'must be names'))
    .max(20)
    .optional(),
  scope: scope.default('openid profile email'),
  /** What of RFC 9396 it may ask for (§10): the types, each registered here. */
  authorization_details_types: z.array(z.string().refine(isDetailsType, 'must be names of types')).max(50).optional(),
  /** Web origins, besides those of the redirect URIs, whose pages may call the token endpoint. */
  allowed_origins: z.array(origin).max(100).default([]),
  id_token_signed_response_alg: z.enum(SIGNING_ALGS).default('RS256'),
  id_token_encrypted_response_alg: z.enum(ENCRYPTION_ALGS).optional(),
  id_token_encrypted_response_enc: z.enum(CONTENT_ENCRYPTION).optional(),
  userinfo_signed_response_alg: z.enum(SIGNING_ALGS).optional(),
  userinfo_encrypted_response_alg: z.enum(ENCRYPTION_ALGS).optional(),
  userinfo_encrypted_response_enc: z.enum(CONTENT_ENCRYPTION).optional(),
  /** RS256 when nothing is said (JARM §3). */
  authorization_signed_response_alg: z.enum(SIGNING_ALGS).optional(),
  authorization_encrypted_response_alg: z.enum(ENCRYPTION_ALGS).optional(),
  authorization_encrypted_response_enc: z.enum(CONTENT_ENCRYPTION).optional(),
  subject_type: z.enum(SUBJECT_TYPES).default('public'),
  sector_identifier_uri: webUri('https').optional(),
  access_token_format: z.enum(TOKEN_FORMATS).optional(),
  access_token_ttl: tokenTtl.optional(),
  id_token_ttl: tokenTtl.optional(),
  refresh_token_ttl: grantTtl.optional(),
  refresh_token_idle_ttl: grantTtl.optional(),
  id_token_claims: z.enum(['scope', 'minimal']).optional(),
  request_uris: z.array(z.string()).max(100).default([]),
  request_object_signing_alg: z.enum(REQUEST_OBJECT_SIGNING_ALGS).optional(),
  request_object_encryption_alg: z.enum(DECRYPTION_ALGS).optional(),
  request_object_encryption_enc: z.enum(CONTENT_ENCRYPTION).optional(),
  backchannel_logout_uri: uri.refine((text) => !text.includes('#'), 'must not have a fragment').optional(),
  backchannel_logout_session_required: z.boolean().default(false),
  frontchannel_logout_uri: uri.optional(),
  frontchannel_logout_session_required: z.boolean().default(false),
  /** Nobody comes to it by one factor alone. */
  require_second_factor: z.boolean().default(false),
  /** RFC 9449 §5.2: it gets no bearer tokens. */
  dpop_bound_access_tokens: z.boolean().default(false),
  /** RFC 8705 §3.4: its tokens are bound to the certificate that it connects with. */
  tls_client_certificate_bound_access_tokens: z.boolean().default(false),
  /** Its DPoP proofs hold a nonce of ours (RFC 9449 §8), whatever DPOP_NONCE says. */
  require_dpop_nonce: z.boolean().default(false),
  require_pkce: z.boolean().default(false),
  require_pushed_authorization_requests: z.boolean().default(false),
  require_signed_request_object: z.boolean().default(false),
  skip_consent: z.boolean().default(false),
  /** It keeps to all of this profile, or is refused (protocol/profile.ts). */
  profile: z.enum(PROFILES).optional(),
  may_introspect: z.boolean().default(false),
  /** May have scopes of the admin API. */
  may_administer: z.boolean().default(false),
});

const { client_name, client_uri, logo_uri, policy_uri, tos_uri } = clientMetadataFields.shape;
/** What the members are that may have the tag of a language (`client_name#de`). */
export const localizedTexts = { client_name, client_uri, logo_uri, policy_uri, tos_uri };

/** Every member of a metadata document, without the tags of languages. */
export const METADATA_MEMBERS = Object.keys(clientMetadataFields.shape) as ReadonlyArray<keyof ClientMetadata>;

/** Members that only an operator decides: what a client may not say of itself, and does not change by saying nothing. */
export const OPERATOR_ONLY = [
  // Whoever registers themselves would give themselves the right to ask for payments.
  'authorization_details_types',
  'allowed_origins',
  'access_token_format',
  'access_token_ttl',
  'id_token_ttl',
  'refresh_token_ttl',
  'refresh_token_idle_ttl',
  'id_token_claims',
  'require_second_factor',
  'profile',
  'require_dpop_nonce',
  'require_pkce',
  'skip_consent',
  'may_introspect',
  'may_administer',
] as const satisfies ReadonlyArray<keyof z.input<typeof clientMetadataFields>>;

/** Members that a client may set of itself (RFC 7591): those of the standards. */
export const SELF_REGISTERABLE: ReadonlySet<string> = new Set(
  METADATA_MEMBERS.filter((name) => !(OPERATOR_ONLY as readonly string[]).includes(name)),
);

/** A whole metadata document: every field checked alone and against the others, defaults filled in. */
export const clientMetadata = clientMetadataFields.superRefine((client, context) => {
  const problem = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message, input: client });
  const usesCode = client.grant_types.includes('authorization_code');

  for (const field of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    for (const value of client[field]) {
      const reason = redirectUriProblem(value, client.application_type);
      if (reason !== undefined) problem(field, `${JSON.stringify(value)} ${reason}`);
    }
  }
  const { frontchannel_logout_uri } = client;
  const framed = frontchannel_logout_uri && frontchannelUriProblem(frontchannel_logout_uri, client.redirect_uris);
  if (framed) problem('frontchannel_logout_uri', framed);
  for (const value of client.request_uris) {
    const reason = requestUriProblem(value);
    if (reason !== undefined) problem('request_uris', `${JSON.stringify(value)} ${reason}`);
  }
  if (usesCode && client.redirect_uris.length === 0) problem('redirect_uris', 'needs at least one redirect URI');
  if (client.grant_types.includes('refresh_token') && !usesCode && !client.grant_types.includes(DEVICE_GRANT)) {
    problem('grant_types', 'refresh_token needs authorization_code or device_code beside it');
  }
  if (client.response_types !== undefined && client.response_types.length > 0 !== usesCode) {
    problem('response_types', 'code goes with the grant type authorization_code');
  }
  // RFC 6749 §4.4: only for clients that can keep a secret.
  if (isPublic(client)) {
    for (const name of MACHINE_GRANTS.filter((machine) => client.grant_types.includes(machine))) {
      problem('grant_types', `${name} is only for confidential clients`);
    }
  }
  const hasKeys = client.jwks !== undefined || client.jwks_uri !== undefined;
  // RFC 7591 §2: one or the other.
  if (client.jwks !== undefined && client.jwks_uri !== undefined) problem('jwks_uri', 'cannot stand beside jwks');
  if (usesKeys(client) && !hasKeys) {
    problem('jwks', `is needed for ${client.token_endpoint_auth_method}, or jwks_uri`);
  }
  for (const [member, problemOfIt] of certificateProblems(client)) problem(member, problemOfIt);
  // RFC 9101 §10.5: nothing it could send would be accepted.
  if (client.require_signed_request_object && !hasKeys) {
    problem('jwks', 'is needed for require_signed_request_object, or jwks_uri');
  }
  // OpenID Connect Registration §2.
  if (client.request_object_encryption_enc !== undefined && client.request_object_encryption_alg === undefined) {
    problem('request_object_encryption_enc', 'needs request_object_encryption_alg beside it');
  }
  for (const [member, problemOfIt] of encryptionProblems(client)) problem(member, problemOfIt);
  // OpenID Connect Core §8.1.
  if (client.subject_type === 'pairwise' && client.sector_identifier_uri === undefined) {
    const reason = sectorProblem(client.redirect_uris, client.application_type);
    if (reason !== undefined) problem('sector_identifier_uri', reason);
  }
  if (client.profile !== undefined) {
    for (const { member, problem: why, clause } of deviationsFrom(client.profile, client))
      problem(member, `${why} (${clause})`);
  }
  for (const power of ['may_introspect', 'may_administer'] as const) {
    if (isPublic(client) && client[power]) problem(power, 'is only for confidential clients');
  }
  // A name alone is no power: somebody may have meant a scope of an API of theirs.
  const admin = client.scope.split(' ').filter(isAdminScope);
  if (admin.length > 0 && !client.may_administer) {
    problem('scope', `has power over the admin API, which needs may_administer beside it: ${admin.join(' ')}`);
  }
  // RFC 8252 §8.6: anybody can pretend to be this client, so the person is asked each time.
  if (isPublic(client) && client.application_type === 'native' && client.skip_consent) {
    problem('skip_consent', 'is not possible for a public native client');
  }
});

/** What is wrong with how a client says which certificate is its own. */
function* certificateProblems(
  client: { [K in (typeof TLS_SUBJECTS)[number]]?: string | undefined } & {
    token_endpoint_auth_method: AuthMethod;
    jwks?: PublicJwks | undefined;
    jwks_uri?: string | undefined;
  },
): Generator<[member: string, problem: string]> {
  const { token_endpoint_auth_method: method, jwks, jwks_uri } = client;
  const said = TLS_SUBJECTS.filter((member) => client[member] !== undefined);
  if (method !== 'tls_client_auth') {
    for (const member of said) yield [member, 'is for tls_client_auth alone'];
  } else if (said.length !== 1) {
    // RFC 8705 §2.1.2.
    yield ['token_endpoint_auth_method', `tls_client_auth needs exactly one of ${TLS_SUBJECTS.join(', ')}`];
  }
  if (method !== 'self_signed_tls_client_auth' || jwks_uri !== undefined) return;
  // §2.2.2.
  if (jwks === undefined || !holdsCertificate(jwks))
    yield ['jwks', `needs a key with its certificate (x5c) for ${method}, or jwks_uri`];
}

/** What a client may want encrypted, by the first half of the members that say so. */
const ENCRYPTED = ['id_token', 'userinfo', 'authorization'] as const;
export type Encrypted = (typeof ENCRYPTED)[number];
/** The members of each: its `alg` and its `enc`. */
type Encryption = { [K in `${Encrypted}_encrypted_response_alg`]?: EncryptionAlg | undefined } & {
  [K in `${Encrypted}_encrypted_response_enc`]?: ContentEncryption | undefined;
};

/** What cannot be encrypted as a client asks: refused now, for whoever should encrypt it could only fail. */
function* encryptionProblems(
  client: Encryption & { jwks?: PublicJwks | undefined; jwks_uri?: string | undefined },
): Generator<[member: string, problem: string]> {
  for (const what of ENCRYPTED) {
    const alg = client[`${what}_encrypted_response_alg`];
    // OpenID Connect Registration §2, JARM §3.
    if (alg === undefined) {
      const alone = client[`${what}_encrypted_response_enc`] !== undefined;
      if (alone) yield [`${what}_encrypted_response_enc`, `needs ${what}_encrypted_response_alg beside it`];
    } else if (client.jwks === undefined && client.jwks_uri === undefined) {
      yield ['jwks', `is needed for ${what}_encrypted_response_alg, or jwks_uri`];
    } else if (client.jwks !== undefined && encryptionKeysOf(client.jwks, alg).length === 0) {
      yield ['jwks', `holds no key to encrypt to with ${alg}`];
    }
  }
}

/** The `enc` of what is encrypted, defaults filled in (OpenID Connect Registration §2, JARM §3). */
export const encryptionDefaults = (client: Encryption): Encryption =>
  Object.fromEntries(
    ENCRYPTED.filter((what) => client[`${what}_encrypted_response_alg`] !== undefined).map((what) => [
      `${what}_encrypted_response_enc`,
      client[`${what}_encrypted_response_enc`] ?? DEFAULT_CONTENT_ENCRYPTION,
    ]),
  );

export type ClientMetadata = z.infer<typeof clientMetadata>;
/** As it is written; members with the tag of a language may stand beside (protocol/localized.ts). */
export type ClientMetadataInput = z.input<typeof clientMetadata>;

const interactive = ['authorization_code', 'refresh_token'] as const satisfies GrantType[];

/** Sensible metadata for the usual kinds of application. */
export const presets = {
  web: { token_endpoint_auth_method: 'client_secret_basic', grant_types: [...interactive] },
  spa: { token_endpoint_auth_method: 'none', grant_types: [...interactive] },
  native: { token_endpoint_auth_method: 'none', application_type: 'native', grant_types: [...interactive] },
  device: {
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    grant_types: [DEVICE_GRANT, 'refresh_token'],
  },
  fapi2: { ...FAPI_PRESET, grant_types: [...interactive] },
  // No default scope: those of the standard are for people.
  m2m: { token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials'], scope: '' },
} as const satisfies Record<string, Partial<ClientMetadataInput>>;
