/** A public JSON document: cacheable by anyone, readable by any page, revalidated by its ETag. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openToAll } from '../cors.ts';

export interface PublicDocument {
  /** As bytes: text would be encoded for each answer. */
  body: Buffer;
  etag: string;
  /** Seconds. */
  max_age: number;
}

export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, etag, max_age }: PublicDocument,
): FastifyReply {
  openToAll(reply);
  reply.header('cache-control', `public, max-age=${max_age}`).header('etag', etag);
  if (isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(body);
}

/** RFC 9110 §13.1.2: a list, compared weakly, since proxies that compress make our tags weak ones. */
const isFresh = (if_none_match: string | undefined, etag: string): boolean =>
  if_none_match?.split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim())) ?? false;
