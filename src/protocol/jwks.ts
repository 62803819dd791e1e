/** JWK Sets of others (RFC 7517 §5): public keys only. A symmetric or private key has no business in one. */
import { z } from 'zod';
import type { EncryptionAlg } from './encryption-alg.ts';
import { isPlainText } from './plain-text.ts';

const KINDS = ['RSA', 'EC', 'OKP'];

/** A key as it comes. */
const anyKey = z.looseObject({ kty: z.string() });
type AnyKey = z.infer<typeof anyKey>;

const isPublic = (key: AnyKey): boolean => key.kty !== 'oct' && !('d' in key) && !('k' in key);

/** What a public key is made of, and the certificates that may come with it. */
const MEMBERS = ['kid', 'use', 'alg', 'key_ops', 'crv', 'x', 'y', 'n', 'e', 'x5c', 'x5t', 'x5t#S256'];

/**
 * RFC 7517 §4, §5: kinds of keys and members that are not understood are ignored, and so not kept, stored or shown
 * either, as large or deep as they come.
 */
const understood = (keys: readonly AnyKey[]): AnyKey[] =>
  keys
    .filter(({ kty }) => KINDS.includes(kty))
    .map(({ kty, ...members }) => ({
      kty,
      ...Object.fromEntries(Object.entries(members).filter(([name]) => MEMBERS.includes(name))),
    }));

const isText = (value: unknown): boolean =>
  [value].flat().every((text) => typeof text === 'string' && isPlainText(text));

export const publicJwks = z.object({
  keys: z
    .array(anyKey.refine(isPublic, 'must hold public keys only'))
    .max(50)
    .transform(understood)
    .refine((keys) => keys.length > 0, `must hold a key of kty ${KINDS.join(', ')}`)
    .refine((keys) => keys.every((key) => Object.values(key).every(isText)), 'must be well-formed text'),
});
export type PublicJwks = z.infer<typeof publicJwks>;

type PublicJwk = PublicJwks['keys'][number];

const CURVES = ['P-256', 'P-384', 'P-521', 'X25519'];

/** The keys of a set that can be encrypted to with `alg`, best first: those that say so before those that say nothing. */
export function encryptionKeysOf({ keys }: PublicJwks, alg: EncryptionAlg): PublicJwk[] {
  const fits = ({ kty, crv }: PublicJwk): boolean =>
    alg === 'RSA-OAEP-256' ? kty === 'RSA' : kty !== 'RSA' && CURVES.includes(String(crv));
  const explicitness = (key: PublicJwk): number => Number(key['use'] === 'enc') + Number(key['alg'] === alg);
  return keys
    .filter((key) => fits(key) && ['enc', undefined].includes(key['use'] as string | undefined))
    .filter((key) => key['alg'] === undefined || key['alg'] === alg)
    .toSorted((one, other) => explicitness(other) - explicitness(one));
}

/** The certificate of a key: the first of its x5c (RFC 7517 §4.7), in DER. */
const certificateOf = ({ x5c }: PublicJwk): Buffer | undefined => {
  const [first] = Array.isArray(x5c) ? (x5c as unknown[]) : [];
  return typeof first === 'string' ? Buffer.from(first, 'base64') : undefined;
};

/** Does one of the keys come with this certificate (DER); with any, where none is named? */
export const holdsCertificate = ({ keys }: PublicJwks, der?: Buffer): boolean =>
  keys.map(certificateOf).some((one) => one !== undefined && (der === undefined || one.equals(der)));
