/** The audit detail of a changed account. */
import { isDeepStrictEqual } from 'node:util';
import type { User } from '../store/users.ts';

/** What identifies a person here, and so decides who can sign in: kept as it was and as it is. */
const RECORDED = ['username', 'email', 'email_verified'] as const;

/**
 * Names before and after. Of claims only which of them changed: they are about the person and not needed to undo an attack,
 * and the log outlives the account.
 */
export function describeChanges(
  before: User,
  after: User,
): { before: Record<string, unknown>; after: Record<string, unknown>; claims: string[] } {
  const differs = RECORDED.filter((member) => before[member] !== after[member]);
  const pick = (user: User): Record<string, unknown> =>
    Object.fromEntries(differs.map((member) => [member, user[member]]));
  const [had, has] = [new Map(Object.entries(before.claims)), new Map(Object.entries(after.claims))];
  const names = [...new Set([...had.keys(), ...has.keys()])];
  return {
    before: pick(before),
    after: pick(after),
    claims: names.filter((name) => !isDeepStrictEqual(had.get(name), has.get(name))).toSorted(),
  };
}
