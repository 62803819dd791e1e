/** Who is signed in in this browser, and may look at or change their own account: asked here, for every page of it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountPages, isAccountPage, pages, type AccountPageName } from '../../../protocol/endpoint.ts';
import { isFresh, noteUse, type LiveSession } from '../../../sessions/index.ts';
import * as users from '../../../store/users.ts';
import { owesPassword } from '../../../users/drawn-password.ts';
import { owedBy } from '../../../users/factors/policy.ts';
import { browserOf, urlOf, type Context } from '../context.ts';
import { sessionsOf } from '../signed-in.ts';

/** The person whose account it is, as their browser shows it. */
export interface SignedInPerson {
  user: users.User;
  session: LiveSession;
  /** Everybody who is signed in in this browser, the current person first. */
  sessions: readonly LiveSession[];
  /** The browser's binding cookie. */
  browser: string;
  now: Date;
}

/** Where somebody signs in, or confirms that it is them, and comes back from to a page of the account. */
export const loginFor = (context: Context, page: string): string =>
  urlOf(context, page === 'overview' ? pages.login : `${pages.login}?to=${page}`);

/** The page of the account that a sign-in is to lead to: a name of ours, never an address. Undefined where it names none. */
export function destinationOf(request: FastifyRequest): AccountPageName | undefined {
  const to = new URLSearchParams((request.query as { text: string }).text).get('to') ?? '';
  return isAccountPage(to) ? to : undefined;
}

/** Where such a sign-in is finished by a second factor. */
export const secondFactorFor = (context: Context, page: string): string =>
  urlOf(context, page === 'overview' ? pages.second_factor : `${pages.second_factor}?to=${page}`);

/** Where a page of the account is. */
export const accountUrl = (context: Context, page: AccountPageName): string => urlOf(context, accountPages[page]);

/**
 * The person signed in, or undefined once they were sent to sign in: where nobody is, and with `fresh` also where the sign-in is
 * older than five minutes. It leads back to the page of that name.
 */
export async function requirePerson(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { page, fresh = false }: { page: AccountPageName; fresh?: boolean },
): Promise<SignedInPerson | undefined> {
  const { deps } = context;
  const now = deps.clock();
  const sessions = await sessionsOf(context, request, now);
  const [session] = sessions;
  const user = session && (await users.find(deps.db, session.sub));
  if (!session || !user || (fresh && !isFresh(session, now))) {
    reply.redirect(loginFor(context, page), request.method === 'GET' ? 302 : 303);
    return undefined;
  }
  // A password alone opens nothing of somebody who has more.
  if (owedBy(deps.config, session) !== 'nothing') {
    reply.redirect(secondFactorFor(context, page), request.method === 'GET' ? 302 : 303);
    return undefined;
  }
  // Nor does one that was drawn for them.
  if (owesPassword(session) && page !== 'password') {
    reply.redirect(accountUrl(context, 'password'), request.method === 'GET' ? 302 : 303);
    return undefined;
  }
  // Whoever comes back decides first whether they stay.
  if (user.erase_after !== null && page !== 'delete' && page !== 'data') {
    reply.redirect(accountUrl(context, 'delete'), request.method === 'GET' ? 302 : 303);
    return undefined;
  }
  await noteUse(deps, session, now);
  return { user, session, sessions, browser: browserOf(context, request, reply), now };
}
