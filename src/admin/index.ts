/**
 * The admin API: what operators can read and change. It owns the description of each kind of thing, from which the
 * doors make routes, a document and commands, and what every such write shares; the rules of each belong to its party.
 */
import { describeApi } from './api/describe.ts';
import { clients } from './clients.ts';
import { clientSecrets } from './client-secrets.ts';
import { auditEvents } from './audit-events.ts';
import { authorizationTypes } from './authorization-types.ts';
import { userConsents } from './consents.ts';
import { userCredentials } from './credentials.ts';
import { grants, userGrants } from './grants.ts';
import { groupMembers, groups } from './groups.ts';
import { invitations } from './invitations.ts';
import { keys } from './keys.ts';
import { logoutNotices } from './logout-notices.ts';
import { mails } from './mails.ts';
import { operationsOf, type Operation } from './api/operation.ts';
import { userPasskeys } from './passkeys.ts';
import { registrationTokens } from './registration-tokens.ts';
import { resources } from './resources.ts';
import { scopes } from './scopes.ts';
import { sessions, userSessions } from './sessions.ts';
import { settings } from './settings.ts';
import { tokens } from './tokens.ts';
import { clientTheme, serverTheme } from './themes.ts';
import { upstreams } from './upstreams.ts';
import { userImports } from './user-imports.ts';
import { users } from './users.ts';
import { adminApiOf } from '../protocol/admin-api.ts';
import type { Resource } from '../store/resources.ts';
import { roleGroups, roles, roleUsers } from './roles.ts';
import type { Collection } from './api/collection.ts';

export { ADMIN_PATH } from '../protocol/admin-api.ts';
export { type Operation } from './api/operation.ts';
export { NDJSON } from './api/list.ts';
export { exportList, fill, perform } from './api/perform.ts';
export { Problem, problemOf, PROBLEM_CODES } from './api/problem.ts';
export type { Collection } from './api/collection.ts';

/** Every collection, by the name that the command line gives it. */
export const collections = {
  clients,
  'client-secrets': clientSecrets,
  groups,
  'group-members': groupMembers,
  roles,
  'role-users': roleUsers,
  'role-groups': roleGroups,
  users,
  invitations,
  'user-imports': userImports,
  'user-credentials': userCredentials,
  'user-passkeys': userPasskeys,
  'user-sessions': userSessions,
  'user-grants': userGrants,
  'user-consents': userConsents,
  sessions,
  grants,
  tokens,
  'registration-tokens': registrationTokens,
  scopes,
  resources,
  'authorization-types': authorizationTypes,
  'logout-notices': logoutNotices,
  mails,
  keys,
  'audit-events': auditEvents,
  settings,
  theme: serverTheme,
  'client-theme': clientTheme,
  upstreams,
} as const satisfies Record<string, Collection>;

/** Everything that can be done. */
export const operations: readonly Operation[] = Object.values<Collection>(collections).flatMap(operationsOf);

/** The scopes of the API, each with what a token that has it may do. */
export const adminScopes: ReadonlyMap<string, string> = new Map(
  operations.map(({ scope }) => {
    const [subject, verb] = scope.split(':') as [string, string];
    return [scope, `${verb === 'read' ? 'See' : 'Change'} ${subject} of this service`];
  }),
);

/** The OpenAPI document of the API at this issuer. */
export const describe = (issuer: string): Record<string, unknown> =>
  describeApi(operations, adminApiOf(issuer), adminScopes, issuer);

/** The API as a resource (RFC 8707): it is in no table, since its name follows from the issuer. */
export const adminResource = (issuer: string): Resource => ({
  resource: adminApiOf(issuer),
  name: 'Postern admin API',
  client_id: null,
  scope: [...adminScopes.keys()],
  access_token_format: null,
  access_token_ttl: null,
  access_token_signing_alg: null,
  access_token_typ: null,
  claims: [],
});
