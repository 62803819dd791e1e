/** RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0): who asks, whether to ask the person, and where it leads. */
import type { Deps } from '../deps.ts';
import { invalidRequest } from '../protocol/error.ts';
import type { Parameters } from '../protocol/parameters.ts';
import type { Client } from '../store/clients.ts';
import type { LiveSession } from '../store/sessions.ts';
import { readHint } from '../tokens/id-token.ts';
import { sidFor } from '../tokens/subject.ts';

/** A logout request, checked. */
export interface LogoutRequest {
  client: Client | undefined;
  /** Where to go afterwards: registered for the client of a genuine hint, `state` included; never anything else. */
  return_to: string | undefined;
  /** A genuine hint names the very session: the application was part of it, so nobody is tricked by an old token. */
  recognised: boolean;
}

type Needs = Pick<Deps, 'config' | 'directory' | 'keys'>;

/** @throws OAuthError invalid_request when client_id contradicts the hint (§2) */
export async function readLogoutRequest(
  deps: Needs,
  parameters: Parameters,
  session: LiveSession | undefined,
  now: Date,
): Promise<LogoutRequest> {
  const get = (name: string): string | undefined => {
    const value = parameters[name];
    return typeof value === 'string' ? value : undefined;
  };
  const id_token_hint = get('id_token_hint');
  const hint = id_token_hint === undefined ? undefined : await readHint(deps, id_token_hint, now);
  const client_id = get('client_id');
  if (hint && client_id !== undefined && client_id !== hint.client_id) {
    throw invalidRequest('client_id is not the audience of id_token_hint');
  }
  const named = hint?.client_id ?? client_id;
  const client = named === undefined ? undefined : await deps.directory.client(named);
  const uri = get('post_logout_redirect_uri');
  // §2: only with a genuine hint; a name alone could be anybody's.
  const registered = hint !== undefined && uri !== undefined && client?.post_logout_redirect_uris.includes(uri);
  return {
    client,
    return_to: registered ? withState(uri, get('state')) : undefined,
    recognised: client && session && hint?.sid ? hint.sid === sidFor(deps, client, session.sid) : false,
  };
}

function withState(uri: string, state: string | undefined): string {
  return state === undefined ? uri : `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}
