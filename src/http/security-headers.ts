/** Headers that tell browsers what not to do. Every scope sets them; pages add their own policy. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { invalidRequest } from '../protocol/error.ts';
import { withinRanges } from './network.ts';

const HSTS = 'max-age=31536000; includeSubDomains';

/** Adds the headers every answer has, and refuses plain http where the issuer is https and a trusted proxy says so. */
export function securityHeaders(app: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  const https = config.ISSUER.startsWith('https:');
  const isProxy = withinRanges(config.TRUST_PROXY);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    // The JSON answers are no documents: nothing of them may run, load or be framed.
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    reply.header('referrer-policy', 'no-referrer');
    if (https) {
      reply.header('strict-transport-security', HSTS);
      // From anybody else the header says nothing.
      const marked = request.headers['x-forwarded-proto'] !== undefined && isProxy(request.socket.remoteAddress);
      if (marked && request.protocol === 'http') {
        done(invalidRequest('this server is reached over https only', { check: 'https', received: 'http' }));
        return;
      }
    }
    done();
  });
}
