/**
 * The token endpoint (RFC 6749 §3.2): the phases that every grant shares, in their order, so that no grant can forget one.
 * Each grant's own file holds only what differs.
 */
import { z } from 'zod';
import { authenticate, type Needs as AuthenticateNeeds } from '../clients/authenticate.ts';
import type { PresentedCredentials } from '../clients/auth-methods/method.ts';
import { logIssued, type Requester } from '../events/index.ts';
import { isPublic, type GrantType, type OwnerOf } from '../protocol/client.ts';
import { OAuthError, unauthorizedClient } from '../protocol/error.ts';
import { parseParameters } from '../protocol/parameters.ts';
import { listOf } from '../protocol/redaction.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import type { Authorization } from '../tokens/authorization.ts';
import type { ProvenRequest } from '../tokens/dpop.ts';
import { sealFor } from '../tokens/encryption.ts';
import { bindingOf } from '../tokens/holder.ts';
import { issue, type TokenResponse } from '../tokens/issue.ts';
import { rulesOf } from '../tokens/rules.ts';
import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import { deviceCode } from './device-code.ts';
import { spendAndIssue, type IssuedTokens } from './spend.ts';
import type { Grant, GrantContext, GrantDeps } from './grant.ts';
import { refreshToken } from './refresh-token.ts';

export const grants = {
  authorization_code: authorizationCode,
  client_credentials: clientCredentials,
  refresh_token: refreshToken,
  'urn:ietf:params:oauth:grant-type:device_code': deviceCode,
} as const satisfies { [Name in GrantType]: Extract<Grant<unknown>, { owner: OwnerOf<Name> }> };

/** A token request, as the door parsed it. */
export interface TokenRequest extends PresentedCredentials, ProvenRequest {
  by: Requester;
  now: Date;
}

const shared = z.object({ grant_type: z.string().max(200) });

/** Exchanges a grant for tokens. @throws OAuthError */
export async function exchange(deps: GrantDeps & AuthenticateNeeds, request: TokenRequest): Promise<TokenResponse> {
  const { parameters, by, now } = request;
  const { grant_type } = parseParameters(shared, parameters);
  const client = await authenticate(deps, request, by, now);
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
  const cnf = await bindingOf(deps, client, request, now);
  const context = { deps, client, cnf, rules: await rulesOf(deps), by, now };
  let issued: IssuedTokens;
  if (grant.owner === 'machine') {
    requireConfidential(client, grant_type);
    issued = await issueToMachine(context, await grant.read(context, parsed));
  } else {
    // Before anything is spent: where the client's key cannot be fetched now, it can come again with the same code.
    const seal = await sealFor(deps, client, 'id_token');
    issued = await spendAndIssue(context, await grant.read(context, parsed), { seal });
  }
  const { response, jti } = issued;
  const { sub, person } = issued.authorization;
  logIssued(deps, by, { grant_type, client_id: client.client_id, sub, jti, gid: person?.grant_id });
  return response;
}

/** RFC 6749 §4.4: only clients that can keep a secret get tokens for themselves. @throws OAuthError */
function requireConfidential(client: Client, grant_type: GrantType): void {
  if (!isPublic(client)) return;
  throw unauthorizedClient(`${grant_type} is only for confidential clients`, {
    check: 'confidential_client',
    expected: 'a client with a secret or a key',
    received: 'token_endpoint_auth_method none',
  });
}

/** Issues to a client that acts for itself: nothing is spent, so an opaque token is simply written. */
async function issueToMachine({ deps, rules, now }: GrantContext, authorization: Authorization): Promise<IssuedTokens> {
  const issued = await issue(deps, authorization, { rules, seal: undefined }, now);
  if (issued.row) await accessTokens.insert(deps.db, issued.row);
  return { ...issued, authorization };
}

const isGrantType = (text: string): text is GrantType => Object.hasOwn(grants, text);
