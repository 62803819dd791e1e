/** POST /password-strength: what a password that is being typed is worth, for the meter beside it. Nothing of it is kept. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import * as users from '../../store/users.ts';
import { personBehind } from '../../users/behind-link.ts';
import { verdictOn, type PasswordContext } from '../../users/factors/verdict.ts';
import { strengthOf } from '../../views/new-password.ts';
import { languageOf } from '../language.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requireForm, route } from '../request.ts';
import type { Context } from './context.ts';
import { requireSameOrigin } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';

export function passwordStrength(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  /** Whose it is to be: who a mail went to, who is about to make an account, or who is signed in. */
  const personOf = async (request: FastifyRequest, form: Parameters): Promise<PasswordContext | undefined> => {
    const [link, email] = [textOf(form, 'link'), textOf(form, 'email')];
    if (link) return personBehind(deps, link, deps.clock());
    if (email) return { email, claims: { name: textOf(form, 'name') } };
    const [session] = await sessionsOf(context, request, deps.clock());
    return session && users.find(deps.db, session.sub);
  };
  route(app, pages.password_strength, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async POST(request, reply) {
      requireForm(request);
      requireSameOrigin(deps, request);
      const form = formOf(request);
      const verdict = await verdictOn(deps, textOf(form, 'password') ?? '', await personOf(request, form));
      const message = strengthOf(languageOf(request), verdict);
      return reply.send({ score: verdict.score, acceptable: verdict.refusal === undefined, message });
    },
  });
}
