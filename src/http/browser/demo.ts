/**
 * /demo, /demo/callback and an API, in development only: the first click ends in decoded tokens. What they do is the dev room's.
 */
import type { FastifyInstance } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import type { Html } from '../../views/html.ts';
import type { Frame } from '../../views/layout.ts';
import { bearerOf } from '../bearer.ts';
import { sendPage } from '../page.ts';
import { queryOf, route } from '../request.ts';
import type { Context } from './context.ts';

/** The demo application, handed in by who composes. */
export interface DemoApplication {
  /** A fresh /authorize URL. */
  authorizationUrl(stepUp?: StepUp): string;
  /** Redeems what came back and shows it. @throws OAuthError */
  callback(parameters: Parameters): Promise<(frame: Frame) => Html>;
  /** The API's answer to whoever presents this token (RFC 6750, RFC 9470). */
  api(token: string | undefined): Promise<{ status: number; challenge?: string; body: object }>;
}

/** What an API asked for (RFC 9470 §3). */
interface StepUp {
  acr_values?: string | undefined;
  max_age?: string | undefined;
}

export function demo(app: FastifyInstance, context: Context, application: DemoApplication): void {
  route(app, pages.demo, {
    GET(request, reply) {
      const asked = queryOf(request);
      const stepUp = { acr_values: textOf(asked, 'acr_values'), max_age: textOf(asked, 'max_age') };
      return reply.redirect(application.authorizationUrl(stepUp), 302);
    },
  });
  route(app, pages.demo_api, {
    async GET(request, reply) {
      const { status, challenge, body } = await application.api(bearerOf(request) ?? undefined);
      if (challenge !== undefined) reply.header('www-authenticate', challenge);
      return reply.code(status).send(body);
    },
  });
  route(app, pages.demo_callback, {
    GET: async (request, reply) =>
      sendPage(context, reply, await application.callback(queryOf(request)), { english: true }),
  });
}
