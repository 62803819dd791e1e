/** GET /interaction/{id}: goes on from where a request stands. Every page of a request posts to itself and returns here. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { alreadyAnswered, isAnswered, isOfBrowser, open, resume, type Opened } from '../../authorize/interaction.ts';
import { rowOf, type PageStep } from '../../authorize/next-step.ts';
import type { Language } from '../../languages/index.ts';
import { accessDenied, invalidRequest, OAuthError } from '../../protocol/error.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { readHandle } from '../../protocol/handle.ts';
import * as interactions from '../../store/interactions.ts';
import { languageOf, noteWishes } from '../language.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { clientLink } from './client-view.ts';
import { browserOf, hashOf, interactionPath, isAtIssuer, urlOf, type Context } from './context.ts';
import { deliver } from './deliver.ts';
import { PageError, words } from './error-page.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';

export function interaction(app: FastifyInstance, context: Context): void {
  route(app, interactionPath(':id'), {
    async GET(request, reply) {
      const { opened, lang } = await openInteraction(context, request, reply);
      try {
        return deliver(context, request, reply, await resume(context.deps, opened, requesterOf(request)));
      } catch (error) {
        throw error instanceof OAuthError && isAnswered(error) ? answered(opened, lang) : error;
      }
    },
  });
}

/**
 * What the page of a step does. Each says whether it answered, and not with the reply: whoever awaits one has nothing in hand once
 * it was sent. What did not answer sends the person back to the interaction, which goes on from there.
 */
interface StepDoor {
  options?: RouteShorthandOptions;
  /** A path below that of the step, where its page has another beside it. */
  below?: string;
  /** Shows the page, if the interaction is there. */
  show(page: OpenedPage, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /** Takes what the person did; the form is of this page, in this browser, for this person. */
  take(page: OpenedPage, form: Parameters, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
}

/** Opens the door of a step's page. */
export function stepDoor(
  app: FastifyInstance,
  context: Context,
  step: PageStep,
  { options = {}, below = '', show, take }: StepDoor,
): void {
  route(app, interactionPath(':id', step) + below, {
    options,
    async GET(request, reply) {
      const page = await openInteraction(context, request, reply);
      const answers = await show(page, request, reply);
      return answers ? reply : toInteraction(context, reply, page.opened.id, 302);
    },
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const page = await openInteraction(context, request, reply);
      requireSameOrigin(context.deps, request);
      requireFormToken(context.deps, textOf(form, 'form_token'), bindingOf(page, step));
      const answers = await take(page, form, request, reply);
      return answers ? reply : toInteraction(context, reply, page.opened.id, 303);
    },
  });
}

export interface OpenedPage {
  opened: Opened;
  /** Everybody signed in in this browser, also those whom the request does not concern. */
  sessions: readonly LiveSession[];
  /** The browser's binding cookie. */
  browser: string;
  /** The language that its pages are in. */
  lang: Language;
}

/**
 * Opens the interaction of the URL in the browser it belongs to.
 * @throws PageError when it is unknown, expired, answered, or another browser's
 */
async function openInteraction(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<OpenedPage> {
  const { deps } = context;
  const now = deps.clock();
  const { id } = request.params as { id: string };
  const key = readHandle(id);
  const row = key && (await interactions.find(deps.db, key));
  if (!row) throw new PageError(invalidRequest('this request is not known', { check: 'interaction' }), UNKNOWN);

  const browser = browserOf(context, request, reply);
  const { ui_locales } = row.request;
  if (ui_locales) noteWishes(request, { requested: { ui_locales, at: row.created_at } });
  if (!(await isOfBrowser(deps, row, hashOf(browser)))) throw foreign(context, request);

  const sessions = await sessionsOf(context, request, now);
  const opened = await open(deps, id, row, sessions, now);
  const lang = languageOf(request);
  if (row.answered_at !== null) throw answered(opened, lang);
  if (row.expires_at <= now) {
    const link = clientLink(opened.client, lang);
    const received = `expired at ${row.expires_at.toISOString()}`;
    const refusal = invalidRequest('this request has expired', {
      check: 'interaction',
      client_id: row.client_id,
      received,
    });
    throw new PageError(refusal, STALE, link);
  }
  return { opened, sessions, browser, lang };
}

const UNKNOWN = words((t, advice) => ({ heading: t.unknown, advice: advice.unknown }));
const STALE = words((t, advice) => ({ heading: t.stale, advice: advice.stale }));
const ANSWERED = words((t, advice) => ({ heading: t.answered, advice: advice.answered }));

const answered = ({ client }: Opened, lang: Language): PageError =>
  new PageError(alreadyAnswered().explain({ client_id: client.client_id }), ANSWERED, clientLink(client, lang));

function foreign(context: Context, request: FastifyRequest): PageError {
  const { host } = new URL(context.deps.config.ISSUER);
  const say = words((t, advice) => ({
    heading: t.foreign,
    advice: isAtIssuer(context, request) ? advice.foreign : advice.foreign_host({ here: request.host, host }),
  }));
  return new PageError(
    accessDenied('this request belongs to another browser', {
      check: 'interaction',
      expected: 'the cookie of the browser that started it',
      received: isAtIssuer(context, request) ? 'none, or another' : `another host, ${request.host}`,
    }),
    say,
  );
}

/** What the forms of a step's page are bound to, as its row says. */
function bindingOf({ opened, browser }: OpenedPage, step: PageStep): Binding {
  const { agreedTo, byAnybody = false } = rowOf(step);
  const subject = agreedTo ? JSON.stringify([opened.id, ...agreedTo(opened)]) : `${step} ${opened.id}`;
  return [subject, browser, byAnybody ? '' : (opened.session?.sid ?? '')];
}

/** The form of a step's page: where it goes, and its hidden token. */
export const stepForm = (
  context: Context,
  page: OpenedPage,
  step: PageStep,
): { action: string; form_token: string } => ({
  action: urlOf(context, interactionPath(page.opened.id, step)),
  form_token: formToken(context.deps, bindingOf(page, step)),
});

/** The query of the sign-in page where whoever is signed in is not the person. */
export const SWITCH = 'switch';

/** Where somebody says that they are not the person shown: to those signed in too, or, where there are none, to a sign-in. */
export function switchUrl(context: Context, { id, candidates }: Opened): string {
  const isAmong = candidates.length > 1;
  return urlOf(context, isAmong ? interactionPath(id, 'select_account') : `${interactionPath(id, 'login')}?${SWITCH}`);
}

/** Back to where it goes on from. */
const toInteraction = (context: Context, reply: FastifyReply, id: string, status: 302 | 303): FastifyReply =>
  reply.redirect(urlOf(context, interactionPath(id)), status);
