/** JWK Sets of others (RFC 7517 §5): public keys only. A symmetric or private key has no business in one. */
import { z } from 'zod';
import { isPlainText } from './plain-text.ts';

export const publicJwks = z.object({
  keys: z
    .array(
      z
        .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) })
        .refine((key) => isPlainText(JSON.stringify(key)), 'must be well-formed text')
        .refine((key) => !('d' in key) && !('k' in key), 'must hold public keys only'),
    )
    .min(1)
    .max(50),
});
export type PublicJwks = z.infer<typeof publicJwks>;
