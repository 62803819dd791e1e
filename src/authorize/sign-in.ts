/**
 * Signing in, in order: the person proves who they are, then a session starts. For a browser, or for a script at POST
 * /login.
 */
import type { Deps } from '../deps.ts';
import { logIssued, type Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { accessDenied, OAuthError } from '../protocol/error.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { elevateSession, startSession, UsedBefore, type LiveSession, type Start } from '../sessions/index.ts';
import type { TokenResponse } from '../tokens/issue.ts';
import { BUILT_IN_CLIENT, makeLoginToken } from '../tokens/login-token.ts';
import { signInByPasskey, type PasskeyCredentials } from '../users/passkey-sign-in.ts';
import { owesPassword } from '../users/drawn-password.ts';
import { withSecond } from '../users/factors/index.ts';
import { owedBy, type Owed } from '../users/factors/policy.ts';
import { proveSecondFactor, wrongProof, type Given, type SecondProof } from '../users/second-factor.ts';
import { signIn, type Credentials, type SignedIn } from '../users/sign-in.ts';

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
  /** What the sign-in lacks before it opens anything. */
  owed: Owed;
}

/**
 * Signs somebody in, beside the sessions the browser has. Where a second factor is owed and none was given, the session waits for it:
 * it opens nothing until then (users/factors/policy.ts). @throws OAuthError as `signIn` and `signInByPasskey` do
 */
export async function signInBrowser(
  deps: Needs,
  credentials: Credentials | PasskeyCredentials,
  { browser_sessions, browser }: Required<Pick<Start, 'browser_sessions' | 'browser'>>,
  by: Requester,
  via: string,
  given?: Given,
): Promise<BrowserSignIn> {
  const shown =
    'challenge' in credentials ? await signInByPasskey(deps, credentials, by) : await signIn(deps, credentials, by);
  const { person, second } = await withGiven(deps, shown, given, by);
  const claim = second?.claim;
  const start = { kind: 'browser', ttl: deps.config.SESSION_TTL, browser_sessions, browser, via, claim } as const;
  const { handle, remaining } = await usingUp(second, person.sub, () =>
    startSession(deps, person, start, by, deps.clock()),
  );
  const { sub, device } = person;
  return { sub, session: handle, remaining, device, owed: owedBy(deps.config, person) };
}

/** Signs somebody in who proved who they are in another way: by a link or a code, on the way to an account that was made. */
export async function signInProven(
  deps: Needs,
  person: SignedIn,
  { browser_sessions, browser }: Required<Pick<Start, 'browser_sessions' | 'browser'>>,
  by: Requester,
  via: string,
): Promise<BrowserSignIn> {
  const onStart = async (trx: Trx): Promise<void> => {
    if (person.email === undefined) return;
    // Decided again, while the account's row is held: the mail may have been answered at an address that is theirs no more.
    const user = await users.find(trx, person.sub);
    if (user?.email === person.email && user.email_verified) return;
    const received = 'a mail to an address that the account has no more';
    throw accessDenied('the account cannot sign in', { check: 'account', sub: person.sub, received });
  };
  const start = { kind: 'browser', ttl: deps.config.SESSION_TTL, browser_sessions, browser, via, onStart } as const;
  const { handle, remaining } = await startSession(deps, person, start, by, deps.clock());
  const { sub, device } = person;
  return { sub, session: handle, remaining, device, owed: owedBy(deps.config, person) };
}

/** What somebody showed by now: with the second factor that they gave, where one is owed. */
async function withGiven(
  deps: Needs,
  person: SignedIn,
  given: Given | undefined,
  by: Requester,
): Promise<{ person: SignedIn; second: SecondProof | undefined }> {
  if (!given || owedBy(deps.config, person) !== 'second_factor') return { person, second: undefined };
  const second = await proveSecondFactor(deps, person.sub, given, by);
  const amr = withSecond(person.amr, second.amr);
  return { person: { ...person, amr, acr: levelOf(amr) }, second };
}

/** Does what a second factor opens; one that was used before opens nothing. */
async function usingUp<T>(second: SecondProof | undefined, sub: string, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    await second?.settle();
    return done;
  } catch (error) {
    throw error instanceof UsedBefore && second ? wrongProof(sub, second.factor) : error;
  }
}

/**
 * Takes a second factor from somebody whose session waits for it, or needs more than it has; returns the session's new handle.
 * @throws OAuthError invalid_credentials, too_many_requests; access_denied when the session ended meanwhile
 */
export async function showSecondFactor(
  deps: Needs,
  session: LiveSession,
  given: Given,
  { browser, bound_to, via }: { browser: string; bound_to?: readonly string[]; via: string },
  by: Requester,
): Promise<string> {
  const second = await proveSecondFactor(deps, session.sub, given, by, bound_to);
  const amr = withSecond(session.amr, second.amr);
  const elevation = { amr, acr: levelOf(amr), via, claim: second.claim };
  const { handle } = await usingUp(second, session.sub, () =>
    elevateSession(deps, session, elevation, browser, by, deps.clock()),
  );
  return handle;
}

/** Signs a script in and issues the token of POST /login, on a session of its own. */
export async function signInForToken(
  deps: Needs,
  credentials: Credentials,
  by: Requester,
  given?: Given,
): Promise<TokenResponse> {
  const { person, second } = await withGiven(deps, await signIn(deps, credentials, by), given, by);
  refuseOwing(deps, person);
  const now = deps.clock();
  const { sub } = person;
  const { response, jti, write } = await makeLoginToken(deps, person, now);
  const ttl = deps.config.ACCESS_TOKEN_TTL;
  // Decided again, while the account's row is held: what it owes may be more by now, and nobody asks a token for it later.
  const onStart = async (trx: Trx, sid: string): Promise<void> => {
    const erase_after = (await users.find(trx, sub))?.erase_after ?? null;
    refuseOwing(deps, { ...person, erase_after, second_factors: await users.secondFactorsOfPerson(trx, sub) });
    await write(trx, sid);
  };
  const start = { kind: 'login', ttl, via: 'login', claim: second?.claim, onStart } as const;
  await usingUp(second, sub, () => startSession(deps, person, start, by, now));
  logIssued(deps, by, { grant_type: 'login', client_id: BUILT_IN_CLIENT, sub, jti });
  return response;
}

/** @throws OAuthError where the sign-in is not whole: what is missing, and how to bring it */
function refuseOwing({ config }: Pick<Deps, 'config'>, person: SignedIn): void {
  if (person.erase_after) {
    throw new OAuthError('invalid_credentials', 'the account is to be deleted: sign in in a browser to keep it', {
      check: 'account',
      expected: 'an account that stays',
      received: 'one that is to be erased, as its person wishes',
      sub: person.sub,
    });
  }
  if (owesPassword({ amr: person.amr, password_drawn: person.password_drawn === true })) {
    throw new OAuthError('invalid_credentials', 'the password was drawn: sign in in a browser to choose another', {
      check: 'password',
      expected: 'a password of their own',
      received: 'one that was drawn for them',
      sub: person.sub,
    });
  }
  const owed = owedBy(config, person);
  if (owed === 'nothing') return;
  const missing =
    owed === 'second_factor'
      ? 'a second factor is missing: send a code as otp, or as recovery-code'
      : 'a second factor is required: set one up by signing in in a browser';
  throw new OAuthError('invalid_credentials', missing, {
    check: 'second_factor_missing',
    expected: owed === 'second_factor' ? person.second_factors.join(' or ') : 'a second factor',
    received: person.amr.join(' '),
    sub: person.sub,
  });
}
