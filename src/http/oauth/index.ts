/** The endpoints of clients: JSON errors after RFC 6749 §5.2, no cookies, CORS where browser apps need it. */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { invalidClientMetadata, isAboutProof, type OAuthError } from '../../protocol/error.ts';
import { challengeOf, giveNonce } from '../bearer.ts';
import { jsonBodies } from '../json.ts';
import { rateLimits } from '../rate-limit.ts';
import { refused } from '../refusal.ts';
import { BODY_LIMIT, formBodyParser } from '../request.ts';
import { namedIn } from './credentials.ts';
import { deviceAuthorization } from './device-authorization.ts';
import { discovery, insertedDiscovery } from './discovery.ts';
import { introspect } from './introspect.ts';
import { jwks } from './jwks.ts';
import { par } from './par.ts';
import { register } from './register.ts';
import { revoke } from './revoke.ts';
import { token } from './token.ts';
import { upstreamLogout } from './upstream-logout.ts';
import { userinfo } from './userinfo.ts';

/** Registers every OAuth endpoint under the issuer's path. */
export async function oauth(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(formbody, { bodyLimit: BODY_LIMIT, parser: formBodyParser });
  app.removeContentTypeParser(['application/json', 'text/plain']);
  await rateLimits(app, deps);
  answerAsOAuth(app, deps);
  const endpoints = [token, userinfo, introspect, revoke, par, deviceAuthorization, discovery, jwks, upstreamLogout];
  for (const endpoint of endpoints) endpoint(app, deps);
  // The one endpoint that reads JSON gets a scope of its own: everywhere else only forms are understood.
  await app.register(async (scope) => {
    const refuse = (why: string): OAuthError => invalidClientMetadata(why, { check: 'client_metadata' });
    jsonBodies(scope, { refuse });
    register(scope, deps);
  });
}

/** What clients look for outside the issuer's path: the discovery documents at their path-inserted places. */
export async function oauthOutside(app: FastifyInstance, deps: Deps, path: string): Promise<void> {
  answerAsOAuth(app, deps);
  insertedDiscovery(app, deps, path);
}

function answerAsOAuth(app: FastifyInstance, deps: Deps): void {
  app.addHook('onRequest', (_request, reply, done) => {
    // RFC 6749 §5.1; the public documents set their own.
    reply.header('cache-control', 'no-store');
    done();
  });
  app.setErrorHandler((error, request, reply) => sendError(deps, error, request, reply));
}

/** RFC 6749 §5.2 and RFC 6750 §3, from whatever was thrown. */
function sendError(deps: Deps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, refusal } = refused(error, request, deps, namedIn(request));
  const challenge = challengeFor(refusal, request, deps.config.ISSUER);
  if (refusal.error === 'use_dpop_nonce') giveNonce(deps, reply);
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  if (refusal.retry_after !== undefined) reply.header('retry-after', refusal.retry_after);
  // What was not read of a body too large is not waited for.
  if (status === 413) reply.header('connection', 'close');
  const { error: code, error_description } = refusal;
  return reply.code(status).header('cache-control', 'no-store').send({ error: code, error_description });
}

function challengeFor(refusal: OAuthError, request: FastifyRequest, issuer: string): string | undefined {
  const { error, error_description, scope, status } = refusal;
  // RFC 6749 §5.2: only a client that tried the header is answered with one.
  if (error === 'invalid_client' && request.headers.authorization !== undefined)
    return `Basic realm="${issuer}", charset="UTF-8"`;
  // RFC 9449 §7.1: at the token endpoint a proof that does not prove is no matter of authentication.
  if (error !== 'invalid_token' && error !== 'insufficient_scope' && !(isAboutProof(error) && status === 401))
    return undefined;
  const bound = refusal.failed.check === 'token_binding' || undefined;
  return challengeOf(issuer, request, { error, error_description, scope }, { bound });
}
