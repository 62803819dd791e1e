/** A person of another system, as a line of an import says it: read and judged before anything is written. */
import { z } from 'zod';
import { personClaims, type PersonClaims } from '../../protocol/claims.ts';
import type { FoldedNames } from '../../store/users.ts';
import { checkNames, isSub } from '../accounts.ts';
import { readForeignHash } from '../factors/foreign/index.ts';
import { HashProblem, type ForeignHash } from '../factors/foreign/scheme.ts';
import { WriteError } from '../../protocol/write-error.ts';

/** The members of a line. What a system does not know is left out; null is the same. */
export const importedMembers = z.strictObject({
  sub: z.string().nullish().describe('The subject identifier there, if tokens are to go on having it'),
  username: z.string().max(500).nullish().describe('Without one, a name is drawn: people sign in with their address'),
  email: z.string().max(500).nullish(),
  email_verified: z.boolean().nullish(),
  claims: personClaims.nullish(),
  disabled: z.boolean().nullish(),
  password_hash: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .nullish()
    .describe('As the other system wrote it: see docs/importing.md'),
});
export type ImportedMembers = z.input<typeof importedMembers>;

/** Somebody who can be imported, as far as can be told from the line. */
export interface ImportedPerson {
  sub: string | undefined;
  /** Undefined: it is drawn. */
  username: string | undefined;
  email: string | null;
  /** Those of the username are empty where it is drawn. */
  folded: FoldedNames;
  email_verified: boolean;
  claims: PersonClaims;
  disabled: boolean;
  hash: ForeignHash | undefined;
}

/** What is wrong with a line, as a sentence; nothing secret is in it. */
export class ImportProblem extends Error {
  override name = 'ImportProblem';
}

/** Reads a line that was parsed. @throws ImportProblem */
export function readPerson(given: unknown): ImportedPerson {
  const result = importedMembers.safeParse(given);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new ImportProblem(`${issue!.path.join('.') || 'the line'}: ${issue!.message}`);
  }
  const { sub, username, email, email_verified, claims, disabled, password_hash } = result.data;
  if (typeof sub === 'string' && !isSub(sub)) throw new ImportProblem('sub: must be 1 to 255 visible ASCII characters');
  if (!username && !email) throw new ImportProblem('a username or an email is needed: by one of them people sign in');
  try {
    // The name that is drawn has this form.
    const { username: _username, ...names } = checkNames({ username: username || 'drawn', email: email || null });
    const { email: address, ...folded } = names;
    return {
      sub: sub ?? undefined,
      username: username || undefined,
      email: address,
      folded: username ? folded : { ...folded, username_folded: '', username_casefold: null },
      email_verified: address !== null && (email_verified ?? false),
      claims: claims ?? {},
      disabled: disabled ?? false,
      hash: password_hash ? readForeignHash(password_hash) : undefined,
    };
  } catch (error) {
    if (error instanceof HashProblem) throw new ImportProblem(`password_hash: ${error.message}`);
    if (error instanceof WriteError) throw new ImportProblem(error.message);
    throw error;
  }
}
