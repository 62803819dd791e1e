/**
 * Grants: the token endpoint. Here stand the phases that every grant shares, in order, so that no grant can forget one;
 * each grant's own file holds only its difference.
 */
import { z } from 'zod';
import { authenticate, type Needs as AuthenticateNeeds } from '../clients/authenticate.ts';
import type { PresentedCredentials } from '../clients/auth-methods/method.ts';
import { logIssued, type Requester } from '../events/index.ts';
import type { GrantType } from '../protocol/client-metadata.ts';
import { OAuthError, unauthorizedClient } from '../protocol/error.ts';
import { parseParameters, type Parameters } from '../protocol/parameters.ts';
import { listOf } from '../protocol/redaction.ts';
import { sealFor } from '../tokens/encryption.ts';
import type { TokenResponse } from '../tokens/issue.ts';
import { rulesOf } from '../tokens/terms.ts';
import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import { deviceCode } from './device-code.ts';
import { give } from './give.ts';
import type { Grant, GrantDeps } from './grant.ts';
import { refreshToken } from './refresh-token.ts';

export const grants = {
  authorization_code: authorizationCode,
  client_credentials: clientCredentials,
  refresh_token: refreshToken,
  'urn:ietf:params:oauth:grant-type:device_code': deviceCode,
} as const satisfies Record<GrantType, Grant<unknown>>;

/** A token request, as the door parsed it. */
export interface TokenRequest {
  parameters: Parameters;
  credentials: PresentedCredentials;
  by: Requester;
  now: Date;
}

const shared = z.object({ grant_type: z.string().max(200) });

/** Exchanges a grant for tokens. @throws OAuthError */
export async function exchange(
  deps: GrantDeps & AuthenticateNeeds,
  { parameters, credentials, by, now }: TokenRequest,
): Promise<TokenResponse> {
  const { grant_type } = parseParameters(shared, parameters);
  const client = await authenticate(deps, credentials, by, now);
  if (!isGrantType(grant_type)) {
    const detail = { check: 'grant_type', expected: listOf(Object.keys(grants)), received: grant_type } as const;
    throw new OAuthError('unsupported_grant_type', 'grant_type is not supported', detail);
  }
  if (!client.grant_types.includes(grant_type)) {
    throw unauthorizedClient('the client is not registered for this grant_type', {
      check: 'grant_type',
      expected: listOf(client.grant_types),
      received: grant_type,
    });
  }
  const grant: Grant<unknown> = grants[grant_type];
  const parsed = parseParameters(grant.parameters, parameters);
  // Before anything is spent: a client whose key cannot be had now comes again with the same code.
  const seal = grant_type === 'client_credentials' ? undefined : await sealFor(deps, client, 'id_token');
  const context = { deps, client, known: await rulesOf(deps), by, now };
  const presented = await grant.read(context, parsed);
  const { response, jti, authorization } = await give(context, presented, { seal });
  const { sub, person } = authorization;
  logIssued(deps, by, { grant_type, client_id: client.client_id, sub, jti, gid: person?.grant_id });
  return response;
}

const isGrantType = (text: string): text is GrantType => Object.hasOwn(grants, text);
