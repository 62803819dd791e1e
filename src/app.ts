/** The HTTP application: registers the doors in their order. It composes and decides nothing. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from './deps.ts';
import { demoApplication } from './dev/demo.ts';
import { accountApi } from './http/account/index.ts';
import { unreadable } from './http/admin/unreadable.ts';
import { admin } from './http/admin/index.ts';
import { browser } from './http/browser/index.ts';
import { hostsOfOurs } from './http/host.ts';
import { oauth, oauthOutside } from './http/oauth/index.ts';
import { ops, type Readiness } from './http/ops.ts';
import { securityHeaders } from './http/security-headers.ts';
import { createServer } from './http/server.ts';

/** Builds the HTTP application; nothing listens yet. */
export async function buildApp(deps: Deps, readiness: Readiness = { closing: false }): Promise<FastifyInstance> {
  const app = createServer(deps, unreadable(deps));
  securityHeaders(app, deps);
  hostsOfOurs(app, deps);
  const { pathname } = new URL(deps.config.ISSUER);
  const prefix = pathname === '/' ? '' : pathname;

  ops(app, deps, readiness, prefix);
  await app.register((scope) => oauth(scope, deps), { prefix });
  await app.register((scope) => admin(scope, deps), { prefix });
  await app.register((scope) => accountApi(scope, deps), { prefix });
  if (prefix !== '') await app.register((scope) => oauthOutside(scope, deps, prefix));
  const application = deps.config.mode === 'dev' ? demoApplication(deps) : undefined;
  await app.register((scope) => browser(scope, deps, application), { prefix });
  return app;
}
