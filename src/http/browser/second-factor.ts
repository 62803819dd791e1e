/**
 * The second factor of a sign-in: the step /interaction/{id}/second-factor, which exists once and asks whatever is missing, and
 * /login/second-factor for this server's own pages.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { cancel, goOnWithout, signedIn, signInAgain } from '../../authorize/interaction.ts';
import { isWish, owed } from '../../authorize/next-step.ts';
import { setUpPasskey, setUpTotp, type SetUp } from '../../authorize/own-factors.ts';
import { readyForOffer } from '../../authorize/passkey-offer.ts';
import { showSecondFactor } from '../../authorize/sign-in.ts';
import { pages } from '../../protocol/endpoint.ts';
import { OAuthError } from '../../protocol/error.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import { isFresh, type LiveSession } from '../../sessions/index.ts';
import { checkSetup, readSetup } from '../../users/enrolment.ts';
import type { ChallengeBinding } from '../../users/factors/passkey.ts';
import { areAsked, owedBy } from '../../users/factors/policy.ts';
import { proofIn } from '../../users/second-factor.ts';
import type { SetupProps } from '../../views/authenticator.ts';
import type { ClientView } from '../../views/client.ts';
import { secondFactorPage, type SecondFactorPageProps, type SecondFactorProblem } from '../../views/second-factor.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf, route } from '../request.ts';
import { accountUrl, destinationOf, loginFor, secondFactorFor } from './account/person.ts';
import { clientView } from './client-view.ts';
import { browserOf, interactionPath, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';
import { PageError, words } from './error-page.ts';
import { stepDoor, stepForm, switchUrl, type OpenedPage } from './interaction.ts';
import { passkeysAsked } from './passkey.ts';
import { codesFile } from './recovery-codes.ts';
import { keepElevated, newSetup, setupView } from './second-factor-setup.ts';
import { personView, sessionsOf } from './signed-in.ts';

/** Where somebody is asked. */
interface Place {
  session: LiveSession;
  sessions: readonly LiveSession[];
  browser: string;
  form: { action: string; form_token: string };
  client?: ClientView;
  switch_url: string;
  /** May they leave, or go on without? */
  cancel: boolean;
  later: boolean;
  /** Where it goes on. */
  onward: string;
  via: string;
}

/** The query of the page where a recovery code is asked for. */
const RECOVERY = 'recovery';

export function secondFactor(app: FastifyInstance, context: Context): void {
  const options = limited(app, context.deps.config, 'LOGIN_RATE_LIMIT');
  interactionStep(app, context, options);
  ownStep(app, context, options);
}

function interactionStep(app: FastifyInstance, context: Context, options: RouteShorthandOptions): void {
  const { deps } = context;
  const placeOf = (page: OpenedPage, session: LiveSession): Place => ({
    session,
    sessions: page.sessions,
    browser: page.browser,
    form: stepForm(context, page, 'second_factor'),
    client: clientView(page.opened.client, page.lang),
    switch_url: switchUrl(context, page.opened),
    cancel: true,
    later: isWish(page.opened),
    onward: urlOf(context, interactionPath(page.opened.id)),
    via: 'interaction',
  });

  stepDoor(app, context, 'second_factor', {
    options,
    async show(page, request, reply) {
      const { step, session } = page.opened;
      if (step !== 'second_factor' || !session) return false;
      if (owed(page.opened) !== 'nothing' && !areAsked(deps.config)) throw impossible(session);
      await show(context, reply, placeOf(page, session), { recovery: isRecovery(request) });
      return true;
    },
    async take(page, form, request, reply) {
      const { opened } = page;
      const { session } = opened;
      const action = textOf(form, 'action');
      if (action === 'cancel') await cancel(deps, opened);
      if (action === 'download' && session) return download(context, request, reply, form);
      if (opened.step !== 'second_factor' || !session || action === 'cancel') return false;
      const place = placeOf(page, session);
      if (action === 'later' && place.later) await goOnWithout(deps, opened);
      else if (action === 'confirm') await signInAgain(deps, opened);
      else {
        if ((await take(context, request, reply, place, form)) === 'answered') return true;
        await signedIn(deps, opened, session.sub);
        return false;
      }
      return false;
    },
  });
}

