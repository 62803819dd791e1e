/**
 * /logout: asks, unless an application proves by id_token_hint that it knows the person, and wants to go nowhere but where
 * it registered to go; /logout/done says it is done.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endpoints, pages } from '../../protocol/endpoint.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { isApproved } from '../../authorize/unapproved.ts';
import { openSignOut, readLogoutRequest, signOut, type LogoutRequest } from '../../sessions/logout.ts';
import { isUnavailable } from '../../store/postgres/db.ts';
import { logoutPage } from '../../views/logout.ts';
import { signedOutPage } from '../../views/signed-out.ts';
import { languageOf } from '../language.ts';
import { sendPage } from '../page.ts';
import { noted } from '../refusal.ts';
import { formOf, queryOf, requesterOf, requireForm, route } from '../request.ts';
import { clientLink, clientView, nameIn, placeOf } from './client-view.ts';
import { browserOf, hashOf, urlOf, type Context } from './context.ts';
import { PageError, words } from './error-page.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';
import { keepSessions, personView, sessionsOf } from './signed-in.ts';

/** The parameters that go through the confirmation page and are checked again behind it. */
const CARRIED = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'] as const;

export function logout(app: FastifyInstance, context: Context): void {
  const { deps } = context;

  /** Ends `ending` of the browser's sessions and leads on: to the page that tells applications, if there are any, first. */
  const end = async (
    request: FastifyRequest,
    reply: FastifyReply,
    sessions: readonly LiveSession[],
    ending: readonly LiveSession[],
    { client, return_to }: LogoutRequest,
    now: Date,
  ): Promise<FastifyReply> => {
    let page: string | undefined;
    if (ending.length > 0) {
      const way = { client, return_to, browser_hash: hashOf(browserOf(context, request, reply)) };
      page = await signOut(deps, ending, way, requesterOf(request), now);
    }
    const remaining = sessions.filter((session) => !ending.includes(session));
    keepSessions(context, request, reply, remaining);
    const done = page === undefined ? pages.logout_done : `${pages.logout_done}?sign_out=${page}`;
    const location = page === undefined && return_to !== undefined ? return_to : urlOf(context, done);
    return reply
      .code(request.method === 'POST' ? 303 : 302)
      .header('location', location)
      .send();
  };

  route(app, endpoints.end_session_endpoint, {
    async GET(request, reply) {
      const now = deps.clock();
      const parameters = queryOf(request);
      const sessions = await sessionsOf(context, request, now);
      const logoutRequest = await readLogoutRequest(deps, parameters, sessions, now);
      const { session, client, recognised, refusal } = logoutRequest;
      if (refusal) {
        if (!session) throw new PageError(refusal, UNREGISTERED, client && clientLink(client, languageOf(request)));
        noted(deps, request, refusal, 200);
      } else if (!session && client && logoutRequest.return_to !== undefined && !(await isApproved(deps, client, []))) {
        // RFC 9700 §4.11.2: nobody signs out here, so nobody is led on either, but by their own click.
        const props = { return_url: logoutRequest.return_to, place: placeOf(logoutRequest.return_to) };
        return sendPage(context, reply, (frame) => signedOutPage({ frame, ...props }));
      } else if (!session || recognised) {
        return end(request, reply, sessions, session ? [session] : [], logoutRequest, now);
      }
      const browser = browserOf(context, request, reply);
      return sendPage(context, reply, (frame) =>
        logoutPage({
          frame,
          action: urlOf(context, endpoints.end_session_endpoint),
          form_token: formToken(deps, bindingOf(browser, session)),
          person: personView(session),
          others: sessions.filter((other) => other !== session).map(personView),
          client: client && clientView(client, frame.lang),
          stays: refusal !== undefined,
          hidden: carried(parameters),
        }),
      );
    },
    async POST(request, reply) {
      requireForm(request);
      const parameters = formOf(request);
      const form_token = textOf(parameters, 'form_token');
      if (form_token === undefined) {
        // Another site's form, and so without our cookies: a GET of ours decides.
        const query = new URLSearchParams(carried(parameters));
        return reply.redirect(`${urlOf(context, endpoints.end_session_endpoint)}?${query.toString()}`, 303);
      }
      const now = deps.clock();
      requireSameOrigin(deps, request);
      const sessions = await sessionsOf(context, request, now);
      const logoutRequest = await readLogoutRequest(deps, parameters, sessions, now);
      const { session } = logoutRequest;
      requireFormToken(deps, form_token, bindingOf(browserOf(context, request, reply), session));
      const action = textOf(parameters, 'action');
      if (action === 'logout-all') return end(request, reply, sessions, sessions, logoutRequest, now);
      if (action === 'logout') return end(request, reply, sessions, session ? [session] : [], logoutRequest, now);
      return reply.redirect(urlOf(context, pages.account), 303);
    },
  });

  route(app, pages.logout_done, {
    async GET(request, reply) {
      const now = deps.clock();
      const handle = textOf(queryOf(request), 'sign_out');
      const browser = context.cookies.get(request, 'browser');
      const page = handle && browser ? await openSignOut(deps, handle, hashOf(browser), now) : undefined;
      const others = await sessionsOf(context, request, now).catch(noSessionsWhileAway);
      const lang = languageOf(request);
      // ASVS 14.3.1: what pages of ours left in the browser goes too.
      reply.header('clear-site-data', '"cache", "storage"');
      const props = {
        client: page?.client && clientView(page.client, lang),
        return_url: page?.return_to,
        notified: page?.notified.map((one) => nameIn(lang, one)) ?? [],
        frames: page?.frames ?? [],
        others: others.map(personView),
      };
      const frames = props.frames.map((url) => new URL(url).origin);
      return sendPage(context, reply, (frame) => signedOutPage({ frame, ...props }), { frames });
    },
  });
}

const UNREGISTERED = words((t, advice) => ({ heading: t.unregistered, advice: advice.unregistered }));

/** The page says that somebody is signed out, with or without a database. */
function noSessionsWhileAway(error: unknown): [] {
  if (isUnavailable(error)) return [];
  throw error;
}

const bindingOf = (browser: string, session: LiveSession | undefined): Binding => [
  'logout',
  browser,
  session?.sid ?? '',
];

function carried(parameters: Parameters): Record<string, string> {
  const hidden: Record<string, string> = {};
  for (const name of CARRIED) {
    const value = textOf(parameters, name);
    if (value !== undefined) hidden[name] = value;
  }
  return hidden;
}
