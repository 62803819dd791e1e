/** Userinfo as a JWT (OpenID Connect Core §5.3.2): signed, encrypted, or both, as the client registered. */
import type { Deps } from '../deps.ts';
import type { Claims } from '../protocol/claims.ts';
import type { Client } from '../store/clients.ts';
import { NESTED, sealFor } from './encryption.ts';

type Needs = Pick<Deps, 'config' | 'keys' | 'clientKeys'>;

/** The claims in the form of this client: a JWT or JWE, or as they are. @throws OAuthError temporarily_unavailable */
export async function userinfoFor(deps: Needs, client: Client, claims: Claims, now: Date): Promise<Claims | string> {
  const alg = client.userinfo_signed_response_alg;
  const seal = await sealFor(deps, client, 'userinfo');
  if (alg === null) return seal ? seal(JSON.stringify(claims)) : claims;
  // No `typ` and no `exp`: nobody, ourselves included, takes it for an ID token.
  const signed = await deps.keys.sign({ ...claims, iss: deps.config.ISSUER, aud: client.client_id }, { alg }, now);
  return seal ? seal(signed, NESTED) : signed;
}
