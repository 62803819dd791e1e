/** ID tokens that clients send back as id_token_hint (OpenID Connect Core §3.1.2.1, RP-Initiated Logout §2). */
import { compactVerify } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import { isIdToken } from '../protocol/token-type.ts';

type Needs = Pick<Deps, 'config' | 'keys'>;

const hintClaims = z.object({ iss: z.string(), sub: z.string(), aud: z.string(), sid: z.string().optional() });

/** What an id_token_hint tells us: `sub` and `sid` are what its client was told. */
export interface Hint {
  sub: string;
  client_id: string;
  sid?: string | undefined;
}

/**
 * Reads an id_token_hint: one of our own ID tokens, however old (RP-Initiated Logout §2 asks not to mind `exp`).
 * Undefined for anything else, access tokens included.
 */
export async function readHint({ config, keys }: Needs, id_token_hint: string, now: Date): Promise<Hint | undefined> {
  try {
    const { payload, protectedHeader } = await compactVerify(
      id_token_hint,
      async ({ kid = '', alg }) => {
        const key = await keys.find(kid, now, { retired: true });
        if (!key || key.alg !== alg) throw new Error('not a key of ours');
        return key.public_key;
      },
      { algorithms: [...SIGNING_ALGS] },
    );
    const claims = hintClaims.parse(JSON.parse(new TextDecoder().decode(payload)));
    if (!isIdToken(protectedHeader.typ, claims.aud)) return undefined;
    return claims.iss === config.ISSUER ? { sub: claims.sub, client_id: claims.aud, sid: claims.sid } : undefined;
  } catch {
    return undefined;
  }
}
