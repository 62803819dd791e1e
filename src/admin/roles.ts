/** Roles at a resource or at the whole server, and who holds them. */
import { z } from 'zod';
import { estimateRows } from '../store/postgres/listing.ts';
import * as store from '../store/roles.ts';
import { createRole, assignRole, newRole, removeRole, roleFields, unassignRole, updateRole } from '../users/roles.ts';
import { flag } from './api/list.ts';
import { Problem } from './api/problem.ts';
import { collectionOf } from './api/collection.ts';

/** Members that the server sets. A body may hold them, so that what was read can be sent back; they are ignored. */
const ofServer = { role_id: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() };
const ignored = z.object(ofServer).partial().shape;

const itemOf = ({ created_at, updated_at, ...role }: store.Role) => ({
  ...role,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const collection = collectionOf({
  noun: 'role',
  summary: 'roles',
  path: '/roles',
  id: 'role_id',
  subject: 'roles',
  item: z.strictObject({
    name: roleFields.shape.name,
    description: z.string().nullable(),
    resource: z.string().nullable().describe('Where it holds: at this resource, or (null) at the whole server'),
    ...ofServer,
  }),
});

export const roles = collection.with({
  list: collection.list({
    filters: z.strictObject({
      name: z.string().max(200),
      resource: z.string().max(2000),
      server_wide: flag.describe('Those at the whole server, or all the others'),
    }),
    sorts: { created_at: ['created_at', 'role_id'], name: ['name', 'role_id'] },
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ db }) => estimateRows(db, 'roles'),
  }),
  async find({ db }, { role_id }) {
    const row = await store.find(db, role_id);
    return row && itemOf(row);
  },
  async findLocked({ trx }, { role_id }) {
    const row = await store.findLocked(trx, role_id);
    return row && itemOf(row);
  },
  create: collection.create({
    body: newRole.extend(ignored),
    run: async ({ trx, deps, by, now }, _ids, { name, description, resource }) =>
      itemOf(await createRole(trx, deps, { name, description, resource }, by, now)),
  }),
  replace: collection.replace({
    body: roleFields.extend({ ...ignored, resource: newRole.shape.resource }),
    writable: ({ name, description, resource }) => ({ name, description, resource }),
    async run({ trx, by, now }, { role_id }, { name, description, resource }, _made, present) {
      if (resource !== present?.resource) {
        throw new Problem('invalid', 'a role stays where it is: at another resource it is another role');
      }
      return itemOf((await updateRole(trx, role_id, { name, description }, by, now))!);
    },
  }),
  remove: ({ trx, by, now }, { role_id }) => removeRole(trx, role_id, by, now),
});

/** Those who hold a role, of one kind: people or groups. */
function holdersOf<const Id extends 'sub' | 'group_id'>(of: store.HolderKind, id: Id, noun: string) {
  const item = z.strictObject({ [id]: z.string(), created_at: z.iso.datetime() });
  const shown = (holder: store.Holder) => ({ [id]: holder.id, created_at: holder.created_at.toISOString() });
  const holder = collectionOf({
    noun,
    summary: `the ${of === 'users' ? 'people' : 'groups'} that hold a role`,
    path: `/roles/{role_id}/${of}` as const,
    id,
    subject: 'roles',
    item,
  });
  return holder.with({
    list: holder.list({
      filters: z.strictObject({}),
      sorts: { [id]: [id] },
      async page({ db }, { role_id }, _filters, keyset) {
        if (!(await store.find(db, role_id))) throw new Problem('not-found', 'there is no such role');
        const { rows, ...rest } = await store.pageOfHolders(db, of, role_id, keyset);
        return { items: rows.map(shown), ...rest };
      },
    }),
    async find({ db }, ids) {
      const row = await store.findHolder(db, of, ids.role_id, ids[id]);
      return row && shown(row);
    },
    replace: holder.replace({
      body: item.partial(),
      creates: true,
      writable: () => ({}),
      async run({ trx, by, now }, ids, given) {
        const { role_id, [id]: holder_id } = ids;
        if (given[id] !== undefined && given[id] !== holder_id)
          throw new Problem('invalid', `${id} is another than in the path`);
        if (!(await assignRole(trx, role_id, { kind: of, id: holder_id }, by, now))) {
          throw new Problem('not-found', 'there is no such role, or nobody of this id');
        }
        return shown((await store.findHolder(trx, of, role_id, holder_id))!);
      },
    }),
    remove: ({ trx, by, now }, ids) => unassignRole(trx, ids.role_id, { kind: of, id: ids[id] }, by, now),
  });
}

export const roleUsers = holdersOf('users', 'sub', 'person with a role');
export const roleGroups = holdersOf('groups', 'group_id', 'group with a role');
