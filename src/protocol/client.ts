/** Clients (RFC 6749 §2): what one is called, how it proves who it is, and how it gets tokens. */
import { z } from 'zod';
import type { ScopeOwner } from './scope.ts';

/**
 * What a client proves who it is with, by the registered name of its method (RFC 8414 §2). This is what its metadata has to
 * know of a method; how one is read and checked is in clients/auth-methods.
 */
const PROOFS = {
  client_secret_basic: 'secret',
  client_secret_post: 'secret',
  private_key_jwt: 'keys',
  tls_client_auth: 'certificate',
  self_signed_tls_client_auth: 'certificate',
  none: 'nothing',
} as const satisfies Record<string, 'secret' | 'keys' | 'certificate' | 'nothing'>;
export type AuthMethod = keyof typeof PROOFS;
export const AUTH_METHODS = Object.keys(PROOFS) as readonly AuthMethod[];

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** The grants, by their registered names: whether each gives for a person, or to a machine, which is the client itself. */
const OWNERS = {
  authorization_code: 'person',
  client_credentials: 'machine',
  refresh_token: 'person',
  [DEVICE_GRANT]: 'person',
} as const satisfies Record<string, ScopeOwner>;
export type GrantType = keyof typeof OWNERS;
export type OwnerOf<Name extends GrantType> = (typeof OWNERS)[Name];
export const GRANT_TYPES = Object.keys(OWNERS) as readonly GrantType[];
/** The grants by which a client gets tokens for itself. */
export const MACHINE_GRANTS = GRANT_TYPES.filter((name) => OWNERS[name] === 'machine');

/** Can the client get tokens for itself? */
export const actsForItself = ({ grant_types }: { grant_types: readonly GrantType[] }): boolean =>
  grant_types.some((name) => MACHINE_GRANTS.includes(name));

type Authenticated = Readonly<{ token_endpoint_auth_method?: AuthMethod | undefined }>;

const proofOf = ({ token_endpoint_auth_method: method }: Authenticated): (typeof PROOFS)[AuthMethod] | undefined =>
  method && PROOFS[method];

/** Does the client authenticate with a secret? However it is sent: either way may be used (RFC 6749 §2.3.1). */
export const usesSecret = (client: Authenticated): boolean => proofOf(client) === 'secret';

/** Does the client authenticate with keys that it has published? */
export const usesKeys = (client: Authenticated): boolean => proofOf(client) === 'keys';

/** Does the client authenticate with the certificate that it connects with (RFC 8705 §2)? */
export const usesCertificate = (client: Authenticated): boolean => proofOf(client) === 'certificate';

/** The members that say whom a client's certificate is for (RFC 8705 §2.1.2). */
export const TLS_SUBJECTS = [
  'tls_client_auth_subject_dn',
  'tls_client_auth_san_dns',
  'tls_client_auth_san_uri',
  'tls_client_auth_san_ip',
  'tls_client_auth_san_email',
] as const;

/** Is it a client that cannot prove who it is (RFC 6749 §2.1)? */
export const isPublic = (client: Authenticated): boolean => proofOf(client) === 'nothing';

const methodsOf = (clients: (client: Authenticated) => boolean): AuthMethod[] =>
  AUTH_METHODS.filter((token_endpoint_auth_method) => clients({ token_endpoint_auth_method }));

/** The methods by which a client proves that it knows a secret. */
export const SECRET_METHODS: readonly AuthMethod[] = methodsOf(usesSecret);
/** The methods by which a client proves who it is at all. */
export const CONFIDENTIAL_METHODS: readonly AuthMethod[] = methodsOf((client) => !isPublic(client));

/** RFC 3986 unreserved characters, so that the id means the same in a form, a header and a path. */
const CLIENT_ID = /^[A-Za-z0-9._~-]{1,128}$/;
export const clientId = z.string().regex(CLIENT_ID, 'must be 1 to 128 of A-Z a-z 0-9 - . _ ~');
/** Could a client have this name? */
export const isClientId = (text: string): boolean => CLIENT_ID.test(text);
/** RFC 6749 Appendix A.2: VSCHAR; long enough not to be guessed. */
export const clientSecret = z.string().regex(/^[\x20-\x7E]{12,512}$/, 'must be 12 to 512 printable ASCII characters');
