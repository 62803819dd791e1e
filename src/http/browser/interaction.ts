/** GET /interaction/{id}: goes on from where a request stands. Every page of a request posts to itself and returns here. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { alreadyAnswered, isAnswered, open, resume, type Opened } from '../../authorize/interaction.ts';
import type { Step } from '../../authorize/next-step.ts';
import { accessDenied, invalidRequest, OAuthError } from '../../protocol/error.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { readHandle } from '../../store/handle.ts';
import * as interactions from '../../store/interactions.ts';
import { requesterOf, route } from '../request.ts';
import { clientLink } from './client-view.ts';
import { browserOf, hashOf, isAtIssuer, urlOf, type Context } from './context.ts';
import { deliver } from './deliver.ts';
import { PageError } from './error-page.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';

export function interaction(app: FastifyInstance, context: Context): void {
  route(app, '/interaction/:id', {
    async GET(request, reply) {
      const { opened } = await openInteraction(context, request, reply);
      try {
        return deliver(context, request, reply, await resume(context.deps, opened, requesterOf(request)));
      } catch (error) {
        throw error instanceof OAuthError && isAnswered(error) ? answered(opened) : error;
      }
    },
  });
}

export interface OpenedPage {
  opened: Opened;
  /** Everybody signed in in this browser, also those whom the request does not concern. */
  sessions: readonly LiveSession[];
  /** The browser's binding cookie. */
  browser: string;
}

/**
 * Opens the interaction of the URL in the browser it belongs to.
 * @throws PageError when it is unknown, expired, answered, or another browser's
 */
export async function openInteraction(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<OpenedPage> {
  const { deps } = context;
  const now = deps.clock();
  const { id } = request.params as { id: string };
  const key = readHandle(id);
  const row = key && (await interactions.find(deps.db, key));
  if (!row) throw new PageError(invalidRequest('this request is not known', { check: 'interaction' }), ...UNKNOWN);

  const browser = browserOf(context, request, reply);
  const hash = hashOf(browser);
  const bound = row.browser_hash ?? ((await interactions.bind(deps.db, row, hash)) ? hash : undefined);
  if (bound === undefined || !bound.equals(hash)) throw foreign(context, request);

  const sessions = await sessionsOf(context, request, now);
  const opened = await open(deps, id, row, sessions, now);
  if (row.answered_at !== null) throw answered(opened);
  if (row.expires_at <= now) {
    const link = clientLink(opened.client);
    const received = `expired at ${row.expires_at.toISOString()}`;
    const refusal = invalidRequest('this request has expired', {
      check: 'interaction',
      client_id: row.client_id,
      received,
    });
    throw new PageError(refusal, 'This took too long', STALE_ADVICE, link);
  }
  return { opened, sessions, browser };
}

const UNKNOWN = [
  'This request is not known',
  'It may have expired. Go back to the application and start again.',
] as const;
const STALE_ADVICE = 'To keep your account safe, a request waits only a while. Start again at the application.';

const answered = ({ client }: Opened): PageError =>
  new PageError(
    alreadyAnswered().explain({ client_id: client.client_id }),
    'This was answered already',
    'Each request is answered once. Go back to the application to see whether you are signed in.',
    clientLink(client),
  );

function foreign(context: Context, request: FastifyRequest): PageError {
  const { host } = new URL(context.deps.config.ISSUER);
  const advice = isAtIssuer(context, request)
    ? 'Open the application in the browser you want to use and start again there. Cookies have to be allowed for this site.'
    : `You are at ${request.host}, but this service lives at ${host}. Start again at the application.`;
  return new PageError(
    accessDenied('this request belongs to another browser', {
      check: 'interaction',
      expected: 'the cookie of the browser that started it',
      received: isAtIssuer(context, request) ? 'none, or another' : `another host, ${request.host}`,
    }),
    'This was started in another browser',
    advice,
  );
}

/**
 * What the forms of an interaction's page are bound to. Where the page decides for a person, that person's session too; and to
 * what was shown: nobody agrees to more than they saw, whatever the client was given back meanwhile.
 */
export const bindingOf = ({ opened, browser }: OpenedPage, step: Step): Binding => [
  step === 'consent' ? JSON.stringify([opened.id, opened.request.scope, opened.claims]) : `${step} ${opened.id}`,
  browser,
  step === 'login' ? '' : (opened.session?.sid ?? ''),
];

/** The hidden token of a step's page. */
export const stepToken = ({ deps }: Context, page: OpenedPage, step: Step): string =>
  formToken(deps, bindingOf(page, step));

/** @throws ForgedForm when the form is not of this page, in this browser, for this person */
export function requireStepForm(
  { deps }: Context,
  request: FastifyRequest,
  page: OpenedPage,
  step: Step,
  form_token: string | undefined,
): void {
  requireSameOrigin(deps, request);
  requireFormToken(deps, form_token, bindingOf(page, step));
}

/** Where somebody says that they are not the person shown: to those signed in too, or, where there are none, to a sign-in. */
export const switchUrl = (context: Context, { id, candidates }: Opened): string =>
  urlOf(context, `/interaction/${id}/${candidates.length > 1 ? 'select-account' : 'login?switch'}`);

/** Back to where it goes on from. */
export const toInteraction = (context: Context, reply: FastifyReply, id: string, status: 302 | 303): FastifyReply =>
  reply.redirect(urlOf(context, `/interaction/${id}`), status);
