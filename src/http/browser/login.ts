/** Sign-in pages: /interaction/{id}/login for a request in progress, /login for this server itself (docs/specification.md §4). */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { cancel, signedIn } from '../../authorize/interaction.ts';
import { asksForFresh } from '../../authorize/next-step.ts';
import { isAskedFor } from '../../authorize/person.ts';
import { signInBrowser, signInForToken, type BrowserSignIn } from '../../authorize/sign-in.ts';
import { pages, type AccountPageName } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { parseParameters, textOf, type Parameters } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import type { ChallengeBinding } from '../../users/factors/passkey.ts';
import { loginPage, type LoginPageProps } from '../../views/login.ts';
import { loginSentences } from '../../views/sentences/login.ts';
import { passkeySentences } from '../../views/sentences/passkey.ts';
import type { Language } from '../../languages/index.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { proofIn } from '../../users/second-factor.ts';
import { accountUrl, destinationOf, loginFor } from './account/person.ts';
import { clientView } from './client-view.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { forgotUrl } from './forgot-password.ts';
import { formToken, isFromBrowser, requireFormToken, requireSameOrigin } from './forgery.ts';
import { stepDoor, stepForm, SWITCH, switchUrl, type OpenedPage } from './interaction.ts';
import { bringsPasskey, passkeyCredentials, passkeyProps } from './passkey.ts';
import { emailSignInUrl } from './email-sign-in.ts';
import { signUpUrl } from './sign-up.ts';
import { personView, sessionsOf, setCookies } from './signed-in.ts';
import { leaveFor, offeredUpstreams, outcomeIn, outcomeText, type OfferedUpstreams } from './upstream.ts';

const credentials = z.object({ username: z.string().min(1).max(320), password: z.string().min(1).max(8192) });

export function login(app: FastifyInstance, context: Context): void {
  const options = limited(app, context.deps.config, 'LOGIN_RATE_LIMIT');
  interactionLogin(app, context, options);
  ownLogin(app, context, options);
}

function interactionLogin(app: FastifyInstance, context: Context, options: RouteShorthandOptions): void {
  const { deps } = context;
  const challengeOf = ({ opened, browser }: OpenedPage): ChallengeBinding => ['sign-in', browser, opened.id];
  const show = async (reply: FastifyReply, page: OpenedPage, problem?: Problem): Promise<void> => {
    const { client, request } = page.opened;
    const fixed = fixedOf(page);
    sendLogin(context, reply, {
      ...stepForm(context, page, 'login'),
      client: clientView(client, page.lang),
      username: problem?.username ?? fixed?.username ?? request.login_hint ?? '',
      fixed_account: fixed && personView(fixed),
      switch_url: switchUrl(context, page.opened),
      forgot_url: forgotUrl(context, page.opened.id),
      signup_url: fixed ? undefined : signUpUrl(context, page.opened.id),
      email_url: fixed ? undefined : emailSignInUrl(context, page.opened.id),
      cancel: true,
      passkey: await passkeyProps(deps, challengeOf(page), fixed, problem?.refusal),
      upstreams: await offeredUpstreams(context),
      problem: aboutFixed(fixed, problem),
    });
  };

  stepDoor(app, context, 'login', {
    options,
    async show(page, request, reply) {
      const switches = (request.query as { text: string }).text === SWITCH;
      if (!switches && page.opened.step !== 'login') return false;
      await show(reply, switches ? asStranger(page) : page);
      return true;
    },
    async take(page, form, request, reply) {
      if (textOf(form, 'action') === 'cancel') {
        await cancel(deps, page.opened);
        return false;
      }
      const elsewhere = await elsewhereOf(context, form);
      if (elsewhere) {
        const { id, request: asked, row } = page.opened;
        const login_hint = elsewhere.typed ?? asked.login_hint;
        // Where somebody has to prove anew that it is them, a provider that does not say when they did is not believed.
        const needs_auth_time = asksForFresh(asked) || (page.opened.step === 'login' && fixedOf(page) !== undefined);
        const wishes = { login_hint, fresh: row.sign_in_after !== null, max_age: asked.max_age, needs_auth_time };
        await leaveFor(context, request, reply, elsewhere.upstream, { kind: 'interaction', id }, wishes);
        return true;
      }
      const browser = browserOf(context, request, reply);
      const passkey = { challenge: challengeOf(page), confirms: fixedOf(page) };
      const outcome = await trySignIn(context, request, browser, form, page.sessions, 'interaction', passkey);
      if ('problem' in outcome) {
        await show(reply, page, outcome);
        return true;
      }
      setCookies(context, request, reply, outcome);
      // Only a browser whose script says that it can make passkeys is offered one.
      const offers = !bringsPasskey(form) && textOf(form, 'passkeys_possible') === 'yes';
      await signedIn(deps, page.opened, outcome.sub, { offers });
      return false;
    },
  });
}

