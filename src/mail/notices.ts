/** What people are told of when it happened to their account. */
export const NOTICES = [
  'password_changed',
  'password_removed',
  'passkey_added',
  'passkey_removed',
  'passkey_suspected',
  'authenticator_added',
  'authenticator_removed',
  'recovery_codes_made',
  'recovery_codes_removed',
  'recovery_code_used',
  'factors_reset',
  'upstream_linked',
  'upstream_unlinked',
  'email_changed',
  'email_restored',
  'account_deletion_asked',
  'account_deletion_cancelled',
  'account_deleted',
  'account_suspected',
  'password_suspected',
] as const;

export type NoticeName = (typeof NOTICES)[number];
