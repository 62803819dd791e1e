/** Roles at a resource or at the whole server, and who holds them. */
import { z } from 'zod';
import type { Trx } from '../store/db.ts';
import { estimateRows } from '../store/listing.ts';
import * as store from '../store/roles.ts';
import { createRole, giveRole, newRole, removeRole, roleFields, takeRole, updateRole } from '../users/roles.ts';
import { flag } from './list.ts';
import { Problem } from './problem.ts';
import { createOf, listOf, replaceOf, type AdminResource, type Item } from './resource.ts';

/** What the server says of a role. In a body it is accepted, so that what was read can be sent back, and not used. */
const said = { role_id: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() };
const ignored = z.object(said).partial().shape;

const itemOf = ({ created_at, updated_at, ...role }: store.Role): Item => ({
  ...role,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

export const roles: AdminResource = {
  noun: 'role',
  summary: 'roles',
  path: '/roles',
  id: 'role_id',
  subject: 'roles',
  item: z.strictObject({
    name: roleFields.shape.name,
    description: z.string().nullable(),
    resource: z.string().nullable().describe('Where it holds: at this resource, or (null) at the whole server'),
    ...said,
  }),
  list: listOf({
    filters: z.strictObject({
      name: z.string().max(200),
      resource: z.string().max(2000),
      server_wide: flag.describe('Those at the whole server, or all the others'),
    }),
    sorts: { created_at: ['created_at', 'role_id'], name: ['name', 'role_id'] },
    async page({ deps }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ deps }) => estimateRows(deps.db, 'roles'),
  }),
  async find({ deps }, { role_id }, lock) {
    const row = await (lock ? store.findLocked(deps.db as Trx, role_id!) : store.find(deps.db, role_id!));
    return row && itemOf(row);
  },
  create: createOf({
    body: newRole.extend(ignored),
    run: async ({ deps, by, now }, _ids, { name, description, resource }) =>
      itemOf(await createRole(deps, { name, description, resource }, by, now)),
  }),
  replace: replaceOf({
    body: roleFields.extend({ ...ignored, resource: newRole.shape.resource }),
    writable: ({ name, description, resource }) => ({ name, description, resource }),
    async run({ deps, by, now }, { role_id }, { name, description, resource }, _made, present) {
      if (resource !== present!['resource']) {
        throw new Problem('invalid', 'a role stays where it is: at another resource it is another role');
      }
      return itemOf((await updateRole(deps, role_id!, { name, description }, by, now))!);
    },
  }),
  remove: ({ deps, by, now }, { role_id }) => removeRole(deps, role_id!, by, now),
};

/** Those who hold a role, of one kind: people or groups. */
function holdersOf(kind: store.HolderKind, id: 'sub' | 'group_id', noun: string): AdminResource {
  const holder = ({ id: of, created_at }: store.Holder): Item => ({ [id]: of, created_at: created_at.toISOString() });
  const fields = { [id]: z.string(), created_at: z.iso.datetime() };
  return {
    noun,
    summary: `the ${kind === 'users' ? 'people' : 'groups'} that hold a role`,
    path: `/roles/{role_id}/${kind}`,
    id,
    subject: 'roles',
    item: z.strictObject(fields),
    list: listOf({
      filters: z.strictObject({}),
      sorts: { [id]: [id] },
      async page({ deps }, { role_id }, _filters, keyset) {
        if (!(await store.find(deps.db, role_id!))) throw new Problem('not-found', 'there is no such role');
        const { rows, ...rest } = await store.pageOfHolders(deps.db, kind, role_id!, keyset);
        const items = rows.map((row) => holder({ id: String(row[id]), created_at: row['created_at'] as Date }));
        return { items, ...rest };
      },
    }),
    async find({ deps }, ids) {
      const row = await store.findHolder(deps.db, kind, ids['role_id']!, ids[id]!);
      return row && holder(row);
    },
    replace: replaceOf({
      body: z.strictObject(fields).partial(),
      creates: true,
      writable: () => ({}),
      async run({ deps, by, now }, ids, given) {
        const [role_id, of] = [ids['role_id']!, ids[id]!];
        if (given[id] !== undefined && given[id] !== of)
          throw new Problem('invalid', `${id} is another than in the path`);
        if (!(await giveRole(deps, role_id, { kind, id: of }, by, now))) {
          throw new Problem('not-found', 'there is no such role, or nobody of this id');
        }
        return holder((await store.findHolder(deps.db, kind, role_id, of))!);
      },
    }),
    remove: ({ deps, by, now }, ids) => takeRole(deps, ids['role_id']!, { kind, id: ids[id]! }, by, now),
  };
}

export const roleUsers = holdersOf('users', 'sub', 'person with a role');
export const roleGroups = holdersOf('groups', 'group_id', 'group with a role');
