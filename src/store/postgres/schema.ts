/**
 * The tables, and which of them are emptied by time. Each is described where its statements are; the migrations say what its
 * columns are for.
 */
import type { AccessTokensTable, RevokedTokensTable } from '../access-tokens.ts';
import type { AuditEventsTable } from '../audit-log.ts';
import type { AuthorizationCodesTable } from '../authorization-codes.ts';
import type { AuthorizationTypesTable } from '../authorization-types.ts';
import type { ClientLogosTable } from '../client-logos.ts';
import type { ClientsTable } from '../clients-table.ts';
import type { ClientSecretsTable } from '../clients.ts';
import type { ConsentsTable } from '../consents.ts';
import type { DeviceCodesTable } from '../device-codes.ts';
import type { EndedNamesTable } from '../ended-names.ts';
import type { FailuresTable } from '../failures.ts';
import type { GrantsTable } from '../grants.ts';
import type { GroupMembersTable, GroupsTable } from '../groups.ts';
import type { IdempotencyKeysTable } from '../idempotency-keys.ts';
import type { InitialAccessTokensTable } from '../initial-access-tokens.ts';
import type { InteractionsTable } from '../interactions.ts';
import type { SigningKeysTable } from '../keys.ts';
import type { LogoutNoticesTable } from '../logout-notices.ts';
import type { PasskeyPeopleTable, PasskeysTable } from '../passkeys.ts';
import type { MailRequestsTable } from '../mail-requests.ts';
import type { MailsTable } from '../mails.ts';
import type { UserImportsTable } from '../user-imports.ts';
import type { PersonLinksTable } from '../person-links.ts';
import type { PushedRequestsTable } from '../pushed-requests.ts';
import type { RecoveryCodesTable } from '../recovery-codes.ts';
import type { RefreshTokensTable } from '../refresh-tokens.ts';
import type { RefusalsTable } from '../refusals.ts';
import type { ReplaysTable } from '../replays.ts';
import type { ResourcesTable } from '../resources.ts';
import type { RoleGroupsTable, RoleUsersTable, RolesTable } from '../roles.ts';
import type { SaltsTable } from '../salts.ts';
import type { ScopesTable } from '../scopes.ts';
import type { SessionsTable } from '../sessions.ts';
import type { SignOutsTable } from '../sign-outs.ts';
import type { UpstreamLinksTable } from '../upstream-links.ts';
import type { UpstreamRequestsTable } from '../upstream-requests.ts';
import type { UpstreamSessionsTable } from '../upstream-sessions.ts';
import type { ThemesTable } from '../themes.ts';
import type { UpstreamsTable } from '../upstreams.ts';
import type { TotpCredentialsTable } from '../totp-credentials.ts';
import type { PasswordCredentialsTable, SubjectsTable, UsersTable } from '../users.ts';
import type { WaitingPagesTable } from '../waiting-pages.ts';

/** Every table. */
export interface Database {
  subjects: SubjectsTable;
  clients: ClientsTable;
  client_secrets: ClientSecretsTable;
  client_logos: ClientLogosTable;
  initial_access_tokens: InitialAccessTokensTable;
  scopes: ScopesTable;
  resources: ResourcesTable;
  ended_names: EndedNamesTable;
  users: UsersTable;
  groups: GroupsTable;
  group_members: GroupMembersTable;
  roles: RolesTable;
  role_users: RoleUsersTable;
  role_groups: RoleGroupsTable;
  password_credentials: PasswordCredentialsTable;
  passkey_people: PasskeyPeopleTable;
  passkeys: PasskeysTable;
  totp_credentials: TotpCredentialsTable;
  recovery_codes: RecoveryCodesTable;
  failures: FailuresTable;
  sessions: SessionsTable;
  interactions: InteractionsTable;
  pushed_requests: PushedRequestsTable;
  device_codes: DeviceCodesTable;
  consents: ConsentsTable;
  grants: GrantsTable;
  authorization_codes: AuthorizationCodesTable;
  refresh_tokens: RefreshTokensTable;
  access_tokens: AccessTokensTable;
  revoked_tokens: RevokedTokensTable;
  replays: ReplaysTable;
  signing_keys: SigningKeysTable;
  salts: SaltsTable;
  logout_notices: LogoutNoticesTable;
  person_links: PersonLinksTable;
  waiting_pages: WaitingPagesTable;
  mails: MailsTable;
  user_imports: UserImportsTable;
  mail_requests: MailRequestsTable;
  idempotency_keys: IdempotencyKeysTable;
  sign_outs: SignOutsTable;
  refusals: RefusalsTable;
  audit_events: AuditEventsTable;
  upstreams: UpstreamsTable;
  authorization_types: AuthorizationTypesTable;
  upstream_links: UpstreamLinksTable;
  upstream_requests: UpstreamRequestsTable;
  upstream_sessions: UpstreamSessionsTable;
  themes: ThemesTable;
}

/**
 * The short-lived tables with the second half of their key. A row goes when its bucket's day is over, or with its partition
 * when the last of its days is: for codes and refresh tokens that is the day their grant could live to, so a replay is
 * always recognised.
 */
export const SHORT_LIVED = {
  interactions: 'hash',
  pushed_requests: 'hash',
  sessions: 'hash',
  sign_outs: 'hash',
  person_links: 'hash',
  waiting_pages: 'hash',
  mails: 'mail_id',
  user_imports: 'import_id',
  access_tokens: 'hash',
  revoked_tokens: 'jti',
  replays: 'hash',
  authorization_codes: 'hash',
  device_codes: 'hash',
  refresh_tokens: 'hash',
  grants: 'grant_id',
  refusals: 'refusal_id',
  upstream_requests: 'hash',
  upstream_sessions: 'sid',
} as const satisfies { [Table in keyof Database]?: keyof Database[Table] };
