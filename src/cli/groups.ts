/** Groups of people: make, list, show, change and delete them, and say who is in them. */
import { Option } from 'commander';
import type { Deps } from '../deps.ts';
import * as store from '../store/groups.ts';
import { addMembers, createGroup, GroupProblem, removeGroup, removeMember, updateGroup } from '../users/groups.ts';
import { BY } from './actor.ts';
import type { Answer, Group, Leaf } from './command.ts';
import { notFound, usage } from './failure.ts';
import { collect } from './input.ts';
import { listOptions, readPages, type ListOptions } from './list.ts';
import { record, table } from './output.ts';
import { findUser } from './users.ts';

const create: Leaf<{ name?: string; description?: string; ifNotExists?: boolean }> = {
  summary: 'make a group',
  options: () => [
    new Option('--name <name>', 'what tokens call it'),
    new Option('--description <text>', 'what it is for'),
    new Option('--if-not-exists', 'answer with the group that has this name, unchanged'),
  ],
  examples: ['groups create --name staff --description "Everybody who works here"'],
  async run({ open }, { options: { name, description, ifNotExists } }) {
    if (name === undefined) throw usage('--name is missing');
    return open(async ({ deps }) => {
      try {
        return answerOf(await createGroup(deps, { name, ...(description && { description }) }, BY, deps.clock()));
      } catch (error) {
        const taken = error instanceof GroupProblem && error.reason === 'taken';
        const present = ifNotExists && taken ? await store.findByName(deps.db, name) : undefined;
        if (!present) throw error;
        return answerOf(present);
      }
    });
  },
};

const list: Leaf<ListOptions & { user?: string }> = {
  summary: 'list groups by name',
  options: () => [...listOptions(), new Option('--user <user>', 'only those that this person is in')],
  examples: ['groups list', 'groups list --user ada'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const sub = options.user === undefined ? undefined : (await findUser(deps, options.user)).sub;
      const read = async (limit: number, after: string): Promise<store.Group[]> => {
        const keyset = { columns: ['name'], descending: false, after: after === '' ? undefined : [after], limit };
        return (await store.page(deps.db, { sub }, keyset)).rows;
      };
      const rows = await readPages(options, read, ({ name }) => name);
      return {
        json: rows,
        ids: rows.map(({ group_id }) => group_id),
        text: table(
          ['GROUP ID', 'NAME', 'DESCRIPTION'],
          rows.map((row) => [row.group_id, row.name, row.description]),
          'There are no groups: postern groups create',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show a group, with who is in it',
  argument: '<group>',
  examples: ['groups get staff', 'groups get staff --json'],
  run: ({ open }, { argument }) =>
    open(async ({ deps }) => {
      const group = await findGroup(deps, argument);
      const read = async (limit: number, after: string): Promise<store.Member[]> => {
        const keyset = { columns: ['sub'], descending: false, after: after === '' ? undefined : [after], limit };
        return (await store.pageOfMembers(deps.db, group.group_id, keyset)).rows;
      };
      const members = (await readPages({}, read, ({ sub }) => sub)).map(({ sub }) => sub);
      return { json: { ...group, members }, ids: [group.group_id], text: record({ ...group, members }, ['group_id']) };
    }),
};

const update: Leaf<{ name?: string; description?: string }> = {
  summary: 'change what is named of a group; the rest stays',
  argument: '<group>',
  options: () => [
    new Option('--name <name>', 'what tokens call it from now on'),
    new Option('--description <text>', 'what it is for'),
  ],
  examples: ['groups update staff --name employees'],
  run({ open }, { argument, options: { name, description } }) {
    if (name === undefined && description === undefined) throw usage('there is nothing to change: give an option');
    return open(async ({ deps }) => {
      const { group_id } = await findGroup(deps, argument);
      const changes = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
      const changed = await updateGroup(deps, group_id, changes, BY, deps.clock());
      if (!changed) throw unknown(argument);
      return answerOf(changed);
    });
  },
};

const remove: Leaf = {
  summary: 'delete a group, with its memberships and roles',
  argument: '<group>',
  examples: ['groups delete staff'],
  run: ({ open }, { argument }) =>
    open(async ({ deps }) => {
      const { group_id, name } = await findGroup(deps, argument);
      if (!(await removeGroup(deps, group_id, BY, deps.clock()))) throw unknown(argument);
      return { json: { group_id, deleted: true }, ids: [group_id], text: `Group ${name} is deleted.` };
    }),
};

const people = (): Option[] => [
  new Option('--user <user>', 'username, e-mail address or sub; may be given several times').argParser(collect),
];

/** The people named, and the group. @throws Failure */
async function meant(
  deps: Deps,
  argument: string,
  { user = [] }: { user?: string[] },
): Promise<{ group: store.Group; subs: string[] }> {
  if (user.length === 0) throw usage('--user is missing');
  const group = await findGroup(deps, argument);
  const subs: string[] = [];
  for (const name of user) subs.push((await findUser(deps, name)).sub);
  return { group, subs };
}

const add: Leaf<{ user?: string[] }> = {
  summary: 'add people to a group',
  argument: '<group>',
  options: people,
  examples: ['groups add staff --user ada --user bob'],
  run: ({ open }, { argument, options }) =>
    open(async ({ deps }) => {
      const { group, subs } = await meant(deps, argument, options);
      const { found, added } = await addMembers(deps, group.group_id, subs, BY, deps.clock());
      if (!found) throw unknown(argument);
      return {
        json: { group_id: group.group_id, added },
        ids: added,
        text: `Added to ${group.name}: ${added.length}.`,
      };
    }),
};

const takeOut: Leaf<{ user?: string[] }> = {
  summary: 'take people out of a group',
  argument: '<group>',
  options: people,
  examples: ['groups remove staff --user ada'],
  run: ({ open }, { argument, options }) =>
    open(async ({ deps }) => {
      const { group, subs } = await meant(deps, argument, options);
      const removed: string[] = [];
      for (const sub of subs) {
        if (await removeMember(deps, group.group_id, sub, BY, deps.clock())) removed.push(sub);
      }
      const text = `Taken out of ${group.name}: ${removed.length}.`;
      return { json: { group_id: group.group_id, removed }, ids: removed, text };
    }),
};

const unknown = (name: string): Error => notFound(`there is no group ${name}`);

/** By name or id. @throws Failure */
export async function findGroup({ db }: Pick<Deps, 'db'>, name: string): Promise<store.Group> {
  const group = (await store.find(db, name)) ?? (await store.findByName(db, name));
  if (!group) throw unknown(name);
  return group;
}

const answerOf = (group: store.Group): Answer => ({
  json: group,
  ids: [group.group_id],
  text: record({ ...group }, ['group_id']),
});

export const groups: Group = {
  summary: 'groups of people, that tokens name',
  commands: { create, list, get, update, delete: remove, add, remove: takeOut },
};
