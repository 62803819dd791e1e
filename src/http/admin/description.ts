/** The API described for machines, at /openapi.json: made once, from the table that the routes are made from. */
import type { FastifyInstance } from 'fastify';
import { ADMIN_PATH, describe } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';

/** Registers the description. It says nothing of what is kept here, so it needs no token. */
export function describedAt(app: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  let text: string | undefined;
  app.get(`${ADMIN_PATH}/openapi.json`, (_request, reply) => {
    text ??= JSON.stringify(describe(config.ISSUER));
    return reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300').send(text);
  });
}
