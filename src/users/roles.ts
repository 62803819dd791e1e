/** Roles at a resource or at the whole server, and who holds them. Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { readableText } from '../protocol/plain-text.ts';
import { invalid } from '../protocol/write-error.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as roles from '../store/roles.ts';
import { membershipName, MOST_MEMBERSHIPS, naming } from './groups.ts';

type Needs = Pick<Deps, 'random'>;

/** What an operator may say of a role, besides where it holds: a role at another resource is another role. */
export const roleFields = z.strictObject({
  name: membershipName,
  description: readableText(500).nullable().default(null),
});
export type RoleFields = z.output<typeof roleFields>;

/** A new role: at one resource, or (null) at the whole server. */
export const newRole = roleFields.extend({ resource: z.string().max(2000).nullable().default(null) });

/** Creates a role. @throws WriteError, ZodError */
export async function createRole(
  trx: Trx,
  { random }: Needs,
  fields: z.input<typeof newRole>,
  by: Actor,
  now: Date,
): Promise<roles.Role> {
  const after = newRole.parse(fields);
  const role_id = random(12).toString('hex');
  const role = { role_id, ...after, created_at: now, updated_at: now };
  const inserted = await naming(`the role ${after.name} exists there`, () => roles.insert(trx, role));
  if (!inserted) throw invalid(`there is no resource ${after.resource}`);
  await record(trx, { event: 'role_created', detail: { role_id, after } }, by, now);
  return role;
}

/** Changes what is named of a role. Undefined when there is none. @throws WriteError, ZodError */
export async function updateRole(
  trx: Trx,
  role_id: string,
  changes: Partial<RoleFields>,
  by: Actor,
  now: Date,
): Promise<roles.Role | undefined> {
  const present = await roles.findLocked(trx, role_id);
  if (!present) return undefined;
  const before = { name: present.name, description: present.description };
  const after = roleFields.parse({ ...before, ...changes });
  if (isDeepStrictEqual(after, before)) return present;
  await naming(`the role ${after.name} exists there`, () => roles.update(trx, { role_id, ...after, updated_at: now }));
  await record(trx, { event: 'role_updated', detail: { role_id, before, after } }, by, now);
  return { ...present, ...after, updated_at: now };
}

/** Deletes a role; nobody holds it from then on. False when there is none. */
export async function removeRole(trx: Trx, role_id: string, by: Actor, now: Date): Promise<boolean> {
  const removed = await roles.remove(trx, role_id);
  if (!removed) return false;
  const { name, description, resource } = removed;
  await record(trx, { event: 'role_deleted', detail: { role_id, before: { name, description, resource } } }, by, now);
  return true;
}

/** Who is to hold a role: a person, or everybody in a group. */
export interface Holder {
  kind: roles.HolderKind;
  /** A `sub` or a `group_id`. */
  id: string;
}

/** Gives a role; one that is held already stays. False when there is no such role or nobody of this id. @throws WriteError */
export async function assignRole(
  trx: Trx,
  role_id: string,
  { kind, id }: Holder,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const { found, added, crowded } = await roles.assign(trx, kind, role_id, id, MOST_MEMBERSHIPS, now);
  if (found && crowded) {
    throw invalid(`${id}: holds ${MOST_MEMBERSHIPS} roles already, and nobody can hold more`);
  }
  if (added) await record(trx, { event: 'role_given', ...holderOf(role_id, { kind, id }) }, by, now);
  return found;
}

/** Takes a role away. False when it was not held. */
export async function unassignRole(
  trx: Trx,
  role_id: string,
  { kind, id }: Holder,
  by: Actor,
  now: Date,
): Promise<boolean> {
  if (!(await roles.unassign(trx, kind, role_id, id))) return false;
  await record(trx, { event: 'role_taken', ...holderOf(role_id, { kind, id }) }, by, now);
  return true;
}

const holderOf = (
  role_id: string,
  { kind, id }: Holder,
): { sub: string | null; detail: { role_id: string; group_id?: string } } =>
  kind === 'users' ? { sub: id, detail: { role_id } } : { sub: null, detail: { role_id, group_id: id } };
