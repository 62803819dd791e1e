/** /invitation/{token}: somebody whom an operator invited chooses the first password of their account, and is signed in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { acceptInvitation, openInvitation } from '../../users/invitations.ts';
import { invitationPage, type InvitationPageProps } from '../../views/invitation.ts';
import { mailNotePage } from '../../views/mail-code.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { accountUrl } from './account/person.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';
import { begin } from './sign-up.ts';

export function invitation(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  const bindingOf = (token: string, browser: string): Binding => [`invitation ${token}`, browser, ''];

  /** The page, where the link is good; another one where it is not. */
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    problem?: InvitationPageProps['problem'],
  ): Promise<FastifyReply> => {
    const token = tokenOf(request);
    const user = await openInvitation(deps, token, deps.clock());
    if (!user) return stale(request, reply);
    const props = {
      action: urlOf(context, `${pages.invitation}/${encodeURIComponent(token)}`),
      form_token: formToken(deps, bindingOf(token, browserOf(context, request, reply))),
      email: user.email ?? '',
      min_length: deps.config.PASSWORD_MIN_LENGTH,
      strength_url: urlOf(context, pages.password_strength),
      link: token,
      problem,
      request_id: problem && request.id,
    };
    const status = problem === undefined ? 200 : 400;
    return sendPage(context, reply, (frame) => invitationPage({ frame, ...props }), { status });
  };
  const stale = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const detail = { check: 'mail_link', expected: 'a link that is good', received: 'another' } as const;
    noted(deps, request, invalidRequest('the invitation is not good any more', detail), 400);
    const next_url = urlOf(context, pages.login);
    return sendPage(context, reply, (frame) => mailNotePage({ frame, note: 'stale', next_url }), { status: 400 });
  };

  route(app, `${pages.invitation}/:token`, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    GET: (request, reply) => show(request, reply),
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      requireSameOrigin(deps, request);
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(token, browser));
      const since = deps.clock();
      const sessions = await sessionsOf(context, request, since);
      const device = context.cookies.get(request, 'device');
      const given = { token, password: textOf(form, 'new-password') ?? '', device };
      const outcome = await acceptInvitation(deps, given, requesterOf(request));
      if (outcome === 'over') return stale(request, reply);
      if ('verdict' in outcome) {
        const detail = { check: 'new_password', received: outcome.verdict.refusal } as const;
        noted(deps, request, invalidRequest('the password cannot be set', detail), 400);
        return show(request, reply, outcome.verdict);
      }
      await begin(context, request, reply, { browser, sessions, since }, outcome, 'invitation');
      return reply.redirect(accountUrl(context, 'overview'), 303);
    },
  });
}

const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;
