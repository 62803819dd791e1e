/** POST /password-strength: what a password that is being typed is worth, for the meter beside it. Nothing of it is kept. */
import type { FastifyInstance } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { textOf } from '../../protocol/parameters.ts';
import * as users from '../../store/users.ts';
import { verdictOn } from '../../users/factors/verdict.ts';
import { strengthOf } from '../../views/new-password.ts';
import { languageOf } from '../language.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requireForm, route } from '../request.ts';
import type { Context } from './context.ts';
import { requireSameOrigin } from './forgery.ts';
import { sessionsOf } from './signed-in.ts';

export function passwordStrength(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, pages.password_strength, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async POST(request, reply) {
      requireForm(request);
      requireSameOrigin(deps, request);
      const [session] = await sessionsOf(context, request, deps.clock());
      const person = session && (await users.find(deps.db, session.sub));
      const verdict = await verdictOn(deps, textOf(formOf(request), 'password') ?? '', person);
      const message = strengthOf(languageOf(request), verdict);
      return reply.send({ score: verdict.score, acceptable: verdict.refusal === undefined, message });
    },
  });
}
