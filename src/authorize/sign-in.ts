/**
 * Signing in, in order: the person proves who they are, then a session starts. For a browser, or for a script at POST
 * /login.
 */
import type { Deps } from '../deps.ts';
import { logIssued, type Requester } from '../events/index.ts';
import { startSession, type LiveSession, type Start } from '../sessions/index.ts';
import type { TokenResponse } from '../tokens/issue.ts';
import { BUILT_IN_CLIENT, makeLoginToken } from '../tokens/login-token.ts';
import { signInByPasskey, type PasskeyCredentials } from '../users/passkey-sign-in.ts';
import { signIn, type Credentials } from '../users/sign-in.ts';

type Needs = Pick<
  Deps,
  'config' | 'db' | 'directory' | 'passwords' | 'secrets' | 'random' | 'clock' | 'log' | 'metrics'
>;

/** A sign-in of a browser: whose, the cookies to set, and which of the sessions it had it keeps. */
export interface BrowserSignIn {
  sub: string;
  session: string;
  remaining: readonly LiveSession[];
  device: string;
}

/** Signs somebody in by either, beside the sessions the browser has. @throws OAuthError as `signIn` and `signInByPasskey` do */
export async function signInBrowser(
  deps: Needs,
  credentials: Credentials | PasskeyCredentials,
  { browser_sessions, browser }: Required<Pick<Start, 'browser_sessions' | 'browser'>>,
  by: Requester,
  via: string,
): Promise<BrowserSignIn> {
  const person =
    'challenge' in credentials ? await signInByPasskey(deps, credentials, by) : await signIn(deps, credentials, by);
  const start = { kind: 'browser', ttl: deps.config.SESSION_TTL, browser_sessions, browser, via } as const;
  const { handle, remaining } = await startSession(deps, person, start, by, deps.clock());
  return { sub: person.sub, session: handle, remaining, device: person.device };
}

/** Signs a script in and issues the token of POST /login, on a session of its own. */
export async function signInForToken(deps: Needs, credentials: Credentials, by: Requester): Promise<TokenResponse> {
  const person = await signIn(deps, credentials, by);
  const now = deps.clock();
  const { sub } = person;
  const { response, jti, write } = await makeLoginToken(deps, person, now);
  await startSession(
    deps,
    person,
    { kind: 'login', ttl: deps.config.ACCESS_TOKEN_TTL, via: 'login', onStart: write },
    by,
    now,
  );
  logIssued(deps, by, { grant_type: 'login', client_id: BUILT_IN_CLIENT, sub, jti });
  return response;
}
