/** /account: what people see of their own account and do with it. A page is a file and a row. */
import type { FastifyInstance } from 'fastify';
import { accountPages, type AccountPageName } from '../../../protocol/endpoint.ts';
import { route } from '../../request.ts';
import type { Context } from '../context.ts';
import { activity } from './activity.ts';
import { applications } from './applications.ts';
import { data } from './data.ts';
import { deletion } from './delete.ts';
import { passkeys } from './passkeys.ts';
import { authenticator } from './authenticator.ts';
import { email } from './email.ts';
import { connections } from './connections.ts';
import { overview } from './overview.ts';
import { accountUrl } from './person.ts';
import { profile } from './profile.ts';
import { recoveryCodes } from './recovery-codes.ts';
import { password } from './password.ts';
import { sessions } from './sessions.ts';

/** The door of each page. */
const doors: Record<AccountPageName, (app: FastifyInstance, context: Context) => void> = {
  overview,
  profile,
  email,
  passkeys,
  authenticator,
  recovery_codes: recoveryCodes,
  connections,
  password,
  sessions,
  applications,
  activity,
  data,
  delete: deletion,
};

export function account(app: FastifyInstance, context: Context): void {
  for (const door of Object.values(doors)) door(app, context);
  // Who types the name of the server, or one slash too many, is led to what there is for people.
  for (const path of ['/', `${accountPages.overview}/`])
    route(app, path, { GET: (_request, reply) => reply.redirect(accountUrl(context, 'overview'), 302) });
}
