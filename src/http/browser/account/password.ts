/** /account/password: the change of a password, and the first one of somebody who has none. */
import type { FastifyInstance } from 'fastify';
import { changeOwnPassword, proofFor } from '../../../authorize/own-password.ts';
import { pages, WELL_KNOWN_CHANGE_PASSWORD } from '../../../protocol/endpoint.ts';
import { OAuthError } from '../../../protocol/error.ts';
import { typedName } from '../../../protocol/names.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { passwordPage, type PasswordProblem } from '../../../views/account/password.ts';
import type { JudgedPassword } from '../../../views/new-password.ts';
import { limited } from '../../rate-limit.ts';
import { requesterOf, route } from '../../request.ts';
import { urlOf, type Context } from '../context.ts';
import { accountDoor } from './door.ts';
import { accountUrl, loginFor } from './person.ts';

export function password(app: FastifyInstance, context: Context): void {
  const { deps, cookies } = context;
  accountDoor(app, context, 'password', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async show({ session, user, form, now }, { again, done }) {
      const props = {
        ...form,
        ...(await proofFor(deps, session, now)),
        username: typedName(user),
        end_others: again === undefined || textOf(again.form, 'end-others') !== undefined,
        min_length: deps.config.PASSWORD_MIN_LENGTH,
        strength_url: urlOf(context, pages.password_strength),
        problem: again && problemOf(again.problem),
        done,
      };
      return (frame) => passwordPage({ frame, ...props });
    },
    async take({ session, user }, form, request, reply) {
      const change = {
        current: textOf(form, 'current-password'),
        password: textOf(form, 'new-password') ?? '',
        end_others: textOf(form, 'end-others') !== undefined,
        device: cookies.get(request, 'device'),
      };
      try {
        const outcome = await changeOwnPassword(deps, session, user, change, requesterOf(request));
        if (outcome === 'done') return { to: 'password', done: 'changed' };
        if (outcome === 'stale') {
          reply.redirect(loginFor(context, 'password'), 303);
          return 'answered';
        }
        if (typeof outcome === 'string') return { problem: outcome, field: 'current-password' };
        return { problem: JSON.stringify(outcome), field: 'new-password' };
      } catch (error) {
        if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
        return { problem: 'too_many', field: 'current-password', status: error.status, retry_after: error.retry_after };
      }
    },
  });
  // https://w3c.github.io/webappsec-change-password-url/: where password managers lead people.
  route(app, WELL_KNOWN_CHANGE_PASSWORD, {
    GET: (_request, reply) => reply.redirect(accountUrl(context, 'password'), 302),
  });
}

/** What `take` said: a name, or the verdict on the new password. */
const problemOf = (problem: string): PasswordProblem | JudgedPassword =>
  problem.startsWith('{') ? (JSON.parse(problem) as JudgedPassword) : (problem as PasswordProblem);
