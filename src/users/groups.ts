/** Groups of people: made, changed and removed, and who is in them. Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { readableText } from '../protocol/plain-text.ts';
import { conflict, invalid } from '../protocol/write-error.ts';
import { uniqueViolation, type Trx } from '../store/postgres/db.ts';
import * as groups from '../store/groups.ts';

type Needs = Pick<Deps, 'random'>;

/** A name as tokens carry it: compared byte for byte by whoever reads it, so it is written in one way only. */
export const membershipName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{C}\p{DI}]*$/u, 'must be of characters that can be seen')
  .refine((name) => name === name.trim() && name === name.normalize('NFC'), 'must be in NFC, without spaces around it')
  .meta({ title: 'VisibleText' });

/**
 * A person is in so many groups at most, and a person or a group holds so many roles: all of them are read whenever tokens
 * are made, and what tokens cannot say is of no use to anybody.
 */
export const MOST_MEMBERSHIPS = 1000;

/** What an operator may say of a group. */
export const groupFields = z.strictObject({
  name: membershipName,
  description: readableText(500).nullable().default(null),
});
export type GroupFields = z.output<typeof groupFields>;

/** Creates a group. @throws WriteError, ZodError */
export async function createGroup(
  trx: Trx,
  { random }: Needs,
  fields: z.input<typeof groupFields>,
  by: Actor,
  now: Date,
): Promise<groups.Group> {
  const after = groupFields.parse(fields);
  const group_id = random(12).toString('hex');
  const group = { group_id, ...after, created_at: now, updated_at: now };
  await naming(`the group ${after.name} exists`, () => groups.insert(trx, group));
  await record(trx, { event: 'group_created', detail: { group_id, after } }, by, now);
  return group;
}

/** Changes what is named of a group. Undefined when there is none. @throws WriteError, ZodError */
export async function updateGroup(
  trx: Trx,
  group_id: string,
  changes: Partial<GroupFields>,
  by: Actor,
  now: Date,
): Promise<groups.Group | undefined> {
  const present = await groups.findLocked(trx, group_id);
  if (!present) return undefined;
  const before = { name: present.name, description: present.description };
  const after = groupFields.parse({ ...before, ...changes });
  if (isDeepStrictEqual(after, before)) return present;
  await naming(`the group ${after.name} exists`, () => groups.update(trx, { group_id, ...after, updated_at: now }));
  await record(trx, { event: 'group_updated', detail: { group_id, before, after } }, by, now);
  return { ...present, ...after, updated_at: now };
}

/** Deletes a group, with who is in it and the roles it gave them. False when there is none. */
export async function removeGroup(trx: Trx, group_id: string, by: Actor, now: Date): Promise<boolean> {
  const removed = await groups.remove(trx, group_id);
  if (!removed) return false;
  const before = { name: removed.name, description: removed.description };
  await record(trx, { event: 'group_deleted', detail: { group_id, before } }, by, now);
  return true;
}

/** Adds people to a group, if there is such a group and all of them exist: else nobody. @throws WriteError */
export async function addMembers(
  trx: Trx,
  group_id: string,
  subs: readonly string[],
  by: Actor,
  now: Date,
): Promise<groups.Joined> {
  const unique = [...new Set(subs)];
  const joined = await groups.addMembers(trx, group_id, unique, MOST_MEMBERSHIPS, now);
  if (joined.found && joined.known.length === unique.length && joined.crowded.length > 0) {
    const problem = `${joined.crowded.join(', ')}: in ${MOST_MEMBERSHIPS} groups already, and nobody can be in more`;
    throw invalid(problem);
  }
  for (const sub of joined.added) {
    await record(trx, { event: 'group_member_added', sub, detail: { group_id } }, by, now);
  }
  return joined;
}

/** Takes a person out of a group. False when they were not in it. */
export async function removeMember(trx: Trx, group_id: string, sub: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await groups.removeMember(trx, group_id, sub))) return false;
  await record(trx, { event: 'group_member_removed', sub, detail: { group_id } }, by, now);
  return true;
}

/** @throws WriteError where the name is taken */
export async function naming<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw uniqueViolation(error) === undefined ? error : conflict(message);
  }
}
