/**
 * Request objects (RFC 9101, OpenID Connect Core §6): what a JWT that carries an authorization request must say, and its
 * members as parameters. Signatures and encryption are undone before.
 */
import { z } from 'zod';
import { hasControlCharacter } from './form-encoding.ts';
import { ASSERTION_ALGS, CLOCK_LEEWAY } from './jwt-assertion.ts';
import type { Parameters } from './parameters.ts';
import { isPlainText } from './plain-text.ts';
import { isLoopbackHost } from './redirect-uri.ts';
import { isUriText } from './uri.ts';

/** What they may be signed with: all that a client may authenticate with. Never `none`, never an HMAC. */
export const REQUEST_OBJECT_SIGNING_ALGS = ASSERTION_ALGS;

/** Characters of a request_uri (RFC 9101 §5.2), and of an object wherever it comes from. */
export const MAX_REQUEST_URI = 512;
export const MAX_REQUEST_OBJECT = 65_536;

/**
 * Why a request_uri cannot be registered, or undefined when it can (OpenID Connect Registration §2). It may have a fragment,
 * which tells apart what was at it and is never sent (Core §6.2).
 */
export function requestUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_REQUEST_URI) return `must have at most ${MAX_REQUEST_URI} characters`;
  if (!/^https?:\/\//i.test(uri) || !isUriText(uri) || !URL.canParse(uri)) return 'must be an https URL';
  const { protocol, hostname, username, password } = new URL(uri);
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) return 'must use https';
  return username === '' && password === '' ? undefined : 'must not hold user information';
}

/** RFC 9101 §10.8: a JWT that says it is something else is none of these. `typ` is a media type (RFC 7515 §4.1.9). */
export const isRequestObjectType = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(?:jwt|(?:application\/)?oauth-authz-req\+jwt)$/i.test(typ));

const claims = z.looseObject({
  client_id: z.string(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
});

/** RFC 7519 §4.1: these are about the JWT and no parameters. */
const ABOUT_THE_JWT: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/** What an object is held against. */
export interface Expected {
  /** The client that the request outside names, or that authenticated. */
  client_id: string;
  issuer: string;
  /** NumericDate. */
  now: number;
}

/** The parameters in the payload of a verified object, or why there are none: a sentence for the client. */
export function readRequestObject(payload: string, { client_id, issuer, now }: Expected): Parameters | string {
  const parsed = claims.safeParse(parseJson(payload));
  if (!parsed.success) return `${String(parsed.error.issues[0]?.path[0] ?? 'the payload')} is missing or malformed`;
  const { iss, aud, exp, nbf, iat, ...members } = parsed.data;
  // RFC 9101 §6.3, §5: the client is the one outside.
  if (members.client_id !== client_id) return 'client_id is not that of the request';
  if (iss !== undefined && iss !== client_id) return 'iss is not the client_id';
  if (aud !== undefined && ![aud].flat().includes(issuer)) return 'aud is not this server';
  // RFC 9101 §10.8: it could be taken for the client's assertion of who it is (RFC 7523).
  if (members['sub'] === client_id) return 'sub must not be the client_id';
  if (exp !== undefined && exp <= now - CLOCK_LEEWAY) return 'it has expired';
  if (nbf !== undefined && nbf > now + CLOCK_LEEWAY) return 'it is not valid yet';
  if (iat !== undefined && iat > now + CLOCK_LEEWAY) return 'it was issued in the future';
  // RFC 9101 §4.
  for (const name of ['request', 'request_uri']) if (name in members) return `${name} cannot be inside`;
  return parametersOf(members);
}

/**
 * Members as a form would have carried them, so that the same checks read them: what JSON types (`max_age`, `claims`)
 * comes as its JSON text, null and empty text as omitted (RFC 6749 §3.1). A name comes once, but for the list `resource`.
 */
function parametersOf(members: Readonly<Record<string, unknown>>): Parameters | string {
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of Object.entries(members)) {
    if (ABOUT_THE_JWT.has(name) || value === null || value === '') continue;
    const carried = name === 'resource' ? listOf(value) : textOf(value);
    if (carried === undefined) return `${/^[a-z_]{1,40}$/.test(name) ? name : 'a member'} is malformed`;
    parameters[name] = carried;
  }
  return parameters;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() && !hasControlCharacter(value) ? value : undefined;
  try {
    const text = JSON.stringify(value);
    return isPlainText(text) ? text : undefined;
  } catch {
    // Nested deeper than the stack.
    return undefined;
  }
}

/** RFC 8707 §2.1: one resource, or a list of them. */
function listOf(value: unknown): string[] | undefined {
  const texts = [value].flat().map((text) => (typeof text === 'string' ? textOf(text) : undefined));
  return texts.every((text) => text !== undefined) ? texts.filter((text) => text !== '') : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
