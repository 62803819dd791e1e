/** The token of POST /login (docs/specification.md §4): opaque, for ourselves, alive as long as the session it stands on. */
import type { Deps } from '../deps.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { formatScope, scopeOpenTo } from '../protocol/scope.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Trx } from '../store/postgres/db.ts';
import { drawHandle, drawId } from '../protocol/handle.ts';
import type { TokenResponse } from './issue.ts';
import type { Rules } from './rules.ts';

/** The client that POST /login issues to: in no registry, known to no grant. */
export const BUILT_IN_CLIENT = 'postern';

const LOGIN_SCOPE_HOLDER = { scope: ['openid', 'profile', 'email'], may_administer: false };

/** The scope of its tokens, by the registered scopes. */
export const loginScope = (scopes: Rules['scopes']): string[] => scopeOpenTo(LOGIN_SCOPE_HOLDER, scopes, 'person');

type Needs = Pick<Deps, 'config' | 'directory' | 'random'>;

/** A token that is made but not written yet. */
export interface LoginToken {
  response: TokenResponse;
  jti: string;
  /** Writes it in the transaction that starts the session, so that neither exists without the other. */
  write(trx: Trx, sid: string): Promise<void>;
}

/** Makes the token for a session of its own. */
export async function makeLoginToken(
  { config, directory, random }: Needs,
  person: { sub: string; amr: string[]; acr: string },
  now: Date,
): Promise<LoginToken> {
  const scope = loginScope(await directory.scopes());
  const expires_at = secondsAfter(now, config.ACCESS_TOKEN_TTL);
  const { handle, ...key } = drawHandle(random, expires_at);
  const jti = drawId(random, expires_at);
  const { sub, amr, acr } = person;
  const row = {
    ...key,
    sub,
    amr,
    acr,
    jti,
    client_id: BUILT_IN_CLIENT,
    scope,
    aud: [config.ISSUER],
    authorization_details: null,
    cnf: null,
    grant_bucket: null,
    grant_id: null,
    auth_time: now,
    created_at: now,
    expires_at,
  };
  const response: TokenResponse = {
    access_token: handle,
    token_type: 'Bearer',
    expires_in: config.ACCESS_TOKEN_TTL,
    scope: formatScope(scope),
  };
  return { response, jti, write: (trx, sid) => accessTokens.insert(trx, { ...row, sid }) };
}
