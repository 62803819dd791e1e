/** How an answer travels to the client: one row a response mode. Which of them a client may use, and which its refusal takes. */
import type { Deps } from '../deps.ts';
import { RESPONSE_MODES, type ResponseMode, type ResponseTarget } from '../protocol/authorization-request.ts';
import { OAuthError } from '../protocol/error.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { isWebUri } from '../protocol/redirect-uri.ts';
import type { Client } from '../store/clients.ts';
import { issueResponse } from '../tokens/authorization-response.ts';

/** What the door has to do: redirect, or show the page that posts. */
export type Delivery =
  { kind: 'redirect'; location: string } | { kind: 'form_post'; action: string; fields: Record<string, string> };

type Carry = (redirect_uri: string, fields: Record<string, string>) => Delivery;

const byQuery: Carry = (redirect_uri, fields) => {
  const query = Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  // The registered bytes stay as they are: parsing and printing a URL could change them.
  return { kind: 'redirect', location: `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${query}` };
};

const byForm: Carry = (redirect_uri, fields) => ({ kind: 'form_post', action: redirect_uri, fields });

export const responseModes = {
  query: byQuery,
  form_post: byForm,
  // JARM §2.3.4: the way of a code is the query.
  jwt: byQuery,
  'query.jwt': byQuery,
  'form_post.jwt': byForm,
} as const satisfies Record<ResponseMode, Carry>;

/** Is all of such an answer in one JWT (JARM §2.3)? Its name says so, also where there is no such mode. */
export const isInJwt = (mode: string): boolean => mode === 'jwt' || mode.endsWith('.jwt');

/**
 * The answer of success or failure, with `state` unchanged and the issuer in both. Whoever spends something for it makes it
 * before: a JWT wants keys, ours and the client's. @throws OAuthError for a page, when the answer cannot be made as it was asked for
 */
export async function respond(
  deps: Pick<Deps, 'clientKeys' | 'config' | 'keys'>,
  client: Client,
  { redirect_uri, response_mode, state }: ResponseTarget,
  answer: { code: string } | OAuthError,
  now: Date,
): Promise<Delivery> {
  const outcome =
    answer instanceof OAuthError
      ? { error: answer.error, error_description: answer.error_description }
      : { code: answer.code };
  const parameters = { ...outcome, ...(state !== undefined && { state }) };
  // RFC 9207 §2; a JWT says itself whose it is, and nothing stands beside it (§2.4, JARM §2.3).
  const fields = isInJwt(response_mode)
    ? { response: await issueResponse(deps, client, parameters, now) }
    : { ...parameters, iss: deps.config.ISSUER };
  return responseModes[response_mode](redirect_uri, fields);
}

export const isResponseMode = (text: string): text is ResponseMode =>
  (RESPONSE_MODES as readonly string[]).includes(text);

/** Can such an answer go there? No page posts to a private-use scheme. */
export const canReach = (mode: ResponseMode, redirect_uri: string): boolean =>
  responseModes[mode] !== byForm || isWebUri(redirect_uri);

/** Is this response mode open to the client? `jwt` is another name for query.jwt. */
export function mayUse({ response_modes }: Client, mode: ResponseMode): boolean {
  if (response_modes === null) return true;
  return response_modes.some((open) => fullName(open) === fullName(mode));
}

const fullName = (mode: ResponseMode): ResponseMode => (mode === 'jwt' ? 'query.jwt' : mode);

const JWT_MODES = RESPONSE_MODES.filter(isInJwt);

/**
 * How the answer travels, the refusal of the mode itself too: as asked for where that is open to the client, else in a way that is.
 * Who asked for a JWT, or takes nothing else, gets one: nobody takes it away by a mode that is refused, or named twice.
 */
export function modeFor(client: Client, redirect_uri: string, sent: Parameters[string] | undefined): ResponseMode {
  const named = [sent ?? 'query'].flat();
  const asked = named.filter(isResponseMode);
  const inJwt = named.some(isInJwt) || (client.response_modes?.every(isInJwt) ?? false);
  const candidates = inJwt ? [...asked.filter(isInJwt), ...JWT_MODES] : [...asked, ...RESPONSE_MODES];
  const isOpen = (mode: ResponseMode): boolean => mayUse(client, mode) && canReach(mode, redirect_uri);
  return candidates.find(isOpen) ?? (inJwt ? 'query.jwt' : 'query');
}
