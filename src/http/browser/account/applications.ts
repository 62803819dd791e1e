/** /account/applications: what applications may do in somebody's name, and the end of that. */
import type { FastifyInstance } from 'fastify';
import type { Language } from '../../../languages/index.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { OFFLINE_ACCESS, OPENID } from '../../../protocol/scope.ts';
import {
  applicationsOf,
  disconnectApplication,
  narrowApplication,
  type Application,
} from '../../../users/applications.ts';
import { applicationsPage, type ApplicationView } from '../../../views/account/applications.ts';
import { scopeSentence } from '../../../views/claims.ts';
import { requesterOf } from '../../request.ts';
import { clientView } from '../client-view.ts';
import type { Context } from '../context.ts';
import { detailsOf } from '../details-view.ts';
import { accountDoor } from './door.ts';

export function applications(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'applications', {
    async show({ session, form, now }, { done }) {
      const connected = await applicationsOf(deps, session.sub, now);
      const views = await Promise.all(connected.map((application) => viewOf(context, application)));
      return (frame) =>
        applicationsPage({ frame, ...form, applications: views.map((viewIn) => viewIn(frame.lang)), done });
    },
    async take({ session, now }, form, request) {
      const by = requesterOf(request);
      const narrow = textOf(form, 'narrow');
      if (narrow !== undefined) {
        // Neither a client_id nor a scope has a space in it.
        const [client_id = '', scope = ''] = narrow.split(' ');
        const narrowed = await narrowApplication(deps, { sub: session.sub, client_id, scope }, by, now);
        return { to: 'applications', done: narrowed ? 'narrowed' : 'gone' };
      }
      const revoked = await disconnectApplication(deps, session.sub, textOf(form, 'revoke') ?? '', by, now);
      return { to: 'applications', done: revoked ? 'revoked' : 'gone' };
    },
  });
}

/** Of types that there are: what is left of others opens nothing. */
async function knownOf(
  { directory }: Context['deps'],
  details: Application['authorization_details'],
): Promise<Application['authorization_details']> {
  if (details.length === 0) return details;
  const types = await directory.types();
  return details.filter(({ type }) => types.has(type));
}

/** How it looks in a language. */
async function viewOf({ deps }: Context, application: Application): Promise<(language: Language) => ApplicationView> {
  const { client_id, client_name, scope, agreed, authorization_details, ...rest } = application;
  const [client, scopes] = await Promise.all([deps.directory.client(client_id), deps.directory.scopes()]);
  const details = await detailsOf({ deps }, await knownOf(deps, authorization_details));
  return (language) => ({
    ...rest,
    details: details(language),
    // One that is disabled is not in the directory; it has a name all the same.
    client: client ? clientView(client, language) : { client_id, client_name },
    scopes: scope
      .filter((name) => name !== OFFLINE_ACCESS)
      .map((name) => ({
        name,
        description: scopeSentence(language, name, scopes.get(name)),
        // Without openid it would not be told who it is at all: that is all of its access.
        agreed: name !== OPENID && agreed.includes(name),
      })),
    offline_agreed: agreed.includes(OFFLINE_ACCESS),
  });
}
