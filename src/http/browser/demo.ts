/** /demo and /demo/callback, in development only: the first click ends in decoded tokens. What they do is the dev room's. */
import type { FastifyInstance } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import type { Html } from '../../views/html.ts';
import type { Frame } from '../../views/layout.ts';
import { sendPage } from '../page.ts';
import { queryOf, route } from '../request.ts';
import type { Context } from './context.ts';

/** The demo application, handed in by who composes. */
export interface DemoApplication {
  /** A fresh /authorize URL. */
  authorizationUrl(): string;
  /** Redeems what came back and shows it. @throws OAuthError */
  callback(parameters: Parameters): Promise<(frame: Frame) => Html>;
}

export function demo(app: FastifyInstance, context: Context, application: DemoApplication): void {
  route(app, pages.demo, { GET: (_request, reply) => reply.redirect(application.authorizationUrl(), 302) });
  route(app, pages.demo_callback, {
    GET: async (request, reply) =>
      sendPage(context, reply, await application.callback(queryOf(request)), { english: true }),
  });
}
