/** Volume limits, counted per process and address. What is guessed is counted elsewhere, in the database. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { tooManyRequests } from '../protocol/error.ts';

/** Makes `limited` work in this scope. */
export async function rateLimits(app: FastifyInstance): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    errorResponseBuilder: (_request, { ttl }) =>
      tooManyRequests('too many requests, slow down', { retry_after: Math.max(1, Math.ceil(ttl / 1000)) }),
  });
}

/** Route options for at most `max` requests a minute and address; 0 is no limit. Routes of one group share a count. */
export const limited = (max: number, groupId: string): RouteShorthandOptions =>
  max === 0 ? {} : { config: { rateLimit: { max, timeWindow: 60_000, groupId } } };
