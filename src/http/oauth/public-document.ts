/** A public JSON document: cacheable by anyone, readable by any page, revalidated by its ETag. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openToAll } from './cors.ts';

export interface PublicDocument {
  body: string;
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
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(body);
}
