/** What userinfo answers (OpenID Connect Core §5.3): the claims a live access token opens. */
import type { Deps } from '../deps.ts';
import { MEMBERSHIP_CLAIMS, type Claims } from '../protocol/claims.ts';
import { insufficientScope, invalidToken, type OAuthError } from '../protocol/error.ts';
import { listOf } from '../protocol/redaction.ts';
import { OPENID, scopeOpenTo } from '../protocol/scope.ts';
import { sectorOf } from '../protocol/sector.ts';
import { membershipsFor } from '../tokens/memberships.ts';
import { subjectFor } from '../tokens/subject.ts';
import { userinfoFor } from '../tokens/userinfo-token.ts';
import { BUILT_IN_CLIENT, describePresented, verifyWithPerson, type PresentedToken } from '../tokens/verify.ts';
import { claimsFor, claimsOpenedBy, requestedClaims } from './claims.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts' | 'clientKeys'>;

/** The claims, or the JWT that holds them. @throws OAuthError invalid_token, insufficient_scope, temporarily_unavailable */
export async function userinfo(deps: Needs, access_token: string, now: Date): Promise<Claims | string> {
  const isToldMemberships = async (scope: readonly string[]): Promise<boolean> => {
    const told = claimsOpenedBy(scope, await deps.directory.scopes());
    return MEMBERSHIP_CLAIMS.some((claim) => told.has(claim));
  };
  const verified = await verifyWithPerson(deps, access_token, isToldMemberships, now);
  if (!verified) throw refused(access_token, now);
  const { presented: token, person: user } = verified;
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
  if (!user || user.disabled_at !== null) {
    const received = `the token of ${user ? 'a disabled account' : 'no account of a person'}`;
    throw invalidToken('the access token is not valid', { check: 'access_token', received, ...whose(token) });
  }
  const [known, resources] = [await deps.directory.scopes(), await deps.directory.resources()];
  const person = { ...user, ...membershipsFor(token, user, resources) };
  const requests = token.requested_claims?.userinfo;
  const client = await deps.directory.client(token.client_id);
  const tellable = claimsOpenedBy(client ? scopeOpenTo(client, known, 'person') : [], known);
  const claims = { ...claimsFor(person, token.scope, known), ...requestedClaims(person, requests, tellable) };
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

const whose = ({ client_id, sub }: PresentedToken): Pick<PresentedToken, 'client_id' | 'sub'> => ({ client_id, sub });

const refused = (access_token: string, now: Date): OAuthError =>
  invalidToken('the access token is not valid', {
    check: 'access_token',
    expected: 'an access token of this server that has not expired or ended',
    received: describePresented(access_token, now),
  });