function ownStep(app: FastifyInstance, context: Context, options: RouteShorthandOptions): void {
  const { deps } = context;
  /** Whoever is signed in, unless there is nothing to ask of them here: then they were sent on. */
  const placeOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Place | undefined> => {
    const now = deps.clock();
    const sessions = await sessionsOf(context, request, now);
    const [session] = sessions;
    const to = destinationOf(request) ?? 'overview';
    const missing = session && owedBy(deps.config, session);
    // Nobody sets up anything in a session of last week.
    const isStale = session && missing === 'enrolment' && !isFresh(session, now);
    if (!session || missing === 'nothing' || isStale) {
      const status = request.method === 'GET' ? 302 : 303;
      const isDownload = request.method === 'POST' && session && missing === 'nothing';
      if (!isDownload) {
        reply.redirect(session && !isStale ? accountUrl(context, to) : loginFor(context, to), status);
        return undefined;
      }
    }
    const browser = browserOf(context, request, reply);
    return {
      session,
      sessions,
      browser,
      form: {
        action: secondFactorFor(context, to),
        form_token: formToken(deps, bindingOf(browser, session)),
      },
      switch_url: urlOf(context, pages.login),
      cancel: false,
      later: false,
      onward: accountUrl(context, to),
      via: 'login',
    };
  };

  route(app, pages.second_factor, {
    options,
    async GET(request, reply) {
      const place = await placeOf(request, reply);
      if (place) await show(context, reply, place, { recovery: isRecovery(request) });
      return reply;
    },
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const place = await placeOf(request, reply);
      if (!place) return reply;
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(place.browser, place.session));
      if (textOf(form, 'action') === 'download') await download(context, request, reply, form);
      else if (owedBy(deps.config, place.session) === 'nothing') reply.redirect(place.onward, 303);
      else if ((await take(context, request, reply, place, form)) === 'shown') reply.redirect(place.onward, 303);
      return reply;
    },
  });
}

const bindingOf = (browser: string, { sid }: LiveSession): Binding => ['own second factor', browser, sid];

const isRecovery = (request: FastifyRequest): boolean =>
  new URLSearchParams((request.query as { text: string }).text).has(RECOVERY);

/** What a challenge of the page is bound to: where its form goes, in this browser. */
const boundTo = ({ form, browser }: Place): readonly [page: string, browser: string] => [form.action, browser];

/** What a new passkey of the page is bound to. */
const newPasskeyOn = ({ form, browser, session }: Place): ChallengeBinding => [
  'create',
  browser,
  `${form.action} ${session.sid}`,
];

/** The same page, for the other kind of code. */
function urlFor({ form }: Place, kind: 'code' | 'recovery'): string {
  if (kind === 'code') return form.action;
  return `${form.action}${form.action.includes('?') ? '&' : '?'}${RECOVERY}`;
}

interface Shown {
  recovery?: boolean;
  /** The secret that was shown before: the form again shows no other. */
  setup?: SetupProps | undefined;
  refusal?: OAuthError;
  problem?: SecondFactorProblem;
}

