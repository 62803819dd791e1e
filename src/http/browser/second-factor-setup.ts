/** An authenticator app that is being set up, as pages show it: on the way to an application, and in the account. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LiveSession } from '../../sessions/index.ts';
import { beginSetup } from '../../users/enrolment.ts';
import { setupOf } from '../../users/factors/totp.ts';
import type { SetupProps } from '../../views/authenticator.ts';
import type { Context } from './context.ts';
import { qrOf } from './qr.ts';
import { keepSessions } from './signed-in.ts';

/** What is shown of a new secret: it waits in the form, sealed for this session. */
export function newSetup({ deps }: Context, session: LiveSession, now: Date): SetupProps {
  const { secret, sealed } = beginSetup(deps, session, now);
  return setupView(deps.config.ISSUER, session, secret, sealed);
}

/** The same secret again. */
export function setupView(issuer: string, { username }: LiveSession, secret: Buffer, sealed: string): SetupProps {
  const setup = setupOf(secret, { issuer: new URL(issuer).host, label: username });
  return { qr: qrOf(setup.uri), secret: setup.secret.replaceAll(/(.{4})(?=.)/g, '$1 '), sealed };
}

/** The session goes on behind its new handle, beside the others of its browser. */
export const keepElevated = (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, sessions }: { session: LiveSession; sessions: readonly LiveSession[] },
  handle: string,
): void =>
  keepSessions(
    context,
    request,
    reply,
    sessions.filter(({ sid }) => sid !== session.sid),
    [handle],
  );
