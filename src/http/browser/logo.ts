/** /logo/{hash}: the logo of a client or of a theme, as we keep it. Named by its content, so it never changes. */
import type { FastifyInstance } from 'fastify';
import { pages } from '../../protocol/endpoint.ts';
import { OAuthError } from '../../protocol/error.ts';
import * as logos from '../../store/client-logos.ts';
import * as themes from '../../store/themes.ts';
import { route } from '../request.ts';
import type { Context } from './context.ts';

export function logo(app: FastifyInstance, { deps }: Context): void {
  route(app, `${pages.logo}/:hash`, {
    head: true,
    async GET(request, reply) {
      const { hash } = request.params as { hash: string };
      const found = /^[A-Za-z0-9_-]{43}$/.test(hash)
        ? ((await themes.findLogo(deps.db, hash)) ?? (await logos.find(deps.db, hash)))
        : undefined;
      if (!found?.image || found.media_type === null)
        throw new OAuthError('not_found', 'there is no such logo', { check: 'address' });
      return (
        reply
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('content-type', found.media_type)
          // Somebody else's bytes at our origin: looked at by themselves they are a picture and nothing else, and only
          // our own pages show them. `nosniff` is on every answer.
          .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
          .header('cross-origin-resource-policy', 'same-origin')
          .send(found.image)
      );
    },
  });
}
