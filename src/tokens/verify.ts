/** Whether a presented access token counts, and for which scope: by its grant or session, its client, and the rules. */
import type { Deps } from '../deps.ts';
import { actsForItself } from '../protocol/client.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { narrowScope } from '../protocol/resource.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../protocol/handle.ts';
import { BUILT_IN_CLIENT, loginScope } from './login-token.ts';
import { requireHolder, type Presentation } from './holder.ts';
import { membershipsAt, membershipRules, opensMemberships } from './memberships.ts';
import { isOfPerson, tokenOf, readAccessTokenJwt, type PresentedToken } from './presented-token.ts';
import { openTo, rulesOf, type Rules } from './rules.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;
type NeedsOfHolders = Needs & Parameters<typeof requireHolder>[0];

/**
 * Reads the token of whoever wants to be let in by it: whoever presents it has to hold what it is bound to. Undefined as in
 * `verifyAccessToken`. @throws OAuthError invalid_token, invalid_dpop_proof, use_dpop_nonce
 */
export async function verifyPresented(
  deps: NeedsOfHolders,
  presentation: Presentation,
  now: Date,
): Promise<PresentedToken | undefined> {
  const token = await verifyAccessToken(deps, presentation.access_token, now);
  if (token) await requireHolder(deps, token, presentation, now);
  return token;
}

/**
 * Reads a token and judges it, for those who are told of it and are not let in by it. Undefined when it is not ours, expired, revoked, or of a grant, session or client that has
 * ended. The memberships that an opaque one tells its resource are read on demand.
 */
export async function verifyAccessToken(
  deps: Needs,
  token: string,
  now: Date,
  { memberships = false } = {},
): Promise<PresentedToken | undefined> {
  const presented = token.includes('.')
    ? await verifyJwt(deps, token, now)
    : await verifyOpaque(deps, token, now, memberships);
  return presented && limitToClient(deps, presented);
}

/** `verifyPresented` for userinfo: the person of a JWT's grant is read with it in one statement, that of another token is not. */
export async function verifyWithPerson(
  deps: NeedsOfHolders,
  presentation: Presentation,
  now: Date,
): Promise<{ presented: PresentedToken; person?: grants.GrantedPerson } | undefined> {
  const { access_token } = presentation;
  const claims = access_token.includes('.') ? await readAccessTokenJwt(deps, access_token, now) : undefined;
  if (claims?.gid === undefined) {
    const presented = await verifyPresented(deps, presentation, now);
    return presented && { presented };
  }
  const memberships = opensMemberships(claims.scope, await rulesOf(deps));
  const found = await grants.findLiveWithPerson(deps.db, claims.gid, { memberships }, now);
  const granted = found && resolveByGrant(deps, claims, found);
  const presented = granted && (await limitToClient(deps, granted));
  if (presented) await requireHolder(deps, presented, presentation, now);
  return presented && { presented, person: found.person };
}

async function verifyJwt(deps: Needs, token: string, now: Date): Promise<PresentedToken | undefined> {
  const claims = await readAccessTokenJwt(deps, token, now);
  if (claims === undefined) return undefined;
  // One read either way: a person's token lives and dies with its grant, a machine's by its own jti.
  if (claims.gid === undefined) return (await accessTokens.isRevoked(deps.db, claims.jti)) ? undefined : claims;
  const grant = await grants.findLive(deps.db, claims.gid, now);
  return grant && resolveByGrant(deps, claims, grant);
}

async function verifyOpaque(
  deps: Needs,
  token: string,
  now: Date,
  memberships: boolean,
): Promise<PresentedToken | undefined> {
  const key = readHandle(token);
  const member_resources = memberships ? membershipRules(await rulesOf(deps)).resource : [];
  const row = key && (await accessTokens.findLive(deps.db, key, now, member_resources));
  if (!row) return undefined;
  const presented = tokenOf(row);
  if (row.member) Object.assign(presented, membershipsAt(row.aud, row.member, await deps.directory.resources()));
  return row.granted ? limitToGrant(deps, presented, row.granted) : presented;
}

