/**
 * /upstream/{upstream}/callback: where providers send people back to. Signing in with one begins at the sign-in page, whose
 * form leads here over the provider.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  beginVisit,
  endVisit,
  offeredUpstream,
  openPosted,
  sealPosted,
  type Returned,
  type UpstreamOutcome,
  type Way,
} from '../../authorize/upstream.ts';
import type { Language } from '../../languages/index.ts';
import { isAccountPage, pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError, temporarilyUnavailable } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { domainOf, upstreamFields } from '../../protocol/upstream.ts';
import { isUnavailable } from '../../store/postgres/db.ts';
import * as upstreams from '../../store/upstreams.ts';
import type { Wishes } from '../../users/upstream/client.ts';
import { UpstreamRefusal } from '../../users/upstream/refusal.ts';
import { upstreamSentences } from '../../views/sentences/upstream.ts';
import type { UpstreamView } from '../../views/upstream.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { formOf, queryOf, requesterOf, requireForm, route } from '../request.ts';
import { accountUrl, loginFor } from './account/person.ts';
import { browserOf, interactionPath, urlOf, type Context } from './context.ts';
import { PageError } from './error-page.ts';
import { keepSessions, sessionsOf } from './signed-in.ts';

const callbackPath = (upstream: string): string => `${pages.upstream}/${upstream}/callback`;

export function upstream(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, callbackPath(':upstream'), {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async GET(request, reply) {
      const upstream = nameIn(request);
      const sent = queryOf(request);
      const posted = textOf(sent, 'posted');
      const parameters = posted === undefined ? sent : openPosted(deps, upstream, posted);
      const sessions = await sessionsOf(context, request, deps.clock());
      const browser = browserOf(context, request, reply);
      const callback = new URL(urlOf(context, callbackPath(upstream)));
      for (const [name, value] of Object.entries(parameters ?? {})) callback.searchParams.set(name, String(value));
      let returned: Returned;
      try {
        const back = { upstream, parameters: parameters ?? {}, callback, browser, sessions };
        returned = await endVisit(deps, back, requesterOf(request));
      } catch (error) {
        if (!(error instanceof OAuthError) || error.failed.check !== 'upstream_state') throw error;
        const say = (lang: Language) => {
          const { over, over_advice } = upstreamSentences(lang);
          return { heading: over, advice: over_advice };
        };
        throw new PageError(error, say, { href: urlOf(context, pages.login), place: hostOf(context) });
      }
      const { session, outcome, refusal, way, label } = returned;
      if (session) keepSessions(context, request, reply, session.remaining, [session.handle]);
      if (outcome === 'unavailable') throw outage(context, label, way, refusal);
      if (refusal) noted(deps, request, refusal, 400);
      return reply.redirect(placeOf(context, returned), 302);
    },
    /** `response_mode=form_post`: a form of the provider's page comes without our cookies, and a GET of ours brings them. */
    async POST(request, reply) {
      requireForm(request);
      const upstream = nameIn(request);
      const posted = sealPosted(deps, upstream, formOf(request));
      return reply.redirect(`${urlOf(context, callbackPath(upstream))}?posted=${posted}`, 303);
    },
  });
}

/** The provider that an address names. @throws OAuthError for what none can be called: it stands in addresses of ours */
function nameIn(request: FastifyRequest): string {
  const { upstream } = request.params as { upstream: string };
  if (upstreamFields.shape.upstream.safeParse(upstream).success) return upstream;
  throw new OAuthError('not_found', 'there is no such provider', { check: 'address' });
}

