/** What a presented access token means: who it stands for, and whether it is still worth anything. */
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { PublishedKey } from '../keys/index.ts';
import { MEMBERSHIP_CLAIMS } from '../protocol/claims.ts';
import type { ClaimsRequest } from '../protocol/claims-request.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { kindOf } from '../protocol/redaction.ts';
import { narrowScope } from '../protocol/resource.ts';
import { parseScope, scopeOpenTo } from '../protocol/scope.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import { isAccessToken } from '../protocol/token-type.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../store/handle.ts';
import * as users from '../store/users.ts';
import { membershipsAt, membershipsWanted } from './memberships.ts';
import { rulesOf, type Known } from './terms.ts';

/** The client that POST /login issues to: in no registry, known to no grant. */
export const BUILT_IN_CLIENT = 'postern';
/** What its tokens are for. */
export const LOGIN_SCOPE: readonly string[] = ['openid', 'profile', 'email'];

/** A live access token. Times are NumericDates. `sub` is the real one, whatever the client is told. */
export interface PresentedToken {
  format: 'jwt' | 'opaque';
  sub: string;
  client_id: string;
  scope: string[];
  aud: string[];
  jti: string;
  iat: number;
  exp: number;
  gid?: string | undefined;
  auth_time?: number | undefined;
  acr?: string | undefined;
  amr?: string[] | undefined;
  /** Claims that its grant was asked for by name: for userinfo, and nobody else's affair. */
  requested_claims?: ClaimsRequest | null | undefined;
  /** In which its client is told who somebody is, as its grant noted it. */
  sector?: string | null | undefined;
  /** RFC 9068 §2.2.3.1: of a JWT as it says, of an opaque token as of now. */
  groups?: string[] | undefined;
  roles?: string[] | undefined;
}

const jwtClaims = z.object({
  sub: z.string(),
  client_id: z.string(),
  scope: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]),
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  gid: z.string().optional(),
  auth_time: z.number().optional(),
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
  roles: z.array(z.string()).optional(),
});

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'verdicts'>;

/**
 * Reads a token. Undefined when it is not ours, expired, revoked, or of a grant, session or client that has ended. The
 * memberships that an opaque one tells its resource are read on demand.
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
  return presented && asItsClientHasIt(deps, presented);
}

/**
 * The same for userinfo, with the person that the token stands for, if it does: one read of both wherever there is a grant.
 * `isToldMemberships`: whether a scope opens them.
 */
export async function verifyWithPerson(
  deps: Needs,
  token: string,
  isToldMemberships: (scope: readonly string[]) => Promise<boolean>,
  now: Date,
): Promise<{ presented: PresentedToken; person: grants.GrantedPerson | undefined } | undefined> {
  const claims = token.includes('.') ? await readAccessTokenJwt(deps, token, now) : undefined;
  if (claims?.gid !== undefined) {
    const wanted = { memberships: await isToldMemberships(claims.scope) };
    const found = await grants.findLiveWithPerson(deps.db, claims.gid, wanted, now);
    const granted = found && asItsGrantHasIt(deps, claims, found);
    const presented = granted && (await asItsClientHasIt(deps, granted));
    return presented && { presented, person: found.person };
  }
  const presented = await verifyAccessToken(deps, token, now);
  if (presented === undefined) return undefined;
  const asked = presented.requested_claims?.userinfo;
  const memberships = (await isToldMemberships(presented.scope)) || MEMBERSHIP_CLAIMS.some((claim) => asked?.[claim]);
  const person = memberships
    ? await users.findWithMemberships(deps.db, presented.sub)
    : await users.find(deps.db, presented.sub);
  return { presented, person: person && { memberships: null, ...person } };
}

/**
 * The token with what its client may have of it today; undefined when the client was deleted, disabled, or has called its
 * tokens back.
 */
async function asItsClientHasIt(deps: Needs, token: PresentedToken): Promise<PresentedToken | undefined> {
  const known = await rulesOf(deps);
  const { issuer, scopes, resources } = known;
  let open: readonly string[];
  if (token.client_id === BUILT_IN_CLIENT)
    open = scopeOpenTo({ scope: LOGIN_SCOPE, may_administer: false }, scopes, 'person');
  else {
    const client = await deps.directory.client(token.client_id);
    if (!client || isCalledBack(client, token)) return undefined;
    open = scopeOf(token, client, known);
  }
  return without(token, {
    scope: (name) => !open.includes(name) || isOlder(token, scopes.get(name)),
    aud: (uri) => uri !== issuer && (!resources.has(uri) || isOlder(token, resources.get(uri))),
  });
}

