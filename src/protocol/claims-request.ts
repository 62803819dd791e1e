/**
 * The claims parameter (OpenID Connect Core §5.5): single claims asked for by name, with or without the scope that
 * opens them.
 */
import { z } from 'zod';
import { invalidRequest } from './error.ts';
import { isStorableValue } from './plain-text.ts';

/** How one claim is asked for. */
export interface ClaimRequest {
  essential?: boolean | undefined;
  /** Only with this value. */
  value?: unknown;
  /** Only with one of these values. */
  values?: unknown[] | undefined;
}

/** Claims by name. */
export type ClaimRequests = Record<string, ClaimRequest>;

/** Where each claim is wanted. It is stored as JSON. */
export interface ClaimsRequest {
  userinfo: ClaimRequests;
  id_token: ClaimRequests;
}

const MOST = 100;

const scalar = z.union([z.string().max(2000), z.number(), z.boolean()]);
/** No claim of ours nests deeper: `address` is an object, `groups` a list. */
const value = z.union([scalar, z.array(scalar).max(MOST), z.record(z.string(), scalar)]);
const claimRequest = z
  .object({ essential: z.boolean().optional(), value: value.optional(), values: z.array(value).max(MOST).optional() })
  .nullable()
  .transform((request) => request ?? {});
const byName = z
  .record(z.string(), claimRequest)
  .refine((requests) => Object.keys(requests).length <= MOST, `has more than ${MOST} claims`);

const claimsRequest = z.object({
  userinfo: byName.default({}),
  // These two are compared with what we know of the person, and decide who may go on.
  id_token: byName
    .default({})
    .refine(({ sub = {}, acr = {} }) => [sub, acr].every(isOfTexts), 'sub and acr are strings'),
});

const isOfTexts = ({ value: one, values = [] }: ClaimRequest): boolean =>
  [...values, ...(one === undefined ? [] : [one])].every((each) => typeof each === 'string');

/**
 * Reads the parameter, as text or as the object that a request object holds. Members that are not understood are ignored.
 * @throws OAuthError invalid_request
 */
export function parseClaimsRequest(sent: unknown): ClaimsRequest | undefined {
  if (sent === undefined) return undefined;
  const value = typeof sent === 'string' ? parseJson(sent) : sent;
  // It is stored as it comes, the names of members too.
  if (!isStorableValue(value)) throw invalidRequest('the claims parameter is malformed: it holds half a character');
  const result = claimsRequest.safeParse(value);
  if (result.success) return result.data;
  const where = result.error.issues[0]!.path.slice(0, 1).join('');
  throw invalidRequest(`the claims parameter is malformed${where === '' ? '' : ` in ${where}`}`);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw invalidRequest('the claims parameter is not JSON');
  }
}

/** The request narrowed to the claims that the client may have; undefined when none is left. */
export function narrowClaimsRequest(
  { userinfo, id_token }: ClaimsRequest,
  tellable: ReadonlySet<string>,
): ClaimsRequest | undefined {
  const narrow = (requests: ClaimRequests): ClaimRequests =>
    Object.fromEntries(Object.entries(requests).filter(([name]) => tellable.has(name)));
  const narrowed = { userinfo: narrow(userinfo), id_token: narrow(id_token) };
  return claimNames(narrowed).length === 0 ? undefined : narrowed;
}

/** The names asked for, wherever they are wanted. */
export const claimNames = (request: ClaimsRequest | undefined): string[] =>
  request === undefined ? [] : [...new Set([...Object.keys(request.userinfo), ...Object.keys(request.id_token)])];
