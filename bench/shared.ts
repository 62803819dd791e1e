/** The configuration that Postern and the peer share: the same application, the same APIs. */
import { createHash } from 'node:crypto';

export const REDIRECT_URI = 'https://app.bench.test/callback';
export const SCOPE = 'openid profile email offline_access';
/** The same authorization as plain OAuth. */
export const SCOPE_WITHOUT_OPENID = 'profile email offline_access';
export const VERIFIER = 'a-verifier-of-forty-three-characters-or-more';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** An API for each kind of access token, by the end of its identifier. */
export const KINDS = ['rs256', 'es256', 'eddsa', 'opaque'] as const;
export type Kind = (typeof KINDS)[number];
export const resourceOf = (kind: Kind): string => `https://api.bench.test/${kind}`;
