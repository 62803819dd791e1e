/** Introspection (RFC 7662): what a token means, told only to whom it concerns. */
import type { Deps } from '../deps.ts';
import { isPublic } from '../protocol/client.ts';
import { tokenTypeOf } from '../protocol/confirmation.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { formatScope, scopeOpenTo } from '../protocol/scope.ts';
import { sectorOf, sectorOfGrant } from '../protocol/sector.ts';
import type { Client } from '../store/clients.ts';
import type { Grant } from '../store/grants.ts';
import { readHandle } from '../protocol/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import { BUILT_IN_CLIENT } from './login-token.ts';
import type { PresentedToken } from './presented-token.ts';
import { subjectFor } from './subject.ts';
import { verifyAccessToken } from './verify.ts';

/** RFC 7662 §2.2. Of an inactive token nothing else is said. */
export type Introspection = { active: false } | ({ active: true } & Record<string, unknown>);

const INACTIVE: Introspection = { active: false };

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;

/** What `token` means to `client`. The kind is found by looking, so that a hint is never needed (§2.1). */
export async function introspect(deps: Needs, client: Client, token: string, now: Date): Promise<Introspection> {
  const access = await verifyAccessToken(deps, token, now, { memberships: true });
  if (access) return (await mayIntrospect(deps, client, access)) ? await describeAccessToken(deps, access) : INACTIVE;

  const handle = readHandle(token);
  const refresh = handle && (await refreshTokens.findLive(deps.db, handle, now));
  // A refresh token concerns nobody but the client that holds it.
  if (!refresh || refresh.client_id !== client.client_id) return INACTIVE;
  const scope = refreshable(refresh, client, await deps.directory.scopes());
  // It would be refused.
  if (scope.length === 0) return INACTIVE;
  return {
    active: true,
    iss: deps.config.ISSUER,
    sub: subjectFor(deps, sectorOfGrant(refresh, client), refresh.sub),
    client_id: refresh.client_id,
    scope: formatScope(scope),
    iat: numericDate(refresh.iat),
    exp: numericDate(refresh.exp),
    gid: refresh.grant_id,
  };
}

/** The scope for which a refresh token of a grant would be accepted now: empty where it would be refused. */
export function refreshable(
  { scope, confidential }: Pick<Grant, 'scope' | 'confidential'>,
  client: Client,
  scopes: Parameters<typeof scopeOpenTo>[1],
): string[] {
  const mayRefresh = client.grant_types.includes('refresh_token') && !(confidential === true && isPublic(client));
  const open = mayRefresh ? scopeOpenTo(client, scopes, 'person') : [];
  return scope.filter((name) => open.includes(name));
}

async function mayIntrospect({ directory }: Needs, client: Client, token: PresentedToken): Promise<boolean> {
  if (client.may_introspect || token.client_id === client.client_id) return true;
  const resources = await directory.resources();
  return token.aud.some((uri) => resources.get(uri)?.client_id === client.client_id);
}

async function describeAccessToken(deps: Needs, token: PresentedToken): Promise<Introspection> {
  const { format: _format, requested_claims: _claims, sector, scope, aud, sub, ...claims } = token;
  // As the token's own client is told, whoever asks: an API must not learn what its caller may not.
  const client = await deps.directory.client(token.client_id);
  // Deleted this very moment: nobody else is told the real subject.
  if (!client && token.client_id !== BUILT_IN_CLIENT) return INACTIVE;
  return {
    active: true,
    iss: deps.config.ISSUER,
    // A machine is its own client's id everywhere.
    sub: client && token.gid !== undefined ? subjectFor(deps, sector ?? sectorOf(client), sub) : sub,
    ...claims,
    ...(scope.length > 0 && { scope: formatScope(scope) }),
    aud: aud.length === 1 ? aud[0] : aud,
    token_type: tokenTypeOf(token.cnf),
  };
}
