/** /verify/{token}: behind the link of a mail. Opening it changes nothing; its button does. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import { confirmByLink, openRegistration, type OpenedLink } from '../../users/registration.ts';
import { isRegistrationOn } from '../../users/sign-up-policy.ts';
import { owedBy } from '../../users/factors/policy.ts';
import { openVerification, verifyAddress } from '../../users/verification.ts';
import { confirmAddressPage, mailNotePage, type ConfirmAddressPageProps } from '../../views/mail-code.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf, route } from '../request.ts';
import { accountUrl } from './account/person.ts';
import { browserOf, hashOf, interactionPath, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';
import { begin } from './sign-up.ts';

export function verify(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  const bindingOf = (token: string, browser: string): Binding => [`verify ${token}`, browser, ''];

  const show = (
    reply: FastifyReply,
    {
      token,
      browser,
      ...props
    }: { token: string; browser: string } & Pick<ConfirmAddressPageProps, 'email' | 'elsewhere' | 'anew' | 'problem'>,
  ): FastifyReply => {
    const action = urlOf(context, `${pages.verify}/${encodeURIComponent(token)}`);
    const form_token = formToken(deps, bindingOf(token, browser));
    const min_length = deps.config.PASSWORD_MIN_LENGTH;
    const strength_url = urlOf(context, pages.password_strength);
    const request_id = props.problem && reply.request.id;
    const status = props.problem === undefined ? 200 : 400;
    return sendPage(
      context,
      reply,
      (frame) =>
        confirmAddressPage({ frame, action, form_token, min_length, strength_url, link: token, request_id, ...props }),
      { status },
    );
  };
  const stale = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const detail = { check: 'mail_link', expected: 'a link that is good', received: 'another' } as const;
    noted(deps, request, invalidRequest('the link is not good any more', detail), 400);
    const next_url = urlOf(context, isRegistrationOn(deps.config) ? pages.signup : pages.login);
    return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'stale', next_url }), { status: 400 });
  };
  /** What the link is for: an account to be made, or one that there is. */
  const open = async (
    token: string,
    browser: string,
    sessions: readonly LiveSession[],
    now: Date,
  ): Promise<Linked | undefined> => {
    const registration = isRegistrationOn(deps.config)
      ? await openRegistration(deps, token, hashOf(browser), now)
      : undefined;
    if (registration) return { registration, email: registration.waiting.typed.email, elsewhere: !registration.here };
    const user = await openVerification(deps, token, now);
    // A sign-in that still owes something is nobody's yet.
    const own = sessions.find(({ sub }) => sub === user?.sub);
    const sid = own && owedBy(deps.config, own) === 'nothing' ? own.sid : undefined;
    return user && { registration: undefined, email: user.email ?? '', elsewhere: sid === undefined, sid };
  };

  route(app, `${pages.verify}/:token`, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async GET(request, reply) {
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      const now = deps.clock();
      const linked = await open(token, browser, await sessionsOf(context, request, now), now);
      if (!linked) return stale(request, reply);
      const { email, elsewhere, registration } = linked;
      return show(reply, { token, browser, email, elsewhere, anew: !registration });
    },
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(token, browser));
      const since = deps.clock();
      const sessions = await sessionsOf(context, request, since);
      const linked = await open(token, browser, sessions, since);
      if (!linked) return stale(request, reply);
      const { registration: opened, email, elsewhere, sid } = linked;
      const password = textOf(form, 'new-password') ?? '';
      const again = (problem: NonNullable<ConfirmAddressPageProps['problem']>): FastifyReply => {
        const received = problem === 'taken' ? problem : problem.refusal;
        const detail = { check: 'sign_up', received } as const;
        noted(deps, request, invalidRequest('an account cannot be made with what was typed', detail), 400);
        return show(reply, { token, browser, email, elsewhere, anew: !opened, problem });
      };
      if (!opened) {
        const pressed = sid === undefined ? { password } : { sid };
        const outcome = await verifyAddress(deps, token, pressed, requesterOf(request));
        if (outcome === 'over') return stale(request, reply);
        if (outcome !== 'done') return again(outcome.verdict);
        const next_url = accountUrl(context, 'overview');
        return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'confirmed', next_url }));
      }
      const device = context.cookies.get(request, 'device');
      const outcome = await confirmByLink(deps, { link: { token, opened }, password, device }, requesterOf(request));
      if (outcome === 'over' || outcome === 'wrong') return stale(request, reply);
      if (outcome === 'taken' || 'verdict' in outcome) {
        return again(outcome === 'taken' ? outcome : outcome.verdict);
      }
      await begin(context, request, reply, { browser, sessions, since }, outcome.person);
      const onward = opened.here ? outcome.interaction : undefined;
      const url = onward === undefined ? accountUrl(context, 'overview') : urlOf(context, interactionPath(onward));
      return reply.redirect(url, 303);
    },
  });
}

interface Linked {
  registration: OpenedLink | undefined;
  email: string;
  elsewhere: boolean;
  /** The session of the account that there is, where this browser has one. */
  sid?: string | undefined;
}

const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;
