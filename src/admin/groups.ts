/** Groups of people, and who is in them. */
import { z } from 'zod';
import * as store from '../store/groups.ts';
import { estimateRows } from '../store/postgres/listing.ts';
import { addMembers, createGroup, groupFields, removeGroup, removeMember, updateGroup } from '../users/groups.ts';
import { Problem } from './api/problem.ts';
import { collectionOf, type ReadCall, type WriteCall } from './api/collection.ts';

/** Members that the server sets. A body may hold them, so that what was read can be sent back; they are ignored. */
const ofServer = { group_id: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() };
const body = groupFields.extend(z.object(ofServer).partial().shape);

const itemOf = ({ created_at, updated_at, ...group }: store.Group) => ({
  ...group,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const group = collectionOf({
  noun: 'group',
  summary: 'groups of people',
  path: '/groups',
  id: 'group_id',
  subject: 'groups',
  item: z.strictObject({ ...groupFields.shape, description: z.string().nullable(), ...ofServer }),
});

export const groups = group.with({
  list: group.list({
    filters: z.strictObject({
      name: z.string().max(200),
      sub: z.string().max(255).describe('Those that this person is in'),
    }),
    sorts: { created_at: ['created_at', 'group_id'], name: ['name'] },
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ db }) => estimateRows(db, 'groups'),
  }),
  async find({ db }, { group_id }) {
    const row = await store.find(db, group_id);
    return row && itemOf(row);
  },
  async findLocked({ trx }, { group_id }) {
    const row = await store.findLocked(trx, group_id);
    return row && itemOf(row);
  },
  create: group.create({
    body,
    run: async ({ trx, deps, by, now }, _ids, { name, description }) =>
      itemOf(await createGroup(trx, deps, { name, description }, by, now)),
  }),
  replace: group.replace({
    body,
    writable: ({ name, description }) => ({ name, description }),
    async run({ trx, by, now }, { group_id }, { name, description }) {
      return itemOf((await updateGroup(trx, group_id, { name, description }, by, now))!);
    },
  }),
  remove: ({ trx, by, now }, { group_id }) => removeGroup(trx, group_id, by, now),
});

/** As many as one request may add. */
const MOST = 200;

const memberOf = ({ sub, created_at }: store.Member) => ({ sub, created_at: created_at.toISOString() });

async function requireGroup({ db }: ReadCall, group_id: string): Promise<void> {
  if (!(await store.find(db, group_id))) throw new Problem('not-found', 'there is no such group');
}

/** Adds everybody, or nobody. @throws Problem */
async function join({ trx, by, now }: WriteCall, group_id: string, subs: readonly string[]): Promise<string[]> {
  const { found, known, added } = await addMembers(trx, group_id, subs, by, now);
  if (!found) throw new Problem('not-found', 'there is no such group');
  const errors = subs.flatMap((sub, index) =>
    known.includes(sub) ? [] : [{ pointer: `/subs/${index}`, detail: 'is nobody', code: 'unknown' }],
  );
  if (errors.length > 0) throw new Problem('invalid', 'somebody to be added does not exist', { errors });
  return added;
}

const member = collectionOf({
  noun: 'member of a group',
  summary: 'the members of a group',
  path: '/groups/{group_id}/members',
  id: 'sub',
  subject: 'groups',
  item: z.strictObject({ sub: z.string(), created_at: z.iso.datetime().describe('When they joined') }),
});

export const groupMembers = member.with({
  list: member.list({
    filters: z.strictObject({}),
    sorts: { sub: ['sub'] },
    async page(call, { group_id }, _filters, keyset) {
      await requireGroup(call, group_id);
      const { rows, ...rest } = await store.pageOfMembers(call.db, group_id, keyset);
      return { items: rows.map(memberOf), ...rest };
    },
  }),
  async find({ db }, { group_id, sub }) {
    const row = await store.findMember(db, group_id, sub);
    return row && memberOf(row);
  },
  replace: member.replace({
    body: z.strictObject({ sub: z.string(), created_at: z.iso.datetime() }).partial(),
    creates: true,
    writable: () => ({}),
    async run(call, { group_id, sub }, given) {
      if (given.sub !== undefined && given.sub !== sub) throw new Problem('invalid', 'sub is another than in the path');
      const { found, known } = await addMembers(call.trx, group_id, [sub], call.by, call.now);
      if (!found || known.length === 0) throw new Problem('not-found', 'there is no such group, or no such person');
      return memberOf((await store.findMember(call.trx, group_id, sub))!);
    },
  }),
  remove: ({ trx, by, now }, { group_id, sub }) => removeMember(trx, group_id, sub, by, now),
  actions: {
    add: member.actionOnAll({
      summary: 'Add people to a group, all or nobody',
      body: z.strictObject({ subs: z.array(z.string().max(255)).min(1).max(MOST) }),
      answer: z.strictObject({ added: z.array(z.string()).describe('Those who were not in it before') }),
      run: async (call, { group_id }, { subs }) => ({ added: await join(call, group_id, subs) }),
    }),
  },
});