/** Shows what is missing: a code, or how to come by one. Problems stay where they happened, with 400. */
async function show(
  context: Context,
  reply: FastifyReply,
  place: Place,
  { recovery = false, setup, refusal, problem }: Shown = {},
): Promise<void> {
  const { deps } = context;
  const { session, form, client, switch_url, later } = place;
  const now = deps.clock();
  const common = {
    ...form,
    client,
    person: personView(session),
    switch_url,
    cancel: place.cancel,
    later,
    problem,
    request_id: problem === undefined ? undefined : reply.request.id,
  };
  const send = (props: Parts): void => {
    if (refusal?.retry_after !== undefined) reply.header('retry-after', refusal.retry_after);
    const throttled = refusal?.error === 'too_many_requests' ? 429 : 400;
    sendPage(context, reply, (frame) => secondFactorPage({ frame, ...common, ...props }), {
      status: problem === undefined ? 200 : throttled,
    });
  };
  if (session.second_factors.length > 0) {
    const hasCode = session.second_factors.includes('totp');
    const passkey = await passkeysAsked(deps, session, boundTo(place));
    const other = hasCode || passkey !== undefined;
    if (recovery || !other) send({ shows: 'recovery', code_url: other ? urlFor(place, 'code') : undefined });
    else send({ shows: hasCode ? 'code' : 'passkey', recovery_url: urlFor(place, 'recovery'), passkey });
  } else if (!isFresh(session, now) && !setup) send({ shows: 'confirm' });
  else {
    const ready = await readyForOffer(deps, session, newPasskeyOn(place));
    const create = ready && JSON.stringify(ready.options);
    send({ shows: 'setup', setup: setup ?? newSetup(context, session, now), create });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Parts = DistributiveOmit<
  SecondFactorPageProps,
  'frame' | 'action' | 'form_token' | 'client' | 'person' | 'switch_url' | 'cancel' | 'later' | 'problem' | 'request_id'
>;

/** Takes a code, or what was set up. `shown`: it goes on; else the page was sent. */
async function take(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  form: Parameters,
): Promise<'shown' | 'answered'> {
  const { deps } = context;
  const { session, browser, via } = place;
  const given = proofIn(form);
  const recovery = given?.factor === 'recovery_code' || textOf(form, 'action') === 'recovery';
  const again = async (refusal: OAuthError, problem: SecondFactorProblem, setup?: SetupProps): Promise<'answered'> => {
    noted(deps, request, refusal, refusal.error === 'too_many_requests' ? refusal.status : 400);
    await show(context, reply, place, { recovery, setup, refusal, problem });
    return 'answered';
  };
  if (session.second_factors.length === 0) return takeSetup(context, request, reply, place, form, again);
  if (!given) return again(NOTHING(session), recovery ? 'no_recovery_code' : 'no_code');
  try {
    const handle = await showSecondFactor(
      deps,
      session,
      given,
      { browser, bound_to: boundTo(place), via },
      requesterOf(request),
    );
    keepElevated(context, request, reply, place, handle);
    return 'shown';
  } catch (error) {
    if (!(error instanceof OAuthError) || error.status >= 500) throw error;
    return again(error, problemIn(error, recovery, given.factor === 'passkey'));
  }
}

async function takeSetup(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  form: Parameters,
  again: (refusal: OAuthError, problem: SecondFactorProblem, setup?: SetupProps) => Promise<'answered'>,
): Promise<'shown' | 'answered'> {
  const { deps } = context;
  const { session, browser, via } = place;
  const now = deps.clock();
  let done: SetUp;
  if (textOf(form, 'action') === 'create') {
    const answer = textOf(form, 'passkey');
    const creation = { sub: session.sub, answer, challenge: newPasskeyOn(place), name: '' };
    try {
      done = await setUpPasskey(deps, session, creation, { browser, via }, requesterOf(request));
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status >= 500) throw error;
      return again(error, problemIn(error, false, true));
    }
  } else {
    const sealed = textOf(form, 'setup') ?? '';
    const secret = readSetup(deps, session, sealed, now);
    if (!secret) return again(NOTHING(session), 'too_late');
    const totp = checkSetup(deps, session, secret, textOf(form, 'otp') ?? '', now);
    if (!totp) return again(NOTHING(session), 'wrong_code', setupView(deps.config.ISSUER, session, secret, sealed));
    done = await setUpTotp(deps, session, totp, { browser, via, fresh: false }, requesterOf(request));
  }
  const { handle, codes } = done;
  keepElevated(context, request, reply, place, handle);
  if (!codes) return 'shown';
  const { form: own, client, switch_url, cancel, later, onward } = place;
  const common = { ...own, client, person: personView(session), switch_url, cancel, later, onward };
  sendPage(context, reply, (frame) => secondFactorPage({ frame, ...common, shows: 'codes', codes: { ...own, codes } }));
  return 'answered';
}

async function download(
  context: Context,
  _request: FastifyRequest,
  reply: FastifyReply,
  form: Parameters,
): Promise<boolean> {
  codesFile(context, reply, textOf(form, 'codes'));
  return true;
}

function problemIn({ error, failed }: OAuthError, recovery: boolean, isOfPasskey: boolean): SecondFactorProblem {
  if (failed.check === 'second_factor_key') return 'lost';
  if (failed.check.startsWith('passkey') || isOfPasskey)
    return error === 'too_many_requests' ? 'too_many' : 'wrong_passkey';
  if (error === 'too_many_requests') return 'too_many';
  if (error === 'access_denied') return 'ended';
  return recovery ? 'wrong_recovery_code' : 'wrong_code';
}

const NOTHING = ({ sub }: LiveSession): OAuthError =>
  new OAuthError('invalid_request', 'the code is missing or not right', {
    check: 'second_factor',
    expected: 'a code',
    received: 'none, or another',
    sub,
  });

/** A client wants what this server asks of nobody. */
const impossible = ({ sub }: LiveSession): PageError =>
  new PageError(
    new OAuthError('unmet_authentication_requirements', 'the application requires a second factor', {
      check: 'person',
      expected: 'a second factor',
      received: 'SECOND_FACTOR=off',
      sub,
    }),
    words((t, advice) => ({ heading: t.asks_more, advice: advice.asks_more })),
  );
