/**
 * Registration: /interaction/{id}/signup for a request in progress (also by prompt=create), /signup for this server itself. Each has the
 * form, and the page that waits until somebody read their mail.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cancel, signedIn } from '../../authorize/interaction.ts';
import { signInProven, type BrowserSignIn } from '../../authorize/sign-in.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { askAgain, askToSignUp, confirmByCode, waitingRegistration } from '../../users/registration.ts';
import type { SignedIn } from '../../users/sign-in.ts';
import { isRegistrationOn } from '../../users/sign-up-policy.ts';
import type { Waiting } from '../../users/waiting.ts';
import { mailCodePage, mailNotePage, type MailCodePageProps } from '../../views/mail-code.ts';
import { signUpPage, type SignUpPageProps } from '../../views/sign-up.ts';
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
import { sessionsOf, setCookies } from './signed-in.ts';

/** Where somebody signs up: for a request in progress, or here. */
interface Place extends Pick<SignUpPageProps, 'form_token' | 'client' | 'login_url' | 'cancel'> {
  /** Where the page is, and its forms go. */
  url: string;
  browser: string;
  sessions: readonly LiveSession[];
  interaction?: string | undefined;
  /** Where an account that was made leads. */
  onward: string;
}

/** Where somebody makes an account, from a sign-in page; undefined where nobody can. */
export const signUpUrl = (context: Context, interaction?: string): string | undefined =>
  isRegistrationOn(context.deps.config)
    ? urlOf(context, interaction === undefined ? pages.signup : interactionPath(interaction, 'create'))
    : undefined;

export function signUp(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  const options = limited(app, deps.config, 'LOGIN_RATE_LIMIT');
  const isOn = isRegistrationOn(deps.config);
  stepDoor(app, context, 'create', {
    options,
    async show(page, request, reply) {
      const place = placeIn(context, page);
      // Turned off while the request waited: whoever has an account can go on.
      if (isOn) await show(context, request, reply, place);
      else reply.redirect(place.login_url, 302);
      return true;
    },
    async take(page, form, request, reply) {
      if (textOf(form, 'action') === 'cancel') await cancel(deps, page.opened);
      else if (isOn) {
        const begun = await take(context, request, reply, placeIn(context, page), form);
        if (begun === 'answered') return true;
        // As after a sign-in by password: only a browser whose script says that it can make passkeys is offered one.
        await signedIn(deps, page.opened, begun.sub, { offers: textOf(form, 'passkeys_possible') === 'yes' });
      }
      return false;
    },
  });
  if (isOn) ownSignUp(app, context, options);
}

function placeIn(context: Context, page: OpenedPage): Place {
  const { id, client } = page.opened;
  const { action: url, form_token } = stepForm(context, page, 'create');
  return {
    url,
    form_token,
    client: clientView(client, page.lang),
    browser: page.browser,
    sessions: page.sessions,
    login_url: urlOf(context, `${interactionPath(id, 'login')}?${SWITCH}`),
    cancel: true,
    interaction: id,
    onward: urlOf(context, interactionPath(id)),
  };
}

function ownSignUp(app: FastifyInstance, context: Context, options: ReturnType<typeof limited>): void {
  const { deps } = context;
  const bindingOf = (browser: string): Binding => ['signup', browser, ''];
  const placeOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Place> => {
    const browser = browserOf(context, request, reply);
    return {
      url: urlOf(context, pages.signup),
      form_token: formToken(deps, bindingOf(browser)),
      browser,
      sessions: await sessionsOf(context, request, deps.clock()),
      login_url: urlOf(context, pages.login),
      cancel: false,
      onward: accountUrl(context, 'overview'),
    };
  };
  route(app, pages.signup, {
    options,
    GET: async (request, reply) => show(context, request, reply, await placeOf(request, reply)),
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const place = await placeOf(request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(place.browser));
      const begun = await take(context, request, reply, place, form);
      return begun === 'answered' ? reply : reply.redirect(place.onward, 303);
    },
  });
}

/** The form; or, for a page that waits in this browser, where it stands. */
async function show(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  handle = textOf(queryOf(request), 'request'),
): Promise<FastifyReply> {
  const { deps } = context;
  if (handle === undefined) return sendForm(context, reply, place, { email: '', name: '' });
  const waiting = await waitingRegistration(deps, handle, hashOf(place.browser), deps.clock());
  if (!waiting) return sendStale(context, request, reply, place);
  const { done_at, done_sub } = waiting.row;
  if (done_at === null) return sendWaiting(context, reply, place, handle, waiting);
  // By the link, in another tab. Where it was opened in another browser, that one is signed in, and this one is not.
  if (place.sessions.some(({ sub }) => sub === done_sub)) return reply.redirect(place.onward, 302);
  return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'confirmed', next_url: place.login_url }));
}

async function take(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  form: Parameters,
): Promise<BrowserSignIn | 'answered'> {
  const handle = textOf(form, 'request');
  const answered = await (handle === undefined
    ? takeForm(context, request, reply, place, form)
    : takeCode(context, request, reply, place, { handle, form }));
  return answered ?? 'answered';
}

