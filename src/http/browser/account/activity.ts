/** /account/activity: what happened with an account, in sentences. */
import type { FastifyInstance } from 'fastify';
import { activityOf } from '../../../users/activity.ts';
import { activityPage } from '../../../views/account/activity.ts';
import { languageOf } from '../../language.ts';
import { addressPrefix } from '../../network.ts';
import { nameIn } from '../client-view.ts';
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
      const lang = languageOf(request);
      const events = await Promise.all(
        items.map(async ({ ip, ...item }) => {
          const client = item.client_id === null ? undefined : await context.deps.directory.client(item.client_id);
          const client_name = client ? nameIn(lang, client) : item.client_name;
          return { ...item, client_name, network: ip === null ? null : addressPrefix(ip) };
        }),
      );
      const url = accountUrl(context, 'activity');
      const older_url = next === undefined ? undefined : `${url}?before=${encodeURIComponent(next)}`;
      return (frame) => activityPage({ frame, events, older_url, newest_url: before === undefined ? undefined : url });
    },
  });
}