/** What of its scope a token still has: what its client may have today, of what is still known where it goes. */
export function scopeOf(
  token: Pick<PresentedToken, 'client_id' | 'sub' | 'gid' | 'scope' | 'aud'>,
  client: Client,
  known: Known,
): string[] {
  const ofPerson = isOfPerson(token);
  if (!ofPerson && !client.grant_types.includes('client_credentials')) return [];
  const open = scopeOpenTo(client, known.scopes, ofPerson ? 'person' : 'machine');
  return narrowScope(token.scope, token.aud, known).filter((name) => open.includes(name));
}

/** Was it issued for another scope or resource of this name, which was deleted? */
const isOlder = ({ iat }: PresentedToken, named: { since?: Date | null } | undefined): boolean => {
  const since = named?.since ?? null;
  return since !== null && iat < numericDate(since);
};

/** Was it issued before its client's tokens, or those that the client had for itself, were called back? */
export const isCalledBack = (
  { tokens_since, machine_tokens_since }: Pick<Client, 'tokens_since' | 'machine_tokens_since'>,
  token: Pick<PresentedToken, 'client_id' | 'sub' | 'gid' | 'iat'>,
): boolean =>
  token.iat < numericDate(tokens_since) || (!isOfPerson(token) && token.iat < numericDate(machine_tokens_since));

/** Is it a person's? A machine's subject is its client, which no person can be (RFC 9700 §4.15). */
export const isOfPerson = ({ client_id, sub, gid }: Pick<PresentedToken, 'client_id' | 'sub' | 'gid'>): boolean =>
  gid !== undefined || sub !== client_id;

/** The token without the scopes and resources that are gone; undefined when that leaves it nowhere to go, or nothing to do. */
function without(
  token: PresentedToken,
  isGone: { scope: (name: string) => boolean; aud: (uri: string) => boolean },
): PresentedToken | undefined {
  const scope = token.scope.filter((name) => !isGone.scope(name));
  const aud = token.aud.filter((uri) => !isGone.aud(uri));
  return aud.length === 0 || (scope.length === 0 && token.scope.length > 0) ? undefined : { ...token, scope, aud };
}

/** A token has no more than its grant still has. */
const withinGrant = (
  { config }: Needs,
  token: PresentedToken,
  granted: { scope: readonly string[]; resource: readonly string[] },
): PresentedToken | undefined =>
  without(token, {
    scope: (name) => !granted.scope.includes(name),
    aud: (uri) => uri !== config.ISSUER && !granted.resource.includes(uri),
  });

async function verifyJwt(deps: Needs, token: string, now: Date): Promise<PresentedToken | undefined> {
  const claims = await readAccessTokenJwt(deps, token, now);
  if (claims === undefined) return undefined;
  // One read either way: a person's token lives and dies with its grant, a machine's by its own jti.
  if (claims.gid === undefined) return (await accessTokens.isRevoked(deps.db, claims.jti)) ? undefined : claims;
  const grant = await grants.findLive(deps.db, claims.gid, now);
  return grant && asItsGrantHasIt(deps, claims, grant);
}

/** The token names the person as its client is told; the grant knows who that is. */
const asItsGrantHasIt = (deps: Needs, claims: PresentedToken, grant: grants.LiveGrant): PresentedToken | undefined =>
  withinGrant(
    deps,
    { ...claims, sub: grant.sub, requested_claims: grant.requested_claims, sector: grant.sector },
    grant,
  );

/** Checks signature, type, issuer and expiry, nothing that needs the store. `sub` is as the token says it. */
export async function readAccessTokenJwt(
  deps: Pick<Deps, 'config' | 'keys' | 'verdicts'>,
  token: string,
  now: Date,
): Promise<Readonly<PresentedToken> | undefined> {
  const { keys, verdicts } = deps;
  const known = verdicts.find(token);
  if (known) {
    const counts = known.token.exp > numericDate(now) && (await keys.find(known.kid, now))?.public_key === known.key;
    if (counts) return known.token;
    verdicts.forget(token);
  }
  const read = await readSignedJwt(deps, token, now);
  if (read?.expired !== false) return undefined;
  const { kid, public_key: key } = read.signed_with;
  verdicts.keep(token, { kid, key, token: read.claims });
  return read.claims;
}

