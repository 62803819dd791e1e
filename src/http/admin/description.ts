/** The API described: for machines at /openapi.json, for people at /docs; both from the table that the routes are made from. */
import type { FastifyInstance } from 'fastify';
import { ADMIN_PATH, describe } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { adminDocsPage } from '../../views/admin-docs.ts';
import { sendPage } from '../browser/context.ts';
import { readable, type Described } from './readable.ts';
import { refuseOthers } from './elsewhere.ts';

/** Registers both. They say nothing of what is kept here, so they need no token. */
export function describedAt(app: FastifyInstance, deps: Pick<Deps, 'config' | 'random'>): void {
  const { ISSUER } = deps.config;
  let text: string | undefined;
  let props: ReturnType<typeof readable> | undefined;
  const openapi = `${ADMIN_PATH}/openapi.json`;
  app.route({
    method: 'GET',
    url: openapi,
    exposeHeadRoute: true,
    handler: (_request, reply) => {
      text ??= JSON.stringify(describe(ISSUER));
      return reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300').send(text);
    },
  });
  refuseOthers(app, openapi, ['GET', 'HEAD']);
  const docs = `${ADMIN_PATH}/docs`;
  app.route({
    method: 'GET',
    url: docs,
    exposeHeadRoute: true,
    handler: (_request, reply) => {
      const said = (props ??= readable(describe(ISSUER) as unknown as Described, ISSUER));
      return sendPage({ deps }, reply, (frame) => adminDocsPage({ ...said, frame }));
    },
  });
  refuseOthers(app, docs, ['GET', 'HEAD']);
}