/** Signed in, but not freshly enough: the same person is asked again, or says who else they are. */
const fixedOf = (page: OpenedPage): LiveSession | undefined =>
  isReauthentication(page) ? page.opened.session : undefined;

/** Is it the person signed in who has to prove it again, and not somebody else? */
const isReauthentication = ({ opened: { row, session, request } }: OpenedPage): boolean => {
  const switched = row.sign_in_after !== null && row.sign_in_after > row.created_at && row.selected_sub === null;
  return !switched && session !== undefined && isAskedFor(request, session.sub);
};

/** The same page without the person who is signed in. */
const asStranger = (page: OpenedPage): OpenedPage => ({ ...page, opened: { ...page.opened, session: undefined } });

function ownLogin(app: FastifyInstance, context: Context, options: RouteShorthandOptions): void {
  const { deps } = context;
  const action = urlOf(context, pages.login);
  const challengeOf = (browser: string): ChallengeBinding => ['sign-in', browser, 'login'];
  const show = async (
    reply: FastifyReply,
    browser: string,
    back: { to: AccountPageName | undefined; session: LiveSession | undefined },
    problem?: Problem,
  ): Promise<void> => {
    // On the way to a page of the account whoever is signed in confirms that it is them, or says who else they are.
    const fixed = back.to && back.session;
    sendLogin(context, reply, {
      action: back.to ? loginFor(context, back.to) : action,
      form_token: formToken(deps, ['login', browser, '']),
      username: problem?.username ?? fixed?.username ?? '',
      fixed_account: fixed && personView(fixed),
      switch_url: fixed && action,
      reason: fixed && 'fresh',
      forgot_url: forgotUrl(context),
      signup_url: fixed ? undefined : signUpUrl(context),
      email_url: fixed ? undefined : emailSignInUrl(context),
      cancel: false,
      passkey: await passkeyProps(deps, challengeOf(browser), fixed, problem?.refusal),
      upstreams: await offeredUpstreams(context),
      problem: aboutFixed(fixed, problem),
    });
  };

  route(app, pages.login, {
    options,
    async GET(request, reply) {
      const to = destinationOf(request);
      const [session] = to ? await sessionsOf(context, request, deps.clock()) : [];
      await show(reply, browserOf(context, request, reply), { to, session });
      return reply;
    },
    async POST(request, reply) {
      const form = parametersOf(request);
      // Every browser says where a form comes from; without that it is a script, which carries no cookies to abuse.
      if (isFromBrowser(request)) requireSameOrigin(deps, request);
      if (request.accepts().type(['json', 'html']) !== 'html') return signInScript(context, request, reply, form);
      const browser = browserOf(context, request, reply);
      if (isFromBrowser(request)) requireFormToken(deps, textOf(form, 'form_token'), ['login', browser, '']);
      const to = destinationOf(request);
      const sessions = await sessionsOf(context, request, deps.clock());
      const elsewhere = await elsewhereOf(context, form);
      if (elsewhere) {
        const fresh = to !== undefined && sessions.length > 0;
        const wishes = { login_hint: elsewhere.typed, fresh, needs_auth_time: fresh };
        await leaveFor(context, request, reply, elsewhere.upstream, { kind: 'login', ...(to && { to }) }, wishes);
        return reply;
      }
      const passkey = { challenge: challengeOf(browser), confirms: to && sessions[0] };
      const outcome = await trySignIn(context, request, browser, form, sessions, 'login', passkey);
      if ('problem' in outcome) {
        await show(reply, browser, { to, session: sessions[0] }, outcome);
        return reply;
      }
      setCookies(context, request, reply, outcome);
      // What opens the account is asked there, for whoever comes.
      return reply.redirect(accountUrl(context, to ?? 'overview'), 303);
    },
  });
}

/** The provider that somebody chose, or that the address they typed leads to: then its password is nobody's business here. */
async function elsewhereOf(
  context: Context,
  form: Parameters,
): Promise<{ upstream: string; typed?: string } | undefined> {
  const chosen = textOf(form, 'upstream');
  if (chosen !== undefined) return { upstream: chosen };
  const typed = textOf(form, 'username')?.trim() ?? '';
  // A passkey says by itself whose it is.
  if (!typed.includes('@') || bringsPasskey(form)) return undefined;
  const home = (await offeredUpstreams(context)).homeOf(typed);
  return home === undefined ? undefined : { upstream: home, typed };
}

/** POST /login for a script: the token response of docs/specification.md, or RFC 6749 JSON. */
async function signInScript(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Parameters,
): Promise<FastifyReply> {
  const { deps, cookies } = context;
  if (isFromBrowser(request) && isForm(request)) {
    const binding = ['login', browserOf(context, request, reply), ''] as const;
    requireFormToken(deps, textOf(form, 'form_token'), binding);
  }
  const { username, password } = parseParameters(credentials, form);
  const device = cookies.get(request, 'device');
  return reply.send(await signInForToken(deps, { username, password, device }, requesterOf(request), proofIn(form)));
}

