/** /interaction/{id}/new-password: somebody whose password was drawn for them chooses their own before they go on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cancel } from '../../authorize/interaction.ts';
import { changeOwnPassword, proofFor } from '../../authorize/own-password.ts';
import { SignInOver } from '../../authorize/standing.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { typedName } from '../../protocol/names.ts';
import { textOf } from '../../protocol/parameters.ts';
import type { LiveSession } from '../../sessions/index.ts';
import * as users from '../../store/users.ts';
import type { PasswordFormProps } from '../../views/account/password.ts';
import { ownPasswordPage } from '../../views/own-password.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf } from '../request.ts';
import { clientView } from './client-view.ts';
import { urlOf, type Context } from './context.ts';
import { stepDoor, stepForm, type OpenedPage } from './interaction.ts';
import { personView } from './signed-in.ts';

export function ownPassword(app: FastifyInstance, context: Context): void {
  const { deps, cookies } = context;

  const render = async (
    page: OpenedPage,
    session: LiveSession,
    request: FastifyRequest,
    reply: FastifyReply,
    problem?: PasswordFormProps['problem'],
    status = 400,
  ): Promise<true> => {
    const props = {
      ...stepForm(context, page, 'own_password'),
      ...(await proofFor(deps, session, deps.clock())),
      client: clientView(page.opened.client, page.lang),
      person: personView(session),
      username: typedName(session),
      end_others: true,
      min_length: deps.config.PASSWORD_MIN_LENGTH,
      strength_url: urlOf(context, pages.password_strength),
      problem,
      request_id: problem && request.id,
    };
    const answer = problem === undefined ? {} : { status };
    sendPage(context, reply, (frame) => ownPasswordPage({ frame, ...props }), answer);
    return true;
  };

  stepDoor(app, context, 'own_password', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async show(page, request, reply) {
      const { step, session } = page.opened;
      return step === 'own_password' && session !== undefined && render(page, session, request, reply);
    },
    async take(page, form, request, reply) {
      const { step, session } = page.opened;
      if (textOf(form, 'action') === 'cancel') await cancel(deps, page.opened);
      else if (step === 'own_password' && session) {
        const user = await users.find(deps.db, session.sub);
        if (!user) return false;
        const change = {
          current: textOf(form, 'current-password'),
          password: textOf(form, 'new-password') ?? '',
          end_others: textOf(form, 'end-others') !== undefined,
          device: cookies.get(request, 'device'),
        };
        try {
          const outcome = await changeOwnPassword(deps, session, user, change, requesterOf(request));
          // An account that lost its password meanwhile owes none either.
          if (outcome === 'done' || outcome === 'stale') return false;
          const received = typeof outcome === 'string' ? outcome : outcome.refusal;
          const detail = { check: 'new_password', received, sub: session.sub } as const;
          noted(deps, request, invalidRequest('the password cannot be set', detail), 400);
          return render(page, session, request, reply, outcome);
        } catch (error) {
          // The sign-in bears it no more: the request asks for what is missing.
          if (error instanceof SignInOver) {
            noted(deps, request, error, 303);
            return false;
          }
          if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
          noted(deps, request, error, error.status);
          reply.header('retry-after', error.retry_after ?? 1);
          return render(page, session, request, reply, 'too_many', error.status);
        }
      }
      return false;
    },
  });
}
