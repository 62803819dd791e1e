/** Groups of people, and who is in them. */
import { z } from 'zod';
import * as store from '../store/groups.ts';
import type { Trx } from '../store/db.ts';
import { estimateRows } from '../store/listing.ts';
import { addMembers, createGroup, groupFields, removeGroup, removeMember, updateGroup } from '../users/groups.ts';
import { Problem } from './problem.ts';
import { actionOf, createOf, listOf, replaceOf, type AdminResource, type Call, type Item } from './resource.ts';

/** What the server says of a group. In a body it is accepted, so that what was read can be sent back, and not used. */
const said = { group_id: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() };
const body = groupFields.extend(z.object(said).partial().shape);

const itemOf = ({ created_at, updated_at, ...group }: store.Group): Item => ({
  ...group,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

export const groups: AdminResource = {
  noun: 'group',
  summary: 'groups of people',
  path: '/groups',
  id: 'group_id',
  subject: 'groups',
  item: z.strictObject({ ...groupFields.shape, description: z.string().nullable(), ...said }),
  list: listOf({
    filters: z.strictObject({
      name: z.string().max(200),
      sub: z.string().max(255).describe('Those that this person is in'),
    }),
    sorts: { created_at: ['created_at', 'group_id'], name: ['name'] },
    async page({ deps }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ deps }) => estimateRows(deps.db, 'groups'),
  }),
  async find({ deps }, { group_id }, lock) {
    const row = await (lock ? store.findLocked(deps.db as Trx, group_id!) : store.find(deps.db, group_id!));
    return row && itemOf(row);
  },
  create: createOf({
    body,
    run: async ({ deps, by, now }, _ids, { name, description }) =>
      itemOf(await createGroup(deps, { name, description }, by, now)),
  }),
  replace: replaceOf({
    body,
    writable: ({ name, description }) => ({ name, description }),
    async run({ deps, by, now }, { group_id }, { name, description }) {
      return itemOf((await updateGroup(deps, group_id!, { name, description }, by, now))!);
    },
  }),
  remove: ({ deps, by, now }, { group_id }) => removeGroup(deps, group_id!, by, now),
};

/** As many as one request may add. */
const MOST = 200;

const memberOf = ({ sub, created_at }: store.Member): Item => ({ sub, created_at: created_at.toISOString() });

async function requireGroup({ deps }: Call, group_id: string): Promise<void> {
  if (!(await store.find(deps.db, group_id))) throw new Problem('not-found', 'there is no such group');
}

/** Adds everybody, or nobody. @throws Problem */
async function join({ deps, by, now }: Call, group_id: string, subs: readonly string[]): Promise<string[]> {
  const { found, known, added } = await addMembers(deps, group_id, subs, by, now);
  if (!found) throw new Problem('not-found', 'there is no such group');
  const errors = subs.flatMap((sub, index) =>
    known.includes(sub) ? [] : [{ pointer: `/subs/${index}`, detail: 'is nobody', code: 'unknown' }],
  );
  if (errors.length > 0) throw new Problem('invalid', 'somebody to be added does not exist', { errors });
  return added;
}

export const groupMembers: AdminResource = {
  noun: 'member of a group',
  summary: 'the members of a group',
  path: '/groups/{group_id}/members',
  id: 'sub',
  subject: 'groups',
  item: z.strictObject({ sub: z.string(), created_at: z.iso.datetime().describe('When they joined') }),
  list: listOf({
    filters: z.strictObject({}),
    sorts: { sub: ['sub'] },
    async page(call, { group_id }, _filters, keyset) {
      await requireGroup(call, group_id!);
      const { rows, ...rest } = await store.pageOfMembers(call.deps.db, group_id!, keyset);
      return { items: rows.map(memberOf), ...rest };
    },
  }),
  async find({ deps }, { group_id, sub }) {
    const row = await store.findMember(deps.db, group_id!, sub!);
    return row && memberOf(row);
  },
  replace: replaceOf({
    body: z.strictObject({ sub: z.string(), created_at: z.iso.datetime() }).partial(),
    creates: true,
    writable: () => ({}),
    async run(call, { group_id, sub }, given) {
      if (given.sub !== undefined && given.sub !== sub) throw new Problem('invalid', 'sub is another than in the path');
      const { found, known } = await addMembers(call.deps, group_id!, [sub!], call.by, call.now);
      if (!found || known.length === 0) throw new Problem('not-found', 'there is no such group, or no such person');
      return memberOf((await store.findMember(call.deps.db, group_id!, sub!))!);
    },
  }),
  remove: ({ deps, by, now }, { group_id, sub }) => removeMember(deps, group_id!, sub!, by, now),
  actions: {
    add: actionOf({
      summary: 'Add people to a group, all or nobody',
      collection: true,
      body: z.strictObject({ subs: z.array(z.string().max(255)).min(1).max(MOST) }),
      answer: z.strictObject({ added: z.array(z.string()).describe('Those who were not in it before') }),
      run: async (call, { group_id }, { subs }) => ({ added: await join(call, group_id!, subs) }),
    }),
  },
};