const isForm = (request: FastifyRequest): boolean =>
  !/^application\/json\b/i.test(request.headers['content-type'] ?? '');

function parametersOf(request: FastifyRequest): Parameters {
  if (isForm(request)) {
    requireForm(request);
    return formOf(request);
  }
  const body = z.record(z.string(), z.unknown()).safeParse(request.body);
  if (!body.success) throw invalidRequest('the body must be a JSON object', { check: 'form' });
  return body.data as Parameters;
}

interface Problem {
  /** The sentence about it. */
  problem: Said;
  username: string;
  refusal: OAuthError;
}

/** Signs in, or says what the form has to say. A wrong name and a wrong password are one sentence. */
async function trySignIn(
  { deps, cookies }: Context,
  request: FastifyRequest,
  browser: string,
  form: Parameters,
  browser_sessions: readonly LiveSession[],
  via: string,
  { challenge, confirms }: { challenge: ChallengeBinding; confirms: LiveSession | undefined },
): Promise<BrowserSignIn | Problem> {
  const since = deps.clock();
  const username = textOf(form, 'username') ?? '';
  const device = cookies.get(request, 'device');
  const parsed = credentials.safeParse({ username, password: textOf(form, 'password') ?? '' });
  try {
    if (!parsed.success && !bringsPasskey(form))
      throw invalidRequest('the username or the password is missing', {
        check: 'parameter',
        expected: 'username and password',
        received: parsed.error.issues.map(({ path }) => `${String(path[0])} is missing or too long`).join(', '),
      });
    return await signInBrowser(
      deps,
      parsed.success ? { ...parsed.data, device } : passkeyCredentials(form, challenge, confirms, device),
      { browser_sessions, browser: { value: browser, since } },
      requesterOf(request),
      via,
      proofIn(form),
    );
  } catch (error) {
    if (!(error instanceof OAuthError) || error.status >= 500) throw error;
    noted(deps, request, error, error.error === 'too_many_requests' ? error.status : 400);
    return {
      problem:
        error.failed.check === 'sign_in_beside'
          ? 'concurrent'
          : (ABOUT_PASSKEYS.find((check) => check === error.failed.check) ??
            SAID.find((said) => said === error.error) ??
            'other_problem'),
      username: username.slice(0, 320),
      refusal: error,
    };
  }
}

/** Errors with a sentence of their own. */
const SAID = ['invalid_request', 'invalid_credentials', 'too_many_requests', 'access_denied'] as const;
/** Where it says who is asked, only one of the two can be wrong: `wrong_password`. */
type Said = (typeof SAID)[number] | AboutPasskey | 'wrong_password' | 'concurrent' | 'other_problem';

/** The checks of passkeys that have one. */
const ABOUT_PASSKEYS = ['passkey', 'passkey_unknown', 'passkey_challenge', 'passkey_count'] as const;
type AboutPasskey = (typeof ABOUT_PASSKEYS)[number];

const isOfPasskey = (said: Said): said is AboutPasskey => ABOUT_PASSKEYS.some((check) => check === said);

const aboutFixed = (fixed: LiveSession | undefined, problem: Problem | undefined): Problem | undefined =>
  fixed && problem?.problem === 'invalid_credentials' ? { ...problem, problem: 'wrong_password' } : problem;

type Shown = Omit<LoginPageProps, 'frame' | 'problem' | 'reason' | 'upstreams'> & {
  problem: Problem | undefined;
  upstreams: OfferedUpstreams;
  /** The sentence about why it is asked. */
  reason?: 'fresh' | undefined;
};

const sentenceOf = (said: Said, lang: Language): string =>
  isOfPasskey(said) ? passkeySentences(lang)[said] : loginSentences(lang)[said];

/**
 * Problems stay at the URL where they happened, status 400; a throttle says 429 and when to come back. One that came of a
 * visit to a provider is named by the address.
 */
function sendLogin(
  context: Context,
  reply: FastifyReply,
  { problem, reason, upstreams, ...props }: Shown,
): FastifyReply {
  const throttled = problem?.refusal.error === 'too_many_requests';
  if (problem?.refusal.retry_after !== undefined) reply.header('retry-after', problem.refusal.retry_after);
  const told = problem ? undefined : outcomeIn(reply.request, upstreams.views);
  const wrong = told?.outcome === 'connect' ? undefined : told;
  const status = problem || wrong ? (throttled ? 429 : 400) : 200;
  return sendPage(
    context,
    reply,
    (frame) =>
      loginPage({
        frame,
        ...props,
        problem: problem ? sentenceOf(problem.problem, frame.lang) : wrong && outcomeText(frame.lang, wrong),
        note: told && !wrong ? outcomeText(frame.lang, told) : undefined,
        reason: reason && loginSentences(frame.lang)[reason],
        problem_of_passkey: problem && isOfPasskey(problem.problem),
        request_id: problem && reply.request.id,
        upstreams: upstreams.views,
        password_optional: upstreams.byAddress,
      }),
    { status },
  );
}
