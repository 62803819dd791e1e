/**
 * Third-party-initiated login (OpenID Connect Core §4): from here to an application that then asks us to sign a person
 * in.
 */
import type { Deps } from '../deps.ts';
import { invalidRequest } from '../protocol/error.ts';
import { redirectOrigin } from '../protocol/redirect-uri.ts';
import type { Client } from '../store/clients.ts';

/** The parameters that are passed on to the application (§4). */
export interface LoginHints {
  login_hint?: string | undefined;
  target_link_uri?: string | undefined;
}

/**
 * Where the browser goes: nowhere but to the registered address, its query kept.
 * @throws OAuthError invalid_request
 */
export function initiateLoginUrl(
  { ISSUER }: Pick<Deps['config'], 'ISSUER'>,
  client: Client,
  { login_hint, target_link_uri }: LoginHints,
): string {
  const { initiate_login_uri } = client;
  if (initiate_login_uri === null) {
    const detail = { check: 'initiate_login', expected: 'initiate_login_uri', client_id: client.client_id } as const;
    throw invalidRequest('this client registered no initiate_login_uri', detail);
  }
  if (target_link_uri !== undefined && !isOwnPage(client, target_link_uri)) {
    throw invalidRequest('target_link_uri is not at an origin of this client', {
      check: 'initiate_login',
      client_id: client.client_id,
      received: target_link_uri,
    });
  }
  const parameters = new URLSearchParams({
    iss: ISSUER,
    ...(login_hint !== undefined && { login_hint }),
    ...(target_link_uri !== undefined && { target_link_uri }),
  });
  return `${initiate_login_uri}${initiate_login_uri.includes('?') ? '&' : '?'}${parameters.toString()}`;
}

/** The application has to check it too, to be no open redirector (§4); we pass on nothing that is not its own. */
function isOwnPage({ initiate_login_uri, redirect_uris }: Client, target: string): boolean {
  if (target.length > 2000 || !/^https?:\/\/[^/\\]/i.test(target) || !URL.canParse(target)) return false;
  const { origin, username, password } = new URL(target);
  if (username !== '' || password !== '') return false;
  return [initiate_login_uri!, ...redirect_uris].some((uri) => redirectOrigin(uri) === origin);
}
