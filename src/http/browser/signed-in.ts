/** The session cookie: the handles of everybody who is signed in in this browser, the current person's first. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { typedName } from '../../protocol/names.ts';
import { findSessions, MAX_SESSIONS, type LiveSession } from '../../sessions/index.ts';
import { sha256 } from '../../protocol/handle.ts';
import type { BrowserSignIn } from '../../authorize/sign-in.ts';
import { DEVICE_TTL } from '../../users/device.ts';
import type { PersonView } from '../../views/client.ts';
import { noteWishes } from '../language.ts';
import type { Context } from './context.ts';

/** A character that no handle contains. */
const SEPARATOR = '.';

const handlesOf = ({ cookies }: Context, request: FastifyRequest): string[] =>
  (cookies.get(request, 'session') ?? '').split(SEPARATOR, MAX_SESSIONS);

/** The live sessions of the browser, the current person's first. */
export async function sessionsOf(context: Context, request: FastifyRequest, now: Date): Promise<LiveSession[]> {
  const sessions = await findSessions(context.deps, handlesOf(context, request), now);
  noteWishes(request, { locale: sessions[0]?.locale ?? undefined });
  return sessions;
}

/** Keeps these of the browser's sessions, in this order, behind the handle of one that has just begun. */
export function keepSessions(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: readonly LiveSession[],
  begun: readonly string[] = [],
): void {
  const handles = new Map(handlesOf(context, request).map((handle) => [sha256(handle).toString('hex'), handle]));
  const remaining = [...begun, ...sessions.flatMap(({ hash }) => handles.get(hash.toString('hex')) ?? [])];
  if (remaining.length === 0) context.cookies.clear(reply, 'session');
  else context.cookies.set(reply, 'session', remaining.join(SEPARATOR), context.deps.config.SESSION_TTL);
}

/** Keeps a sign-in in its browser. */
export function setCookies(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, remaining, device }: BrowserSignIn,
): void {
  keepSessions(context, request, reply, remaining, [session]);
  context.cookies.set(reply, 'device', device, DEVICE_TTL);
}

/** Makes this one of the browser's sessions its current one. */
export const makeCurrent = (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: readonly LiveSession[],
  current: LiveSession,
): void =>
  keepSessions(context, request, reply, [current, ...sessions.filter(({ hash }) => !hash.equals(current.hash))]);

/** A person as pages show them. */
export const personView = ({ name, username, email }: LiveSession): PersonView => ({
  name: name ?? typedName({ username, email }),
  email: email ?? undefined,
});
