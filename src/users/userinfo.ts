/** What userinfo answers (OpenID Connect Core §5.3): the claims a live access token opens. */
import type { Deps } from '../deps.ts';
import { MEMBERSHIP_CLAIMS, type Claims } from '../protocol/claims.ts';
import { insufficientScope, invalidToken, type OAuthError } from '../protocol/error.ts';
import { listOf } from '../protocol/redaction.ts';
import { OPENID } from '../protocol/scope.ts';
import { sectorOf } from '../protocol/sector.ts';
import * as users from '../store/users.ts';
import { BUILT_IN_CLIENT } from '../tokens/login-token.ts';
import { membershipsFor, opensMemberships } from '../tokens/memberships.ts';
import type { Presentation } from '../tokens/holder.ts';
import type { PresentedToken } from '../tokens/presented-token.ts';
import { openTo, rulesOf, type Rules } from '../tokens/rules.ts';
import { subjectFor } from '../tokens/subject.ts';
import { userinfoFor } from '../tokens/userinfo-token.ts';
import { describePresented } from '../tokens/unverified.ts';
import { verifyWithPerson } from '../tokens/verify.ts';
import { claimsFor, requestedClaims } from './claims.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts' | 'clientKeys' | 'proofKeys' | 'secrets'>;

/**
 * The claims, or the JWT that holds them.
 * @throws OAuthError invalid_token, insufficient_scope, temporarily_unavailable, invalid_dpop_proof, use_dpop_nonce
 */
export async function userinfo(deps: Needs, presentation: Presentation, now: Date): Promise<Claims | string> {
  const verified = await verifyWithPerson(deps, presentation, now);
  if (!verified) throw refused(presentation.access_token, now);
  const { presented: token } = verified;
  // A token for another resource is that resource's, not ours.
  if (!token.aud.includes(deps.config.ISSUER)) {
    const { ISSUER } = deps.config;
    throw invalidToken(`the access token is for another audience: ask for one with resource=${ISSUER}, or without`, {
      check: 'access_token_audience',
      expected: ISSUER,
      received: listOf(token.aud),
      ...whose(token),
    });
  }
  if (!token.scope.includes(OPENID)) {
    const detail = { check: 'access_token_scope', expected: OPENID, received: listOf(token.scope) } as const;
    throw insufficientScope('the access token lacks openid', { scope: OPENID, ...detail, ...whose(token) });
  }
  const rules = await rulesOf(deps);
  const user = verified.person ?? (await personOf(deps, token, rules));
  if (!user || user.disabled_at !== null) {
    const received = `the token of ${user ? 'a disabled account' : 'no account of a person'}`;
    throw invalidToken('the access token is not valid', { check: 'access_token', received, ...whose(token) });
  }
  const person = { ...user, ...membershipsFor(token, user, rules.resources) };
  const requests = token.requested_claims?.userinfo;
  const client = await deps.directory.client(token.client_id);
  const open = client ? openTo(client, rules, 'person') : [];
  const claims = {
    ...claimsFor(person, token.scope, rules.scopes),
    ...requestedClaims(person, requests, open, rules.scopes),
  };
  // The token of POST /login is our own, and no client's.
  if (token.client_id === BUILT_IN_CLIENT) return { ...claims, sub: user.sub };
  // Deleted this very moment: nobody else is told the real subject.
  if (!client) throw invalidToken('the access token is not valid');
  return userinfoFor(
    deps,
    client,
    { ...claims, sub: subjectFor(deps, token.sector ?? sectorOf(client), user.sub) },
    now,
  );
}

/** The person that a token stands for, where none came with its grant; memberships are read where it opens them. */
async function personOf({ db }: Needs, { sub, scope, requested_claims }: PresentedToken, rules: Rules) {
  const requested = requested_claims?.userinfo;
  if (opensMemberships(scope, rules) || MEMBERSHIP_CLAIMS.some((claim) => requested?.[claim])) {
    return users.findWithMemberships(db, sub);
  }
  const user = await users.find(db, sub);
  return user && { ...user, memberships: null };
}

const whose = ({ client_id, sub }: PresentedToken): Pick<PresentedToken, 'client_id' | 'sub'> => ({ client_id, sub });

const refused = (access_token: string, now: Date): OAuthError =>
  invalidToken('the access token is not valid', {
    check: 'access_token',
    expected: 'an access token of this server that has not expired or ended',
    received: describePresented(access_token, now),
  });
