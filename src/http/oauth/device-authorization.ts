/** POST /device_authorization (RFC 8628 §3.1). */
import type { FastifyInstance } from 'fastify';
import { startDevice } from '../../authorize/device.ts';
import { authenticate } from '../../clients/authenticate.ts';
import type { Deps } from '../../deps.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { allowClientOrigin, preflight } from './cors.ts';
import { credentialsOf, namedClient } from './credentials.ts';

export function deviceAuthorization(app: FastifyInstance, deps: Deps): void {
  preflight(app, '/device_authorization', 'POST');
  route(app, '/device_authorization', {
    options: limited(app, deps.config.TOKEN_RATE_LIMIT),
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const credentials = credentialsOf(request, form);
      await allowClientOrigin(deps, request, reply, namedClient(credentials));
      const now = deps.clock();
      const client = await authenticate(deps, credentials, requesterOf(request), now);
      return startDevice(deps, client, form, now);
    },
  });
}
