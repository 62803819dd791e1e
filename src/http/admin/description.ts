/** The API described: for machines at /openapi.json, for people at /docs; both from the table that the routes are made from. */
import type { FastifyInstance } from 'fastify';
import { ADMIN_PATH, describe } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { adminDocsPage } from '../../views/admin-docs.ts';
import { sendPage } from '../page.ts';
import { readable, type Described } from './readable.ts';

const [OPENAPI, DOCS] = ['/openapi.json', '/docs'];
/** The paths, below the API's. They are only read. */
export const DESCRIBED_AT = [OPENAPI, DOCS] as const;

/** Registers both. They say nothing of what is kept here, so they need no token. */
export function describedAt(app: FastifyInstance, deps: Pick<Deps, 'config' | 'random'>): void {
  const { ISSUER } = deps.config;
  let text: string | undefined;
  let props: ReturnType<typeof readable> | undefined;
  app.route({
    method: 'GET',
    url: ADMIN_PATH + OPENAPI,
    exposeHeadRoute: true,
    handler: (_request, reply) => {
      text ??= JSON.stringify(describe(ISSUER));
      return reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300').send(text);
    },
  });
  app.route({
    method: 'GET',
    url: ADMIN_PATH + DOCS,
    exposeHeadRoute: true,
    handler: (_request, reply) => {
      const content = (props ??= readable(describe(ISSUER) as unknown as Described, ISSUER));
      return sendPage({ deps }, reply, (frame) => adminDocsPage({ ...content, frame }), { english: true });
    },
  });
}
