/**
 * The Host a request names (RFC 9110 §7.2). A page of somebody else can have its own name lead to this machine, and its
 * browser then takes us for a part of that page (DNS rebinding): doors that trust whoever reaches them look at the name.
 */
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import { atAdminApi } from '../protocol/admin-api.ts';
import { OAuthError } from '../protocol/error.ts';
import { HEALTH } from './ops.ts';

type Configured = Pick<Deps['config'], 'ALLOWED_HOSTS' | 'ISSUER'>;

/**
 * Whether a Host is one of ours: localhost, a loopback address, the issuer's, a configured one, one of `more`. `open`, where others
 * are to reach us, also any address and any name without a dot: such a name is of a network of the operator's, and nobody
 * else can have it.
 */
export function ourHosts(
  { ALLOWED_HOSTS, ISSUER }: Configured,
  { open, more = [] }: { open: boolean; more?: readonly string[] },
): (host: string | undefined) => boolean {
  const names = new Set(
    [new URL(ISSUER).host, ...ALLOWED_HOSTS, ...more].map((host) => nameIn(isIP(host) === 6 ? `[${host}]` : host)),
  );
  // Nearly every request names the same one.
  const known = new LRUCache<string, boolean>({ max: 100 });
  return (host) => {
    // No browser leaves it out.
    if (host === undefined) return true;
    let isOurs = known.get(host);
    if (isOurs === undefined) known.set(host, (isOurs = isAmong(nameIn(host), names, open)));
    return isOurs;
  };
}

function isAmong(name: string | undefined, ours: ReadonlySet<string | undefined>, open: boolean): boolean {
  if (name === undefined) return false;
  if (ours.has(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
  if (isIP(name) === 0) return open && !name.includes('.');
  return open || name === '::1' || name.startsWith('127.');
}

/** Lower case, without port, brackets and the dot of the root; undefined where it is no host. */
function nameIn(host: string): string | undefined {
  if (!/^[^\s/?#@\\]+$/.test(host)) return undefined;
  return URL.parse(`http://${host}`)
    ?.hostname.replaceAll(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/**
 * Refuses requests that name somebody else's host: of development mode all but those for its health, in production those of
 * the admin API. What is public there answers to any name, since nothing it says depends on it.
 */
export function hostsOfOurs(app: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  const isDevelopment = config.mode === 'dev';
  const isOurs = ourHosts(config, { open: !isDevelopment || config.EXPOSE_DEVELOPMENT });
  const isAdminApi = atAdminApi(config.ISSUER);
  app.addHook('onRequest', (request, _reply, done) => {
    const { host } = request.headers;
    // By the route: an address can be written in many ways, and end in whatever its query says.
    const url = request.routeOptions.url ?? '';
    const matters = isDevelopment ? !HEALTH.some((path) => url.endsWith(path)) : isAdminApi(url);
    if (!matters || isOurs(host)) return done();
    done(
      new OAuthError('misdirected_request', 'this server does not go by that host; ALLOWED_HOSTS names more of them', {
        check: 'host',
        expected: new URL(config.ISSUER).host,
      }),
    );
  });
}
