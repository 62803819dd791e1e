/** What keeps our JWTs apart: their `typ`, and where that is shared, whom they are for. */
import { isClientId } from './client.ts';
import { isResource } from './resource.ts';

/** The types a resource can have its access tokens in. The first is RFC 9068's, the other for verifiers that know no better. */
export const ACCESS_TOKEN_TYPS = ['at+jwt', 'JWT'] as const;
export type AccessTokenTyp = (typeof ACCESS_TOKEN_TYPS)[number];

const ID_TOKEN_TYP = 'JWT';
/** RFC 7515 §4.1.9: a media type, without regard to case, whose `application/` may be left out. */
const shortType = (typ: string | undefined): string | undefined => typ?.toLowerCase().replace(/^application\//, '');

/** The type of access tokens for these resources, of which each has said what it wants. Only all of them can have it another way. */
export const typFor = (typs: ReadonlyArray<AccessTokenTyp | null | undefined>): AccessTokenTyp =>
  typs.length > 0 && typs.every((typ) => typ === 'JWT') ? 'JWT' : 'at+jwt';

/**
 * Is a JWT of ours an access token? One of type JWT is only by its audience: resources, whose names are absolute URIs, none of
 * them ourselves. An ID token is for a client, whose id never is a URI.
 */
export function isAccessToken(typ: string | undefined, aud: readonly string[], issuer: string): boolean {
  if (shortType(typ) === 'at+jwt') return true;
  return shortType(typ) === 'jwt' && aud.length > 0 && aud.every((uri) => isResource(uri) && uri !== issuer);
}

/** Is a JWT of ours an ID token? */
export const isIdToken = (typ: string | undefined, aud: string): boolean => typ === ID_TOKEN_TYP && isClientId(aud);
