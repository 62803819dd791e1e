/** What happens to passkeys. Their names are their owner's words, and the log outlives the account: they are not in it. */

/** Events of the passkeys of one person. */
export type PasskeyEvent =
  | { event: 'passkey_created'; sub: string; detail: { passkey_id: string; aaguid: string } }
  | { event: 'passkey_renamed'; sub: string; detail: { passkey_id: string } }
  | { event: 'passkey_deleted'; sub: string; detail: { passkey_id: string } }
  | {
      /** Another authenticator may have a copy of the key. */
      event: 'passkey_count_went_back';
      sub: string;
      detail: { passkey_id: string; stored: number; received: number };
    };
