/** Roles at a resource or at the whole server, and who holds them. Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { readableText } from '../protocol/plain-text.ts';
import { transact } from '../store/db.ts';
import * as roles from '../store/roles.ts';
import { GroupProblem, membershipName, naming } from './groups.ts';

type Needs = Pick<Deps, 'db' | 'random'>;

/** What an operator may say of a role, besides where it holds: a role at another resource is another role. */
export const roleFields = z.strictObject({
  name: membershipName,
  description: readableText(500).nullable().default(null),
});
export type RoleFields = z.output<typeof roleFields>;

/** A new role: at one resource, or (null) at the whole server. */
export const newRole = roleFields.extend({ resource: z.string().max(2000).nullable().default(null) });

/** Creates a role. @throws GroupProblem, ZodError */
export async function createRole(
  deps: Needs,
  fields: z.input<typeof newRole>,
  by: Actor,
  now: Date,
): Promise<roles.Role> {
  const after = newRole.parse(fields);
  const role_id = deps.random(12).toString('hex');
  const role = { role_id, ...after, created_at: now, updated_at: now };
  await naming(`the role ${after.name} exists there`, () =>
    transact(deps.db, async (trx) => {
      if (!(await roles.insert(trx, role))) throw new GroupProblem(`there is no resource ${after.resource}`, 'invalid');
      await record(trx, { event: 'role_created', detail: { role_id, after } }, by, now);
    }),
  );
  return role;
}

/** Changes what is named of a role. Undefined when there is none. @throws GroupProblem, ZodError */
export function updateRole(
  deps: Needs,
  role_id: string,
  changes: Partial<RoleFields>,
  by: Actor,
  now: Date,
): Promise<roles.Role | undefined> {
  return naming(`the role ${changes.name} exists there`, () =>
    transact(deps.db, async (trx) => {
      const present = await roles.findLocked(trx, role_id);
      if (!present) return undefined;
      const before = { name: present.name, description: present.description };
      const after = roleFields.parse({ ...before, ...changes });
      if (isDeepStrictEqual(after, before)) return present;
      await roles.update(trx, { role_id, ...after, updated_at: now });
      await record(trx, { event: 'role_updated', detail: { role_id, before, after } }, by, now);
      return { ...present, ...after, updated_at: now };
    }),
  );
}

/** Deletes a role; nobody holds it from then on. False when there is none. */
export function removeRole(deps: Needs, role_id: string, by: Actor, now: Date): Promise<boolean> {
  return transact(deps.db, async (trx) => {
    const removed = await roles.remove(trx, role_id);
    if (!removed) return false;
    const { name, description, resource } = removed;
    await record(trx, { event: 'role_deleted', detail: { role_id, before: { name, description, resource } } }, by, now);
    return true;
  });
}

/** Who is to hold a role: a person, or everybody in a group. */
export interface Holder {
  kind: roles.HolderKind;
  /** A `sub` or a `group_id`. */
  id: string;
}

/** Gives a role; one that is held already stays. False when there is no such role or nobody of this id. */
export function giveRole(deps: Needs, role_id: string, { kind, id }: Holder, by: Actor, now: Date): Promise<boolean> {
  return transact(deps.db, async (trx) => {
    const { found, added } = await roles.give(trx, kind, role_id, id, now);
    if (added) await record(trx, { event: 'role_given', ...holderOf(role_id, { kind, id }) }, by, now);
    return found;
  });
}

/** Takes a role away. False when it was not held. */
export function takeRole(deps: Needs, role_id: string, { kind, id }: Holder, by: Actor, now: Date): Promise<boolean> {
  return transact(deps.db, async (trx) => {
    if (!(await roles.take(trx, kind, role_id, id))) return false;
    await record(trx, { event: 'role_taken', ...holderOf(role_id, { kind, id }) }, by, now);
    return true;
  });
}

const holderOf = (
  role_id: string,
  { kind, id }: Holder,
): { sub: string | null; detail: { role_id: string; group_id?: string } } =>
  kind === 'users' ? { sub: id, detail: { role_id } } : { sub: null, detail: { role_id, group_id: id } };
