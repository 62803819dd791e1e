/** /invitation/{token}: somebody whom an operator invited chooses a password or makes a passkey, and is signed in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { acceptInvitation, askForPasskey, openInvitation } from '../../users/invitations.ts';
import { invitationPage, type InvitationPageProps } from '../../views/invitation.ts';
import { mailNotePage } from '../../views/mail-code.ts';
import { codesPage } from '../../views/recovery-codes.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf, route } from '../request.ts';
import { accountUrl } from './account/person.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';
import { codesFile } from './recovery-codes.ts';
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
    const now = deps.clock();
    const user = await openInvitation(deps, token, now);
    if (!user) return stale(request, reply);
    const browser = browserOf(context, request, reply);
    const props = {
      action: urlOf(context, `${pages.invitation}/${encodeURIComponent(token)}`),
      form_token: formToken(deps, bindingOf(token, browser)),
      options: JSON.stringify(await askForPasskey(deps, { user, token, browser }, now)),
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
      const form = formFromHere(deps, request);
      const token = tokenOf(request);
      const browser = browserOf(context, request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(token, browser));
      const action = textOf(form, 'action');
      // The codes of an invitation that was accepted: the page that shows them is the only one that has them.
      if (action === 'download') return codesFile(context, reply, textOf(form, 'codes'));
      const since = deps.clock();
      const sessions = await sessionsOf(context, request, since);
      const device = context.cookies.get(request, 'device');
      const chosen =
        action === 'create'
          ? { passkey: textOf(form, 'passkey'), browser }
          : { password: textOf(form, 'new-password') ?? '' };
      const outcome = await accept(request, { token, device, ...chosen });
      if (outcome === 'over') return stale(request, reply);
      if (outcome === 'not_created') return show(request, reply, outcome);
      if ('verdict' in outcome) {
        const detail = { check: 'new_password', received: outcome.verdict.refusal } as const;
        noted(deps, request, invalidRequest('the password cannot be set', detail), 400);
        return show(request, reply, outcome.verdict);
      }
      const { person, codes } = outcome;
      await begin(context, request, reply, { browser, sessions, since }, person, 'invitation');
      const onward = accountUrl(context, 'overview');
      if (!codes) return reply.redirect(onward, 303);
      const own = {
        action: urlOf(context, `${pages.invitation}/${encodeURIComponent(token)}`),
        form_token: formToken(deps, bindingOf(token, browser)),
      };
      return sendPage(context, reply, (frame) => codesPage({ frame, codes: { ...own, codes }, onward }));
    },
  });

  /** `not_created`: the browser's passkey was refused, and the invitation is as good as before. */
  const accept = async (
    request: FastifyRequest,
    given: Parameters<typeof acceptInvitation>[1],
  ): Promise<Awaited<ReturnType<typeof acceptInvitation>> | 'not_created'> => {
    try {
      return await acceptInvitation(deps, given, requesterOf(request));
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status >= 500 || !error.failed.check.startsWith('passkey'))
        throw error;
      noted(deps, request, error, 400);
      return 'not_created';
    }
  };
}

const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;
