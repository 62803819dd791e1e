/**
 * Sign-in by mail (EMAIL_SIGN_IN): /login/email and /interaction/{id}/login/email, where an address is typed and then a code; and
 * /login/link/{token}, where the link of the mail leads.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { signedIn } from '../../authorize/interaction.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { isAddress } from '../../users/accounts.ts';
import { askForSignIn, openSignIn, signInByCode, signInByLink, waitingSignIn } from '../../users/email-sign-in.ts';
import { isEmailSignInOn } from '../../users/sign-up-policy.ts';
import { emailSignInPage, signInLinkPage, type EmailSignInPageProps } from '../../views/email-sign-in.ts';
import { mailCodePage, mailNotePage, type MailCodePageProps } from '../../views/mail-code.ts';
import { languageOf } from '../language.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { queryOf, requesterOf, route } from '../request.ts';
import { accountUrl } from './account/person.ts';
import { clientView } from './client-view.ts';
import { browserOf, devMailUrl, hashOf, interactionPath, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';
import { stepDoor, stepForm, SWITCH, type OpenedPage } from './interaction.ts';
import { sessionsOf } from './signed-in.ts';
import { begin, orThrottled } from './sign-up.ts';

/** Below the sign-in page of a request. */
const BELOW = '/email';

/** Where somebody signs in: for a request in progress, or here. */
interface Place extends Pick<EmailSignInPageProps, 'form_token' | 'client' | 'login_url'> {
  url: string;
  browser: string;
  sessions: readonly LiveSession[];
  interaction?: string | undefined;
  onward: string;
}

/** Where somebody signs in by mail, from a sign-in page; undefined where nobody can. */
export const emailSignInUrl = (context: Context, interaction?: string): string | undefined =>
  isEmailSignInOn(context.deps.config)
    ? urlOf(context, interaction === undefined ? pages.login_email : interactionPath(interaction, 'login') + BELOW)
    : undefined;

export function emailSignIn(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  if (!isEmailSignInOn(deps.config)) return;
  const options = limited(app, deps.config, 'LOGIN_RATE_LIMIT');
  stepDoor(app, context, 'login', {
    options,
    below: BELOW,
    async show(page, request, reply) {
      await show(context, request, reply, placeIn(context, page));
      return true;
    },
    async take(page, form, request, reply) {
      const sub = await take(context, request, reply, placeIn(context, page), form);
      if (sub === undefined) return true;
      await signedIn(deps, page.opened, sub);
      return false;
    },
  });
  const bindingOf = (browser: string): Binding => ['email-sign-in', browser, ''];
  const placeOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Place> => {
    const browser = browserOf(context, request, reply);
    return {
      url: urlOf(context, pages.login_email),
      form_token: formToken(deps, bindingOf(browser)),
      browser,
      sessions: await sessionsOf(context, request, deps.clock()),
      login_url: urlOf(context, pages.login),
      onward: accountUrl(context, 'overview'),
    };
  };
  route(app, pages.login_email, {
    options,
    GET: async (request, reply) => show(context, request, reply, await placeOf(request, reply)),
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const place = await placeOf(request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(place.browser));
      const sub = await take(context, request, reply, place, form);
      return sub === undefined ? reply : reply.redirect(place.onward, 303);
    },
  });
  linkDoor(app, context, options);
}

function placeIn(context: Context, page: OpenedPage): Place {
  const { id, client } = page.opened;
  const { action, form_token } = stepForm(context, page, 'login');
  return {
    url: action + BELOW,
    form_token,
    client: clientView(client, page.lang),
    browser: page.browser,
    sessions: page.sessions,
    login_url: urlOf(context, `${interactionPath(id, 'login')}?${SWITCH}`),
    interaction: id,
    onward: urlOf(context, interactionPath(id)),
  };
}

async function show(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
): Promise<FastifyReply> {
  const handle = textOf(queryOf(request), 'request');
  if (handle === undefined) return sendForm(context, reply, place, '');
  return sendWaiting(context, request, reply, place, handle);
}