/** Takes what was typed, and leads to the page that waits. */
async function takeForm(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  form: Parameters,
): Promise<undefined> {
  const { deps } = context;
  const typed = { email: (textOf(form, 'email') ?? '').trim(), name: (textOf(form, 'name') ?? '').trim() };
  const person = {
    ...typed,
    password: textOf(form, 'new-password') ?? '',
    lang: languageOf(request),
    interaction: place.interaction,
  };
  const outcome = await orThrottled(context, request, reply, () =>
    askToSignUp(deps, person, hashOf(place.browser), requesterOf(request)),
  );
  if (outcome === 'too_many_requests') {
    sendForm(context, reply, place, { ...typed, problem: outcome }, 429);
  } else if ('request' in outcome) {
    reply.redirect(`${place.url}?request=${outcome.request}`, 303);
  } else {
    const problem = 'verdict' in outcome ? outcome.verdict : (`bad_${outcome.problem}` as const);
    const received = typeof problem === 'string' ? problem : problem.refusal;
    const detail = { check: 'sign_up', received } as const;
    noted(deps, request, invalidRequest('an account cannot be made with what was typed', detail), 400);
    sendForm(context, reply, place, { ...typed, problem }, 400);
  }
  return undefined;
}

/** Takes the code, or sends another mail. */
async function takeCode(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  { handle, form }: { handle: string; form: Parameters },
): Promise<BrowserSignIn | undefined> {
  const { deps } = context;
  const since = deps.clock();
  const browser_hash = hashOf(place.browser);
  const waiting = await waitingRegistration(deps, handle, browser_hash, since);
  if (!waiting || waiting.row.done_at !== null) {
    await show(context, request, reply, place, handle);
    return undefined;
  }
  if (textOf(form, 'action') === 'again') {
    const outcome = await orThrottled(context, request, reply, () =>
      askAgain(deps, handle, browser_hash, requesterOf(request)),
    );
    if (outcome === 'too_many_requests') sendWaiting(context, reply, place, handle, waiting, outcome);
    else reply.redirect(outcome === undefined ? place.url : `${place.url}?request=${outcome}`, 303);
    return undefined;
  }
  const device = context.cookies.get(request, 'device');
  const typed = { request: handle, code: textOf(form, 'otp') ?? '', browser_hash, device };
  const outcome = await orThrottled(context, request, reply, () => confirmByCode(deps, typed, requesterOf(request)));
  if (typeof outcome === 'string') {
    if (outcome !== 'too_many_requests') {
      const detail = { check: 'mail_code', received: outcome } as const;
      noted(deps, request, invalidRequest('the code is not right, or no longer good', detail), 400);
    }
    sendWaiting(context, reply, place, handle, waiting, outcome);
    return undefined;
  }
  return begin(context, request, reply, { ...place, since }, outcome.person);
}

/** Signs somebody in who came by a mail. */
export async function begin(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { browser, sessions, since }: Pick<Place, 'browser' | 'sessions'> & { since: Date },
  person: SignedIn,
  via = 'registration',
): Promise<BrowserSignIn> {
  const start = { browser_sessions: sessions, browser: { value: browser, since } };
  const begun = await signInProven(context.deps, person, start, requesterOf(request), via);
  setCookies(context, request, reply, begun);
  return begun;
}

/** What came of asking for mail; a throttle is said on the page. */
export async function orThrottled<T>(
  { deps }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T | 'too_many_requests'> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
    noted(deps, request, error, error.status);
    if (error.retry_after !== undefined) reply.header('retry-after', error.retry_after);
    return 'too_many_requests';
  }
}

type Shown = Pick<SignUpPageProps, 'email' | 'name' | 'problem'>;

function sendForm(context: Context, reply: FastifyReply, place: Place, shown: Shown, status = 200): FastifyReply {
  const { url: action, form_token, client, login_url, cancel: cancels } = place;
  const min_length = context.deps.config.PASSWORD_MIN_LENGTH;
  const props = {
    action,
    form_token,
    client,
    login_url,
    cancel: cancels,
    min_length,
    strength_url: urlOf(context, pages.password_strength),
    email: shown.email.slice(0, 320),
    name: shown.name.slice(0, 128),
    problem: shown.problem,
    request_id: shown.problem && reply.request.id,
  };
  return sendPage(context, reply, (frame) => signUpPage({ frame, ...props }), { status });
}

function sendWaiting(
  context: Context,
  reply: FastifyReply,
  { url, form_token, client }: Place,
  request: string,
  { typed: { email } }: Waiting,
  problem?: MailCodePageProps['problem'],
): FastifyReply {
  const mail_url = devMailUrl(context);
  const request_id = problem && reply.request.id;
  const props = { action: url, form_token, client, request, email, problem, request_id, other_url: url, mail_url };
  const status = problem === undefined ? 200 : problem === 'too_many_requests' ? 429 : 400;
  return sendPage(context, reply, (frame) => mailCodePage({ frame, ...props }), { status });
}

function sendStale(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { url }: Pick<Place, 'url'>,
): FastifyReply {
  const detail = { check: 'mail_link', expected: 'a page that waits in this browser', received: 'another' } as const;
  noted(context.deps, request, invalidRequest('nothing waits on this page', detail), 400);
  return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'stale', next_url: url }), { status: 400 });
}
