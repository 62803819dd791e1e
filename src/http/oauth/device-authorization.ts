/** POST /device_authorization (RFC 8628 §3.1). */
import type { FastifyInstance } from 'fastify';
import { startDevice } from '../../authorize/device.ts';
import type { Deps } from '../../deps.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { authenticatedDoor } from './client-request.ts';

export function deviceAuthorization(app: FastifyInstance, deps: Deps): void {
  const door = { cors: true, limit: 'AUTHORIZE_RATE_LIMIT' } as const;
  authenticatedDoor(app, deps, endpoints.device_authorization_endpoint, door, ({ client, parameters, now }) =>
    startDevice(deps, client, parameters, now),
  );
}
