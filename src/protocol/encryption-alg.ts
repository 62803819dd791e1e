/** How a JWE may be made, for the tokens we encrypt and the objects that come encrypted (RFC 7518 §4.1, §5.1). */

/** Key management: always to a public key. No RSA1_5 (RFC 8725 §3.2), no `dir`, no PBES2. */
export const ENCRYPTION_ALGS = ['RSA-OAEP-256', 'ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW'] as const;
/** Content encryption. */
export const CONTENT_ENCRYPTION = [
  'A128CBC-HS256',
  'A192CBC-HS384',
  'A256CBC-HS512',
  'A128GCM',
  'A192GCM',
  'A256GCM',
] as const;

/** What a client that names no `enc` gets (OpenID Connect Registration §2, JARM §3). */
export const DEFAULT_CONTENT_ENCRYPTION = 'A128CBC-HS256' satisfies ContentEncryption;

export type EncryptionAlg = (typeof ENCRYPTION_ALGS)[number];
export type ContentEncryption = (typeof CONTENT_ENCRYPTION)[number];