/**
 * The same for a token that may have expired; `retired` also takes the signature of a key that counts no longer. For
 * saying what a token was, never for letting anybody in.
 */
export async function readSignedJwt(
  { config, keys }: Pick<Deps, 'config' | 'keys'>,
  token: string,
  now: Date,
  { retired = false }: { retired?: boolean } = {},
): Promise<{ claims: PresentedToken; expired: boolean; signed_with: PublishedKey } | undefined> {
  let found: PublishedKey | undefined;
  let typ: string | undefined;
  const read = (payload: unknown, expired: boolean) => {
    const { aud: audience, scope, ...claims } = jwtClaims.parse(payload);
    const aud = [audience].flat();
    // RFC 9068 §4: before anything that it says counts.
    if (!isAccessToken(typ, aud, config.ISSUER)) return undefined;
    const said = { format: 'jwt' as const, ...claims, scope: parseScope(scope), aud };
    return { claims: said, expired, signed_with: found! };
  };
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid = '', alg, typ: said }) => {
        typ = said;
        found = await keys.find(kid, now, { retired });
        // The key decides the algorithm, never the token (RFC 8725 §3.1).
        if (found?.alg !== alg) throw new errors.JWKSNoMatchingKey();
        return found.public_key;
      },
      { issuer: config.ISSUER, algorithms: [...SIGNING_ALGS], currentDate: now },
    );
    return read(payload, false);
  } catch (error) {
    // Its signature and issuer were right: expiry is looked at last.
    if (error instanceof errors.JWTExpired && jwtClaims.safeParse(error.payload).success) {
      return read(error.payload, true);
    }
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

async function verifyOpaque(
  deps: Needs,
  token: string,
  now: Date,
  memberships: boolean,
): Promise<PresentedToken | undefined> {
  const key = readHandle(token);
  const asking = memberships ? membershipsWanted(await rulesOf(deps)).resource : [];
  const row = key && (await accessTokens.findLive(deps.db, key, now, asking));
  if (!row) return undefined;
  const { sub, client_id, scope, aud, jti } = row;
  const presented: PresentedToken = {
    format: 'opaque',
    sub,
    client_id,
    scope,
    aud,
    jti,
    iat: numericDate(row.created_at),
    exp: numericDate(row.expires_at),
    gid: row.grant_id ?? undefined,
    auth_time: row.auth_time ? numericDate(row.auth_time) : undefined,
    acr: row.acr ?? undefined,
    amr: row.amr ?? undefined,
    requested_claims: row.requested_claims,
    sector: row.granted?.sector,
    ...(row.member && membershipsAt(aud, row.member, await deps.directory.resources())),
  };
  return row.granted ? withinGrant(deps, presented, row.granted) : presented;
}

/** The client a token was issued to, dead or forged as it may be: good for choosing CORS headers and nothing else. */
export async function claimedClient({ db }: Pick<Deps, 'db'>, token: string): Promise<string | undefined> {
  const key = readHandle(token);
  if (key) return (await accessTokens.find(db, key))?.client_id;
  try {
    const { client_id } = decodeJwt(token);
    return typeof client_id === 'string' ? client_id : undefined;
  } catch {
    return undefined;
  }
}

const heading = z.object({ typ: z.unknown(), iss: z.unknown(), exp: z.number().optional() });

/** A token that was refused, by what it says of itself, unproven: for operators, and no part of the token. */
export function describePresented(token: string, now: Date): string {
  const kind = kindOf(token);
  try {
    const { typ, iss, exp } = heading.parse({ ...decodeJwt(token), typ: decodeProtectedHeader(token).typ });
    const age =
      exp === undefined ? 'no exp' : `${exp <= numericDate(now) ? 'expired' : 'not expired'} by its exp, ${exp}`;
    return `${kind}; typ ${String(typ)}, iss ${String(iss)}, ${age}`;
  } catch {
    return kind;
  }
}
