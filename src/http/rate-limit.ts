/** Volume limits, counted per process and address. What is guessed is counted elsewhere, in the database. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import type { Deps } from '../deps.ts';
import { tooManyRequests } from '../protocol/error.ts';
import { UNROUTED } from './server.ts';

/** Makes `limited` work in this scope. */
export async function rateLimits(app: FastifyInstance, { metrics }: Pick<Deps, 'metrics'>): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    onExceeded: ({ routeOptions }) => metrics.limited(routeOptions.url ?? UNROUTED),
    errorResponseBuilder: (_request, { ttl, max }) =>
      tooManyRequests('too many requests, slow down', {
        retry_after: Math.max(1, Math.ceil(ttl / 1000)),
        check: 'rate_limit',
        expected: `at most ${max} a minute from one address`,
        received: 'more',
      }),
  });
}

/**
 * Route options for at most `max` requests of these methods a minute and address; 0 is no limit. Every route that is given
 * the same options shares one count: the plugin's own `groupId` would not, in memory it counts each route apart.
 */
export const limited = (
  app: FastifyInstance,
  max: number,
  methods: readonly string[] = ['POST'],
): RouteShorthandOptions =>
  max === 0
    ? {}
    : { onRequest: app.rateLimit({ max, timeWindow: 60_000, allowList: ({ method }) => !methods.includes(method) }) };