/**
 * Limits a token to the scope that is open to its client now; undefined when the client was deleted or disabled, or its
 * tokens were called back.
 */
async function limitToClient(deps: Needs, token: PresentedToken): Promise<PresentedToken | undefined> {
  const rules = await rulesOf(deps);
  const { issuer, scopes, resources, types } = rules;
  let open: readonly string[];
  let open_types: readonly string[] = [];
  if (token.client_id === BUILT_IN_CLIENT) open = loginScope(scopes);
  else {
    const client = await deps.directory.client(token.client_id);
    if (!client || isCalledBack(client, token)) return undefined;
    open = scopeOf(token, client, rules);
    open_types = client.authorization_details_types ?? [];
  }
  const limited = withoutGone(token, {
    scope: (name) => !open.includes(name) || isOlder(token, scopes.get(name)),
    aud: (uri) => uri !== issuer && (!resources.has(uri) || isOlder(token, resources.get(uri))),
  });
  if (!limited?.authorization_details) return limited;
  // RFC 9396 §9.2: of types that there still are, that are no others of their name, and that the client may still ask for.
  const left = limited.authorization_details.filter(({ type }) => {
    const known = types.get(type);
    return known !== undefined && open_types.includes(type) && limited.iat >= numericDate(known.created_at);
  });
  return { ...limited, authorization_details: left.length > 0 ? left : undefined };
}

/** The scope that a token still has: what is open to its client now, and known to its resources. */
export function scopeOf(
  token: Pick<PresentedToken, 'client_id' | 'sub' | 'gid' | 'scope' | 'aud'>,
  client: Client,
  rules: Rules,
): string[] {
  const ofPerson = isOfPerson(token);
  if (!ofPerson && !actsForItself(client)) return [];
  const open = openTo(client, rules, ofPerson ? 'person' : 'machine');
  return narrowScope(token.scope, token.aud, rules).filter((name) => open.includes(name));
}

/** Was it issued for another scope or resource of this name, which was deleted? */
const isOlder = ({ iat }: PresentedToken, named: { since?: Date | null } | undefined): boolean => {
  const since = named?.since ?? null;
  return since !== null && iat < numericDate(since);
};

/** Was it issued before its client was disabled or lost a credential, which calls all its tokens back or its own? */
export const isCalledBack = (
  { tokens_since, machine_tokens_since }: Pick<Client, 'tokens_since' | 'machine_tokens_since'>,
  token: Pick<PresentedToken, 'client_id' | 'sub' | 'gid' | 'iat'>,
): boolean =>
  token.iat < numericDate(tokens_since) || (!isOfPerson(token) && token.iat < numericDate(machine_tokens_since));

/** The token without the scopes and resources that are gone; undefined when that leaves it no audience, or no scope. */
function withoutGone(
  token: PresentedToken,
  isGone: { scope: (name: string) => boolean; aud: (uri: string) => boolean },
): PresentedToken | undefined {
  if (!token.scope.some(isGone.scope) && !token.aud.some(isGone.aud)) return token.aud.length === 0 ? undefined : token;
  const scope = token.scope.filter((name) => !isGone.scope(name));
  const aud = token.aud.filter((uri) => !isGone.aud(uri));
  return aud.length === 0 || (scope.length === 0 && token.scope.length > 0) ? undefined : { ...token, scope, aud };
}

/** Limits a token to what its grant still has. */
const limitToGrant = (
  { config }: Needs,
  token: PresentedToken,
  granted: { scope: readonly string[]; resource: readonly string[] },
): PresentedToken | undefined =>
  withoutGone(token, {
    scope: (name) => !granted.scope.includes(name),
    aud: (uri) => uri !== config.ISSUER && !granted.resource.includes(uri),
  });

/** Takes the real `sub` from the grant: the token has the one of its client's sector, which may be pairwise. */
const resolveByGrant = (deps: Needs, claims: PresentedToken, grant: grants.LiveGrant): PresentedToken | undefined =>
  limitToGrant(
    deps,
    { ...claims, sub: grant.sub, requested_claims: grant.requested_claims, sector: grant.sector },
    grant,
  );
