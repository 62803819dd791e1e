/** What happens to people, as the audit log keeps it. */

/** People of another system are to be imported; each of them is an event of their own then. */
type ImportEvent = { event: 'user_import_asked'; sub: null; detail: { import_id: string; people: number } };

/** Events on the way to an account. Nobody's yet, of which the address is not kept: it may be anybody's. */
type RegistrationEvent =
  | { event: 'registration_asked' | 'email_sign_in_asked'; sub: null; detail: Record<string, never> }
  | { event: 'registered'; sub: string; detail: { via: 'code' | 'link' | 'link elsewhere' } }
  | { event: 'verification_sent' | 'address_verified' | 'invitation_accepted'; sub: string }
  | { event: 'invited'; sub: string; detail: { mailed: boolean; link_shown: boolean } };

/** Events about one person. */
export type PeopleEvent =
  | RegistrationEvent
  | ImportEvent
  | { event: 'other_sessions_ended'; sub: string; detail: { sessions_ended: number; grants_revoked: number } }
  | { event: 'second_factor'; sub: string; detail: { amr: readonly string[]; via: string } }
  | { event: 'factor_added' | 'factor_removed'; sub: string; detail: { factor: string; sessions_ended?: number } }
  | {
      event: 'factors_reset';
      sub: string;
      detail: { factors: readonly string[]; sessions_ended: number; grants_revoked: number };
    }
  | { event: 'recovery_codes_made'; sub: string; detail: { codes: number } }
  | { event: 'recovery_code_used'; sub: string; detail: { left: number } }
  | { event: 'deletion_requested'; sub: string; detail: { erase_after: string } }
  /** Many wrong passwords, or wrong second factors after the right password. */
  | { event: 'passwords_guessed' | 'second_factors_guessed'; sub: string }
  | { event: 'deletion_withdrawn' | 'data_downloaded'; sub: string }
  /** `sub` is the name that stands for the person in the log from then on. */
  | { event: 'user_erased'; sub: string }
  | { event: 'password_reset'; sub: string; detail: { email_verified: boolean } }
  | { event: 'email_changed' | 'email_restored'; sub: string };
