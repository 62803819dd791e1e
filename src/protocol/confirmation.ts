/** How a token is bound to whoever may use it (RFC 7800 §3.1): its member `cnf`, and the column of its row. */
import { z } from 'zod';

/**
 * What the holder has to prove, all of it; a token without one is a bearer token. Members that are not known here are kept: a
 * token that has one was bound by a later version, and counts for nothing until it is understood.
 */
export const confirmation = z.looseObject({
  /** The key that signs its holder's DPoP proofs: its SHA-256 thumbprint (RFC 9449 §6.1), base64url. */
  jkt: z.string().optional(),
  /** The certificate that its holder connects with: its SHA-256 thumbprint (RFC 8705 §3.1), base64url. */
  'x5t#S256': z.string().optional(),
});
export type Confirmation = Readonly<z.infer<typeof confirmation>>;

/** The types of access tokens (RFC 6749 §7.1), which are the schemes of the Authorization header as well. */
export type TokenType = 'Bearer' | 'DPoP';

/** RFC 9449 §5. What is bound in another way is presented as Bearer (RFC 8705 §3). */
export const tokenTypeOf = (cnf: Confirmation | null | undefined): TokenType =>
  cnf?.jkt === undefined ? 'Bearer' : 'DPoP';

/** Could it be a SHA-256 thumbprint (RFC 7638 §3)? */
export const isThumbprint = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** As the store writes and compares it. */
export const cnfColumn = (cnf: Confirmation | null): string | null => cnf && JSON.stringify(cnf);
