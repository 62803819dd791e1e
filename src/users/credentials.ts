/** What a person can show to sign in, as it is told: that it is there, since when, and when it was used; never what it is. */
import type { Db } from '../store/postgres/db.ts';
import * as recoveryCodes from '../store/recovery-codes.ts';
import * as totps from '../store/totp-credentials.ts';
import * as users from '../store/users.ts';
import { endOfDrawn } from './drawn-password.ts';

/** The kinds of which a person has one. Passkeys are many, and have verbs of their own (users/passkeys.ts). */
export const CREDENTIALS = ['password', 'recovery_codes', 'totp'] as const;
export type CredentialType = (typeof CREDENTIALS)[number];

/** A credential as it is told. */
export interface ToldCredential {
  type: CredentialType;
  /** When it was set, or set up. */
  changed_at: Date;
  /** When an authenticator app was used last; null for never. */
  used_at?: Date | null;
  /** Until when a password that was drawn can be used. */
  expires_at?: Date;
  /** How many recovery codes are left. */
  left?: number;
}

const read: Readonly<Record<CredentialType, (db: Db, sub: string) => Promise<ToldCredential | undefined>>> = {
  async password(db, sub) {
    const age = await users.passwordAge(db, sub);
    if (!age) return undefined;
    const { changed_at, drawn } = age;
    return { type: 'password', changed_at, ...(drawn && { expires_at: endOfDrawn(changed_at) }) };
  },
  async recovery_codes(db, sub) {
    const codes = await recoveryCodes.count(db, sub);
    return codes && { type: 'recovery_codes', changed_at: codes.created_at, left: codes.left };
  },
  async totp(db, sub) {
    const app = await totps.find(db, sub);
    return app && { type: 'totp', changed_at: app.created_at, used_at: app.used_at };
  },
};

/** One of them, if the person has it. */
export const credentialOf = (db: Db, sub: string, type: CredentialType): Promise<ToldCredential | undefined> =>
  read[type](db, sub);

/** All that a person has, by type. */
export async function credentialsOf(db: Db, sub: string): Promise<ToldCredential[]> {
  const found = await Promise.all(CREDENTIALS.map((type) => read[type](db, sub)));
  return found.filter((credential) => credential !== undefined);
}