/** Where somebody goes on from. */
function placeOf(context: Context, { way, outcome, upstream }: Returned): string {
  const told = outcome === undefined ? '' : new URLSearchParams({ upstream, outcome }).toString();
  const beside = (url: string): string => (told === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${told}`);
  if (way.kind === 'interaction') {
    return beside(urlOf(context, interactionPath(way.id, told === '' ? 'done' : 'login')));
  }
  if (way.kind === 'connect')
    return beside(accountUrl(context, 'connections') + (told === '' ? '?done=connected' : ''));
  // Who is to prove an account first connects it there.
  const to =
    outcome === 'connect' ? 'connections' : way.to !== undefined && isAccountPage(way.to) ? way.to : 'overview';
  return told === '' ? accountUrl(context, to) : beside(loginFor(context, to));
}

/** The page of a provider that cannot be reached. */
function outage(context: Context, label: string, way: Way, cause: unknown): PageError {
  const say = (lang: Language) => {
    const t = upstreamSentences(lang);
    return { heading: t.unavailable({ upstream: label }), advice: t.unavailable_advice };
  };
  const refusal = temporarilyUnavailable('the provider cannot be reached', {
    check: 'upstream',
    expected: `an answer of ${label}`,
    received: cause instanceof OAuthError ? (cause.explanation.received ?? 'none') : (cause as Error).message,
    cause,
    retry_after: RETRY_AFTER,
  });
  const href =
    way.kind === 'interaction'
      ? urlOf(context, interactionPath(way.id))
      : way.kind === 'connect'
        ? accountUrl(context, 'connections')
        : urlOf(context, pages.login);
  return new PageError(refusal, say, { href, place: hostOf(context) });
}
const hostOf = ({ deps }: Context): string => new URL(deps.config.ISSUER).host;
/** Seconds after which it is worth trying a provider again. */
const RETRY_AFTER = 5;

/**
 * Sends somebody to a provider. @throws PageError where it cannot be reached, or is not offered
 */
export async function leaveFor(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  way: Way,
  wishes: Wishes,
): Promise<void> {
  const { deps } = context;
  const row = await offeredUpstream(deps, name);
  if (!row) {
    throw invalidRequest('this provider is not offered', { check: 'upstream', expected: 'one that is offered' });
  }
  try {
    const callback = new URL(urlOf(context, callbackPath(row.upstream)));
    const browser = browserOf(context, request, reply);
    reply.redirect((await beginVisit(deps, row, callback, browser, way, wishes)).href, 303);
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    throw outage(context, row.label, way, error);
  }
}

/** The providers of the sign-in page, and whether an address leads to one of them. */
export interface OfferedUpstreams {
  views: UpstreamView[];
  /** By an address that was typed (home realm): it leads there whether or not somebody has it. */
  homeOf(typed: string): string | undefined;
  /** Is there one that addresses lead to? Then nobody has to type a password. */
  byAddress: boolean;
}

export async function offeredUpstreams({ deps }: Context): Promise<OfferedUpstreams> {
  // The page is there without the database as well, and says at the sign-in itself that it has to wait.
  const rows = await upstreams.offered(deps.db).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    return [];
  });
  return {
    views: rows.map(({ upstream, label, icon }) => ({ upstream, label, icon })),
    homeOf: (typed) =>
      typed.includes('@') ? rows.find(({ domains }) => domains.includes(domainOf(typed.trim())))?.upstream : undefined,
    byAddress: rows.some(({ domains }) => domains.length > 0),
  };
}

/** Those that somebody may connect with the account they have. */
export const connectableUpstreams = async ({ deps }: Context): Promise<UpstreamView[]> =>
  (await upstreams.offered(deps.db))
    .filter(({ linking }) => linking)
    .map(({ upstream, label, icon }) => ({ upstream, label, icon }));

const TOLD = ['denied', 'unusable', 'gone', 'stale', 'unknown', 'disabled', 'connect', 'taken'] as const;
type Told = Extract<UpstreamOutcome, (typeof TOLD)[number]>;

/** What the address of a page says that came of a visit. Anybody may write it there: both are looked up, never shown. */
export function outcomeIn(
  request: FastifyRequest,
  offered: readonly UpstreamView[],
): { outcome: Told; label: string } | undefined {
  const query = new URLSearchParams((request.query as { text: string }).text);
  const outcome = TOLD.find((each) => each === query.get('outcome'));
  const label = offered.find(({ upstream }) => upstream === query.get('upstream'))?.label;
  return outcome === undefined || label === undefined ? undefined : { outcome, label };
}

/** The sentence about it, in the language of the page. */
export const outcomeText = (lang: Language, { outcome, label }: { outcome: Told; label: string }): string => {
  const t = upstreamSentences(lang);
  return outcome === 'disabled' ? t.disabled : t[outcome]({ upstream: label });
};
