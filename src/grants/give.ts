/**
 * Giving tokens for what was presented. What is spent cannot be had back, so nothing may fail after it: tokens that could
 * are made before, and the rest need nothing but memory.
 */
import { invalidScope, temporarilyUnavailable } from '../protocol/error.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Spending } from '../store/granted.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { canBeMadeLater, issue, opaqueOf, roomFor, type Issued, type Sealing } from '../tokens/issue.ts';
import { TokenTooLarge } from '../tokens/size.ts';
import type { GrantContext, Presented } from './grant.ts';

export interface Given extends Issued {
  authorization: Authorization;
}

/** So often others may change what was looked at before it is spent. */
const ATTEMPTS = 3;
/** Seconds. */
const RETRY_AFTER = 1;

/** @throws OAuthError when nothing can be given; then nothing was spent, but for what the refusal itself revokes */
export async function give(context: GrantContext, presented: Presented, sealing: Sealing): Promise<Given> {
  const { deps, client, known, now } = context;
  const make = async (authorization: Authorization): Promise<Given> => {
    const issued = await issue(deps, authorization, { known, ...sealing }, now).catch(asRefusal);
    return { ...issued, authorization };
  };

  let looksFirst = true;
  if (canBeMadeLater(deps, client, { known, resource: presented.resource, ...sealing }, now)) {
    const opaque = presented.resource.length > 0 ? [] : opaqueOf(known);
    const spent = await presented.spend({ room: roomFor(deps.config, client), opaque, made: null });
    if (spent) return make(spent);
    looksFirst = opaque.length > 0;
  }

  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const wanted = looksFirst || attempt > 0 ? await presented.look() : undefined;
    if (wanted) {
      const given = await make(wanted);
      if (await presented.spend(termsOf(given))) return given;
    }
    const again = await presented.again?.();
    if (again) {
      const given = await make(again);
      if (given.row) await accessTokens.insert(deps.db, given.row);
      return given;
    }
    const refusal = await presented.refusal();
    if (refusal) throw refusal;
  }
  const description = 'what was presented is being changed at this moment';
  throw temporarilyUnavailable(description, { retry_after: RETRY_AFTER });
}

/** It is spent for what was looked at, or not at all. */
const termsOf = ({ authorization: { person, scope, resource }, row }: Given): Spending => {
  const { granted } = person ?? { granted: { scope, resource } };
  return { room: null, opaque: [], made: { ...granted, access_token: row } };
};

/** The same code or refresh token works once the person is in fewer groups. */
function asRefusal(error: unknown): never {
  if (!(error instanceof TokenTooLarge)) throw error;
  throw invalidScope('the tokens would be larger than this server gives: ask for less scope', {
    check: 'token_size',
    expected: `at most ${error.most} bytes (TOKEN_SIZE_MAX)`,
    received: `${error.bytes} bytes`,
    cause: error,
  });
}
