/** What happens to people, as the audit log keeps it. */

/** Events about one person. */
export type PeopleEvent = {
  event: 'other_sessions_ended';
  sub: string;
  detail: { sessions_ended: number; grants_revoked: number };
};
