/** /account/connections: with whom at which provider the account is connected, and the beginning and end of that. */
import type { FastifyInstance } from 'fastify';
import { connectWaiting, disconnectFrom, forgetWaiting, waitingFor } from '../../../authorize/upstream-connections.ts';
import { textOf } from '../../../protocol/parameters.ts';
import * as links from '../../../store/upstream-links.ts';
import { connectionsPage } from '../../../views/account/connections.ts';
import { connectionsSentences } from '../../../views/sentences/connections.ts';
import { languageOf } from '../../language.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { connectableUpstreams, leaveFor, outcomeIn, outcomeText } from '../upstream.ts';
import { accountDoor } from './door.ts';

export function connections(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'connections', {
    fresh: 'act',
    leaves: true,
    async show({ session, browser, form, now }, { again, done }, request) {
      const connected = await links.ofPerson(deps.db, session.sub);
      const others = await connectableUpstreams(context);
      const waiting = await waitingFor(deps, browser, now);
      const told = outcomeIn(request, others);
      return (frame) =>
        connectionsPage({
          frame,
          ...form,
          connections: connected,
          waiting: waiting && { label: waiting.row.label, name: waiting.who.name },
          others: others.filter(({ upstream }) => !connected.some((each) => each.upstream === upstream)),
          problem: again?.problem ?? (told && told.outcome !== 'connect' ? outcomeText(frame.lang, told) : undefined),
          done,
        });
    },
    async take({ session, browser, now }, form, request, reply) {
      const by = requesterOf(request);
      const t = connectionsSentences(languageOf(request));
      const field = 'connections';
      const action = textOf(form, 'action');
      const upstream = textOf(form, 'upstream') ?? '';
      if (action === 'disconnect') {
        const which = { upstream, upstream_sub: textOf(form, 'upstream_sub') ?? '' };
        const done = await disconnectFrom(deps, session, which, by, now);
        return done === 'last' ? { problem: t.last, field } : { to: 'connections', done: 'disconnected' };
      }
      if (action === 'later') {
        await forgetWaiting(deps, browser, now);
        return { to: 'connections' };
      }
      if (action === 'connect') {
        const done = await connectWaiting(deps, browser, session, by, now);
        return done === 'connected' ? { to: 'connections', done } : { problem: t.refused, field };
      }
      const { sub, sid } = session;
      await leaveFor(context, request, reply, upstream, { kind: 'connect', sub, sid }, { fresh: false });
      return 'answered';
    },
  });
}
