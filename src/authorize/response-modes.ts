/** How an answer travels to the client: one row a response mode. */
import type { ResponseMode, ResponseTarget } from '../protocol/authorization-request.ts';
import { OAuthError } from '../protocol/error.ts';

/** What the door has to do: redirect, or show the page that posts. */
export type Delivery =
  { kind: 'redirect'; location: string } | { kind: 'form_post'; action: string; fields: Record<string, string> };

export const responseModes = {
  query(redirect_uri, fields) {
    const query = Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
    // The registered bytes stay as they are: parsing and printing a URL could change them.
    return { kind: 'redirect', location: `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${query}` };
  },
  form_post: (redirect_uri, fields) => ({ kind: 'form_post', action: redirect_uri, fields }),
} as const satisfies Record<ResponseMode, (redirect_uri: string, fields: Record<string, string>) => Delivery>;

/** The answer of success or failure, with `state` unchanged and `iss` (RFC 9207 §2) in both. */
export function respond(target: ResponseTarget, issuer: string, answer: { code: string } | OAuthError): Delivery {
  const outcome =
    answer instanceof OAuthError
      ? { error: answer.error, error_description: answer.error_description }
      : { code: answer.code };
  const fields = { ...outcome, ...(target.state !== undefined && { state: target.state }), iss: issuer };
  return responseModes[target.response_mode](target.redirect_uri, fields);
}
