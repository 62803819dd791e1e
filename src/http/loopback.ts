/**
 * ::1 beside 127.0.0.1. Browsers try it first for localhost, whatever the hosts file says: a server of somebody else
 * there would be taken for ours.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** A machine without IPv6 has nothing to listen on. */
const NO_IPV6 = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

/** Hands connections to ::1 to an application that listens already. Returns what stops it. @throws what listening throws */
export async function listenOnIpv6Too(app: FastifyInstance): Promise<() => Promise<void>> {
  const second = createServer({ noDelay: true }, (socket) => app.server.emit('connection', socket));
  const { port } = app.server.address() as AddressInfo;
  try {
    second.listen({ host: '::1', port, ipv6Only: true });
    await once(second, 'listening');
  } catch (error) {
    if (NO_IPV6.has(String((error as NodeJS.ErrnoException).code))) return async () => {};
    throw error;
  }
  app.log.info(`listening at [::1]:${port}`);
  return async () => {
    second.close();
    await once(second, 'close');
  };
}
