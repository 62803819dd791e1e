/** For those who run it: is the process alive, and may it be sent requests. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { pendingMigrations } from '../store/migrate.ts';

export interface Readiness {
  /** Turns true when the process has been told to stop. */
  closing: boolean;
}

type Needs = Pick<Deps, 'db' | 'keys' | 'log'>;

/** Why the server is not ready, or undefined when it is. */
async function unreadyBecause({ db, keys, log }: Needs): Promise<string | undefined> {
  if (!keys.ready) return 'no signing key is loaded';
  try {
    const pending = await pendingMigrations(db);
    return pending.length > 0 ? 'migrations are pending' : undefined;
  } catch (error) {
    log.warn({ err: error }, 'the database is not available');
    return 'the database is not available';
  }
}

/** /livez never asks the database: a restart would not bring it back. */
export function ops(app: FastifyInstance, deps: Needs, readiness: Readiness, prefix: string): void {
  for (const base of new Set(['', prefix])) {
    for (const path of ['/livez', '/healthz']) {
      app.get(`${base}${path}`, { exposeHeadRoute: true }, (_request, reply) =>
        reply.header('cache-control', 'no-store').send({ status: 'ok' }),
      );
    }
    app.get(`${base}/readyz`, { exposeHeadRoute: true }, async (_request, reply) => {
      const why = readiness.closing ? 'closing' : await unreadyBecause(deps);
      reply.header('cache-control', 'no-store');
      return why === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'not ready', reason: why });
    });
  }
}
