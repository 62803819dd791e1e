/**
 * Volume limits per address. Each of a server's processes counts its share, so that all of them together let through what
 * was configured. What is guessed is counted elsewhere, in the database.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import { tooManyRequests } from '../protocol/error.ts';
import { peerOf } from './network.ts';
import { UNROUTED } from './request.ts';

/** Makes `limited` work in this scope. */
export async function rateLimits(app: FastifyInstance, { metrics }: Pick<Deps, 'metrics'>): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    keyGenerator: (request) => peerOf(request).source,
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

/** A limit of the configuration. */
export type VolumeLimit = Extract<keyof Config, `${string}_RATE_LIMIT`>;

/** What one of the processes lets through a minute and address: never 0 of something, since 0 is no limit. */
export const shareOf = (config: Pick<Config, VolumeLimit | 'WORKERS'>, limit: VolumeLimit): number =>
  Math.ceil(config[limit] / config.WORKERS);

/**
 * Route options for at most so many requests of these methods a minute and address. Every route that is given the same
 * options shares one count: the plugin's own `groupId` would not, in memory it counts each route apart.
 */
export function limited(
  app: FastifyInstance,
  config: Config,
  limit: VolumeLimit,
  methods: readonly string[] = ['POST'],
): RouteShorthandOptions {
  const max = shareOf(config, limit);
  if (max === 0) return {};
  const allowList = ({ method }: { method: string }): boolean => !methods.includes(method);
  return { onRequest: app.rateLimit({ max, timeWindow: 60_000, allowList }) };
}