/** Takes an address, or a code; returns who is signed in, undefined where it was answered. */
async function take(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  form: Parameters,
): Promise<string | undefined> {
  const { deps } = context;
  const since = deps.clock();
  const browser_hash = hashOf(place.browser);
  const handle = textOf(form, 'request');
  const before = handle === undefined ? undefined : await waitingSignIn(deps, handle, browser_hash, since);
  if (handle !== undefined && textOf(form, 'action') !== 'again') {
    const device = context.cookies.get(request, 'device');
    const code = textOf(form, 'otp') ?? '';
    const outcome = await orThrottled(context, request, reply, () =>
      signInByCode(deps, { request: handle, code, browser_hash, device }, requesterOf(request)),
    );
    if (typeof outcome !== 'string') {
      return (await begin(context, request, reply, { ...place, since }, outcome.person, 'email')).sub;
    }
    if (outcome !== 'too_many_requests') {
      const detail = { check: 'mail_code', received: outcome } as const;
      noted(deps, request, invalidRequest('the code is not right, or no longer good', detail), 400);
    }
    await sendWaiting(context, request, reply, place, handle, outcome);
    return undefined;
  }
  const email = before?.typed.email ?? (textOf(form, 'email') ?? '').trim();
  if (!isAddress(email)) {
    noted(deps, request, invalidRequest('it is no address', { check: 'parameter', expected: 'email' }), 400);
    sendForm(context, reply, place, email, 'bad_email');
    return undefined;
  }
  const typed = { email, lang: languageOf(request), interaction: place.interaction };
  const asked = await orThrottled(context, request, reply, () =>
    askForSignIn(deps, typed, browser_hash, requesterOf(request)),
  );
  if (asked === 'too_many_requests') sendForm(context, reply, place, email, asked);
  else reply.redirect(`${place.url}?request=${asked}`, 303);
  return undefined;
}

function sendForm(
  context: Context,
  reply: FastifyReply,
  { url: action, form_token, client, login_url }: Place,
  typed: string,
  problem?: EmailSignInPageProps['problem'],
): FastifyReply {
  const props = { action, form_token, client, login_url, email: typed.slice(0, 320), problem };
  const status = problem === undefined ? 200 : problem === 'bad_email' ? 400 : 429;
  return sendPage(context, reply, (frame) => emailSignInPage({ frame, ...props }), { status });
}

async function sendWaiting(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { url, form_token, client, browser, sessions, onward }: Place,
  handle: string,
  problem?: MailCodePageProps['problem'],
): Promise<FastifyReply> {
  const { deps } = context;
  const waiting = await waitingSignIn(deps, handle, hashOf(browser), deps.clock());
  // By the link, in another tab of this browser.
  if (waiting && waiting.row.done_at !== null && sessions.some(({ sub }) => sub === waiting.row.done_sub))
    return reply.redirect(onward, request.method === 'GET' ? 302 : 303);
  if (!waiting || waiting.row.done_at !== null) return stale(context, request, reply, url);
  const { email } = waiting.typed;
  const request_id = problem && request.id;
  const props = { action: url, form_token, client, request: handle, email, problem, request_id, other_url: url };
  const mail_url = devMailUrl(context);
  const purpose = 'sign_in' as const;
  return sendPage(context, reply, (frame) => mailCodePage({ frame, ...props, purpose, mail_url }), {
    status: problem === undefined ? 200 : problem === 'too_many_requests' ? 429 : 400,
  });
}

function stale(context: Context, request: FastifyRequest, reply: FastifyReply, next_url: string): FastifyReply {
  const detail = { check: 'mail_link', expected: 'a link or page that is good', received: 'another' } as const;
  noted(context.deps, request, invalidRequest('nothing waits here', detail), 400);
  return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'stale', next_url }), { status: 400 });
}

function linkDoor(app: FastifyInstance, context: Context, options: ReturnType<typeof limited>): void {
  const { deps } = context;
  const bindingOf = (token: string, browser: string): Binding => [`login-link ${token}`, browser, ''];
  const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;
  route(app, `${pages.login_link}/:token`, {
    options,
    async GET(request, reply) {
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      const opened = await openSignIn(deps, token, hashOf(browser), deps.clock());
      if (!opened) return stale(context, request, reply, urlOf(context, pages.login));
      const action = urlOf(context, `${pages.login_link}/${encodeURIComponent(token)}`);
      const form_token = formToken(deps, bindingOf(token, browser));
      return sendPage(context, reply, (frame) => signInLinkPage({ frame, action, form_token, here: opened.here }));
    },
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(token, browser));
      const since = deps.clock();
      const sessions = await sessionsOf(context, request, since);
      const device = context.cookies.get(request, 'device');
      const outcome = await signInByLink(deps, { token, browser_hash: hashOf(browser), device });
      if (outcome === 'over') return stale(context, request, reply, urlOf(context, pages.login));
      await begin(context, request, reply, { browser, sessions, since }, outcome.person, 'email');
      const { interaction } = outcome;
      const url =
        interaction === undefined ? accountUrl(context, 'overview') : urlOf(context, interactionPath(interaction));
      return reply.redirect(url, 303);
    },
  });
}
