/** Authorization responses as JWTs (JARM): signed by us, and encrypted where the client registered that. */
import type { Deps } from '../deps.ts';
import { invalidRequest, OAuthError } from '../protocol/error.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { listOf } from '../protocol/redaction.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { Client } from '../store/clients.ts';
import { NESTED, sealFor } from './encryption.ts';

/** Seconds: §2.1 recommends ten minutes at most. A code is good for less. */
const LIFE = 300;
/** §3: of a client that registered none. */
const DEFAULT_ALG = 'RS256' satisfies SigningAlg;

/** What the responses of this client are signed with. @throws OAuthError invalid_request when there is no key for it here */
export function responseAlgOf({ config, keys }: Pick<Deps, 'config' | 'keys'>, client: Client, now: Date): SigningAlg {
  const alg = client.authorization_signed_response_alg ?? DEFAULT_ALG;
  if (keys.canSign(alg, now)) return alg;
  throw invalidRequest(`this server has no key to sign an answer with ${alg}`, {
    check: 'response_mode',
    client_id: client.client_id,
    expected: `authorization_signed_response_alg of ${listOf(config.SIGNING_ALGS)}`,
    received: client.authorization_signed_response_alg ?? `none, which means ${DEFAULT_ALG}`,
  });
}

/**
 * The response document (§2.1) of these parameters. It has no `typ`: nobody, ourselves included, takes it for an ID token.
 * @throws OAuthError invalid_request, or temporarily_unavailable when the key of the client cannot be had
 */
export async function issueResponse(
  deps: Pick<Deps, 'clientKeys' | 'config' | 'keys'>,
  client: Client,
  parameters: Record<string, string>,
  now: Date,
): Promise<string> {
  const alg = responseAlgOf(deps, client, now);
  const seal = await responseSealOf(deps, client);
  const { client_id } = client;
  const claims = { iss: deps.config.ISSUER, aud: client_id, exp: numericDate(now) + LIFE, ...parameters };
  const signed = await deps.keys.sign(claims, { alg }, now);
  // §2.2: signed, then encrypted.
  return seal ? seal(signed, NESTED) : signed;
}

async function responseSealOf(deps: Pick<Deps, 'clientKeys'>, client: Client): ReturnType<typeof sealFor> {
  try {
    return await sealFor(deps, client, 'authorization');
  } catch (error) {
    throw error instanceof OAuthError
      ? error.explain({
          check: 'response_mode',
          client_id: client.client_id,
          expected: `a key for ${client.authorization_encrypted_response_alg} in jwks, or at jwks_uri`,
          received: 'none that can be had now',
        })
      : error;
  }
}
