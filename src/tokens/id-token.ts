/** ID tokens (OpenID Connect Core §2): made here, and read back as hints. */
import { compactVerify } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import { tokenHash } from '../protocol/token-hash.ts';
import { isIdToken } from '../protocol/token-type.ts';
import type { Authorization, PersonAuthorization } from './authorization.ts';
import { NESTED, type Seal } from './encryption.ts';
import { sidFor, subjectFor } from './subject.ts';

type Needs = Pick<Deps, 'config' | 'keys'>;

/** Signs the ID token that goes beside `access_token`, with the algorithm its client registered; `seal` encrypts it. */
export async function issueIdToken(
  { config, keys }: Needs,
  { client, sub }: Authorization,
  person: PersonAuthorization,
  { access_token, seal }: { access_token: string; seal: Seal | undefined },
  now: Date,
): Promise<string> {
  const alg = client.id_token_signed_response_alg;
  const minimal = (client.id_token_claims ?? config.ID_TOKEN_CLAIMS) === 'minimal';
  const iat = numericDate(now);
  const claims = {
    ...(minimal ? {} : person.claims),
    ...person.requested_claims,
    iss: config.ISSUER,
    sub: subjectFor({ keys }, person.sector, sub),
    aud: client.client_id,
    exp: iat + (client.id_token_ttl ?? config.ID_TOKEN_TTL),
    iat,
    auth_time: numericDate(person.auth_time),
    acr: person.acr,
    amr: person.amr,
    sid: sidFor({ keys }, person.sector, person.sid),
    at_hash: tokenHash(access_token, alg),
    ...(person.nonce !== null && { nonce: person.nonce }),
  };
  const signed = await keys.sign(claims, { typ: 'JWT', alg }, now);
  // §2, §10.2: signed, then encrypted.
  return seal ? seal(signed, NESTED) : signed;
}

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
