/** /account/sessions: where somebody is signed in, and the end of that. */
import type { FastifyInstance } from 'fastify';
import { endpoints } from '../../../protocol/endpoint.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { endOwnSession, endOthersOf, sessionsOfPerson } from '../../../sessions/of-person.ts';
import { sessionsPage } from '../../../views/account/sessions.ts';
import { requesterOf } from '../../request.ts';
import { urlOf, type Context } from '../context.ts';
import { accountDoor } from './door.ts';

export function sessions(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'sessions', {
    // ASVS 7.5.2: whoever finds a browser open does not sign its person out everywhere else.
    fresh: 'act',
    async show({ session, form, now }, { done }) {
      const all = await sessionsOfPerson(deps, session.sub, now);
      const logout_url = urlOf(context, endpoints.end_session_endpoint);
      return (frame) => sessionsPage({ frame, ...form, sessions: all, current: session.sid, logout_url, done });
    },
    async take({ session, now }, form, request) {
      const by = requesterOf(request);
      if (textOf(form, 'others') !== undefined) {
        await endOthersOf(deps, session, by, now);
        return { to: 'sessions', done: 'others' };
      }
      const ended = await endOwnSession(deps, session.sub, textOf(form, 'end') ?? '', by, now);
      return { to: 'sessions', done: ended ? 'ended' : 'gone' };
    },
  });
}
