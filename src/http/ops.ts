/** For those who run it: is the process alive, and may it be sent requests. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';

export interface Readiness {
  /** Turns true when the process is asked to stop. */
  closing: boolean;
}

const LIVE = ['/livez', '/healthz'] as const;
const READY = '/readyz';
/** The last segment of each address here. */
export const HEALTH = [...LIVE, READY] as const;

type Needs = Pick<Deps, 'clockDoubt' | 'keys' | 'log' | 'probe'>;

const HINDRANCES = {
  away: 'the database is not available',
  'read-only': 'the database is read-only',
  behind: 'migrations are pending',
} as const;

/** Why the server is not ready, or undefined when it is. Whoever asks is answered within a second. */
async function unreadyBecause({ clockDoubt, keys, log, probe }: Needs): Promise<string | undefined> {
  if (!keys.ready) return 'no signing key is loaded';
  if (clockDoubt() !== undefined) return 'the clocks of the database and of this server are far apart';
  const hindrance = await probe.ask();
  if (hindrance === undefined) return undefined;
  const why = HINDRANCES[hindrance.why];
  if (hindrance.why === 'away') log.warn({ err: hindrance.error }, why);
  return why;
}

/** /livez never asks the database: a restart would not bring it back. */
export function ops(app: FastifyInstance, deps: Needs, readiness: Readiness, prefix: string): void {
  for (const base of new Set(['', prefix])) {
    for (const path of LIVE) {
      app.get(`${base}${path}`, { exposeHeadRoute: true }, (_request, reply) =>
        reply.header('cache-control', 'no-store').send({ status: 'ok' }),
      );
    }
    app.get(`${base}${READY}`, { exposeHeadRoute: true }, async (_request, reply) => {
      const why = readiness.closing ? 'closing' : await unreadyBecause(deps);
      reply.header('cache-control', 'no-store');
      return why === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'not ready', reason: why });
    });
  }
}
