/** Access tokens: RFC 9068 JWTs, which write nothing, or opaque handles, which are a row. */
import type { Deps } from '../deps.ts';
import { earlier, numericDate, secondsAfter } from '../protocol/numeric-date.ts';
import { scopeAt } from '../protocol/resource.ts';
import { formatScope } from '../protocol/scope.ts';
import type { OpaqueToken } from '../store/access-tokens.ts';
import { bucketOfId, drawHandle, drawId } from '../protocol/handle.ts';
import type { Authorization } from './authorization.ts';
import { subjectFor } from './subject.ts';
import { perRules, type Rules } from './rules.ts';
import { termsOf } from './terms.ts';

export interface AccessToken {
  access_token: string;
  jti: string;
  expires_at: Date;
  /** The row of an opaque token, for the caller to write; null for a JWT. */
  row: OpaqueToken | null;
}

type Needs = Pick<Deps, 'config' | 'keys' | 'random' | 'tokenSizes'>;

/** Makes the access token of an authorization. It never outlives its grant. */
export async function makeAccessToken(
  deps: Needs,
  authorization: Authorization,
  rules: Rules,
  now: Date,
): Promise<AccessToken> {
  const { client, sub, resource, authorization_details = [], cnf, person } = authorization;
  // RFC 9068 §2.2.3. It is narrowed here, so that no grant can forget it.
  const scope = scopeAt(authorization.scope, resource, rules);
  const { format, ttl, typ, alg } = termsOf(deps, client, resource, rules);
  const issued_at = issuedAt(now, { scope, resource }, rules);
  const full_life = secondsAfter(now, ttl);
  const expires_at = person ? earlier(full_life, person.grant_expires_at) : full_life;
  const jti = drawId(deps.random, expires_at);
  const aud = resource.length > 0 ? resource : [deps.config.ISSUER];

  if (format === 'opaque') {
    const { handle, ...key } = drawHandle(deps.random, expires_at);
    const row = {
      ...key,
      jti,
      client_id: client.client_id,
      sub,
      scope,
      aud,
      grant_bucket: person ? (bucketOfId(person.grant_id) ?? null) : null,
      grant_id: person?.grant_id ?? null,
      sid: person?.sid ?? null,
      auth_time: person?.auth_time ?? null,
      acr: person?.acr ?? null,
      amr: person?.amr ?? null,
      cnf,
      authorization_details: authorization_details.length > 0 ? authorization_details : null,
      created_at: issued_at,
      expires_at,
    };
    return { access_token: handle, jti, expires_at, row };
  }

  const claims = {
    ...person?.access_token_claims,
    iss: deps.config.ISSUER,
    sub: person ? subjectFor(deps, person.sector, sub) : sub,
    // One string unless several were asked for: many verifiers trip over an array.
    aud: aud.length === 1 ? aud[0]! : aud,
    client_id: client.client_id,
    // RFC 6749 §3.3: a scope has at least one token.
    ...(scope.length > 0 && { scope: formatScope(scope) }),
    jti,
    iat: numericDate(issued_at),
    exp: numericDate(expires_at),
    ...(person && {
      gid: person.grant_id,
      auth_time: numericDate(person.auth_time),
      acr: person.acr,
      amr: person.amr,
    }),
    ...(cnf && { cnf }),
    // RFC 9396 §9.1.
    ...(authorization_details.length > 0 && { authorization_details }),
  };
  const header = { typ, alg: alg ?? deps.config.ACCESS_TOKEN_SIGNING_ALG };
  // RFC 9068 §4: every verifier supports RS256, so it signs until a newly configured algorithm's key is published everywhere.
  const access_token = await deps.keys.sign(claims, header, now, alg === null ? { meanwhile: 'RS256' } : {});
  deps.tokenSizes.check(client.client_id, 'access_token', access_token);
  return { access_token, jti, expires_at, row: null };
}

/**
 * `iat` of a token. A scope or resource that was deleted and made again voids older tokens by their `iat`, which has whole
 * seconds: so tokens of the second in which that happened are dated to its end.
 */
function issuedAt(now: Date, { scope, resource }: Pick<Authorization, 'scope' | 'resource'>, rules: Rules): Date {
  if (recreatedAt(rules).every((since) => since <= now)) return now;
  const named = [...scope.map((name) => rules.scopes.get(name)), ...resource.map((uri) => rules.resources.get(uri))];
  return named.reduce((latest, name) => (name?.since && name.since > latest ? name.since : latest), now);
}

/** When scopes and resources were made again under a name that was deleted. */
const recreatedAt = perRules(({ scopes, resources }): readonly Date[] =>
  [...scopes.values(), ...resources.values()].flatMap(({ since }) => since ?? []),
);
