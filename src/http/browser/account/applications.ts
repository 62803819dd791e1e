/** /account/applications: what applications may do in somebody's name, and the end of that. */
import type { FastifyInstance } from 'fastify';
import { textOf } from '../../../protocol/parameters.ts';
import { OFFLINE_ACCESS } from '../../../protocol/scope.ts';
import { applicationsOf, disconnectApplication, type Application } from '../../../users/applications.ts';
import { applicationsPage, type ApplicationView } from '../../../views/account/applications.ts';
import { requesterOf } from '../../request.ts';
import { clientView } from '../client-view.ts';
import type { Context } from '../context.ts';
import { accountDoor } from './door.ts';

export function applications(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'applications', {
    async show({ session, form, now }, { done }) {
      const connected = await applicationsOf(deps, session.sub, now);
      const views = await Promise.all(connected.map((application) => viewOf(context, application)));
      return (frame) => applicationsPage({ frame, ...form, applications: views, done });
    },
    async take({ session, now }, form, request) {
      const client_id = textOf(form, 'revoke') ?? '';
      const revoked = await disconnectApplication(deps, session.sub, client_id, requesterOf(request), now);
      return { to: 'applications', done: revoked ? 'revoked' : 'gone' };
    },
  });
}

async function viewOf({ deps }: Context, application: Application): Promise<ApplicationView> {
  const { client_id, client_name, scope, ...rest } = application;
  const [client, scopes] = await Promise.all([deps.directory.client(client_id), deps.directory.scopes()]);
  return {
    ...rest,
    // One that is disabled is not in the directory; it has a name all the same.
    client: client ? clientView(client) : { client_id, client_name },
    scopes: scope
      .filter((name) => name !== OFFLINE_ACCESS)
      .map((name) => ({ name, description: scopes.get(name)?.description ?? null })),
  };
}
