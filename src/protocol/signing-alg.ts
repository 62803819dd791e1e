/** The asymmetric algorithms we sign with (RFC 7518 §3.1, RFC 8037). There is no `none` and no HS* to confuse them with. */
export const SIGNING_ALGS = ['RS256', 'ES256', 'PS256', 'EdDSA'] as const;
export type SigningAlg = (typeof SIGNING_ALGS)[number];
