/**
 * Spends a code, refresh token or device code and issues the tokens for it. What is spent cannot be had back, so nothing may
 * fail afterwards: tokens whose making can fail are made before, the others need nothing but memory (docs/decisions/0002).
 */
import { temporarilyUnavailable } from '../protocol/error.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Spending } from '../store/spending.ts';
import type { Authorization } from '../tokens/authorization.ts';
import {
  canIssueAfterSpending,
  issue,
  opaqueResources,
  claimsRoomFor,
  type Issued,
  type Sealing,
} from '../tokens/issue.ts';
import type { GrantContext, Presented } from './grant.ts';

export interface IssuedTokens extends Issued {
  authorization: Authorization;
}

/** Others may change what was previewed before it is spent; after so many tries the client is asked to come again. */
const ATTEMPTS = 3;
/** Seconds. */
const RETRY_AFTER = 1;

/** Redeems what was presented. @throws OAuthError when nothing can be given; then nothing was spent, but for what the refusal itself revokes */
export async function spendAndIssue(
  context: GrantContext,
  presented: Presented,
  sealing: Sealing,
): Promise<IssuedTokens> {
  const { deps, client, rules, now } = context;
  const make = async (authorization: Authorization): Promise<IssuedTokens> => {
    const issued = await issue(deps, authorization, { rules, ...sealing }, now);
    return { ...issued, authorization };
  };

  let previewsFirst = true;
  const narrows = presented.authorization_details.length > 0;
  if (!narrows && canIssueAfterSpending(deps, client, { rules, resource: presented.resource, ...sealing }, now)) {
    const opaque = presented.resource.length > 0 ? [] : opaqueResources(rules);
    const spent = await presented.spend({ room: claimsRoomFor(deps.config, client), opaque, made: null });
    if (spent) return make(spent);
    previewsFirst = opaque.length > 0;
  }

  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const previewed = previewsFirst || attempt > 0 ? await presented.preview() : undefined;
    if (previewed) {
      const issued = await make(previewed);
      if (await presented.spend(termsOf(issued))) return issued;
    }
    const repeated = await presented.repeat?.();
    if (repeated) {
      const issued = await make(repeated);
      if (issued.row) await accessTokens.insert(deps.db, issued.row);
      return issued;
    }
    const refusal = await presented.refusal();
    if (refusal) throw refusal;
  }
  const description = 'what was presented is being changed at this moment';
  throw temporarilyUnavailable(description, { retry_after: RETRY_AFTER });
}

/** What the tokens were made from: the store spends for exactly that, or not at all. */
const termsOf = ({ authorization: { person, scope, resource }, row }: IssuedTokens): Spending => {
  const { granted } = person ?? { granted: { scope, resource, authorization_details: [] } };
  return { room: null, opaque: [], made: { ...granted, access_token: row } };
};
