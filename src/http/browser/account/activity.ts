/** /account/activity: what happened with an account, in sentences. */
import type { FastifyInstance } from 'fastify';
import { activityOf } from '../../../users/activity.ts';
import { activityPage } from '../../../views/account/activity.ts';
import { addressPrefix } from '../../network.ts';
import type { Context } from '../context.ts';
import { accountDoor } from './door.ts';
import { accountUrl } from './person.ts';

/** Events on a page. */
const LIMIT = 25;

export function activity(app: FastifyInstance, context: Context): void {
  accountDoor(app, context, 'activity', {
    async show({ session }, _before, request) {
      const before = new URLSearchParams((request.query as { text: string }).text).get('before') ?? undefined;
      const { items, next } = await activityOf(context.deps, session.sub, before, LIMIT);
      const events = items.map(({ ip, ...item }) => ({ ...item, network: ip === null ? null : addressPrefix(ip) }));
      const url = accountUrl(context, 'activity');
      const older_url = next === undefined ? undefined : `${url}?before=${encodeURIComponent(next)}`;
      return (frame) => activityPage({ frame, events, older_url, newest_url: before === undefined ? undefined : url });
    },
  });
}
