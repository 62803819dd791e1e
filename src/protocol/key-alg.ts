/** What our own keys are for. A key has one algorithm (RFC 7517 §4.4), and that says its use. */
import type { EncryptionAlg } from './encryption-alg.ts';
import { SIGNING_ALGS } from './signing-alg.ts';

/** What others may encrypt to us with (RFC 7518 §4.3, §4.6). */
export const DECRYPTION_ALGS = ['RSA-OAEP-256', 'ECDH-ES'] as const satisfies readonly EncryptionAlg[];
export type DecryptionAlg = (typeof DECRYPTION_ALGS)[number];

/** All that a key can be made for. The order is that of the JWKS: who takes the first RSA key there means RS256. */
export const KEY_ALGS = [...SIGNING_ALGS, ...DECRYPTION_ALGS] as const;
export type KeyAlg = (typeof KEY_ALGS)[number];

/** RFC 7517 §4.2. */
export const useOf = (alg: KeyAlg): 'sig' | 'enc' => (DECRYPTION_ALGS.some((other) => other === alg) ? 'enc' : 'sig');
