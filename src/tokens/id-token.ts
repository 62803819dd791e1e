/** ID tokens (OpenID Connect Core §2). */
import type { Deps } from '../deps.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { tokenHash } from '../protocol/token-hash.ts';
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
