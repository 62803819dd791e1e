/** Groups of people: make, list, show, change and delete them, and say who is in them. */
import { Option } from 'commander';
import type { CallAnswer } from '../../admin/api/calls.ts';
import { everything, orUndefined, type Api } from '../api.ts';
import type { Answer, Group, Leaf } from '../command.ts';
import { Failure, notFound, usage } from '../failure.ts';
import { collect } from '../input.ts';
import { listOptions, readList, type ListOptions } from '../list.ts';
import { record, table } from '../output.ts';
import { findUser } from './users.ts';

type GroupShown = CallAnswer<'GET /groups/{group_id}'>;

const create: Leaf<{ name?: string; description?: string; ifNotExists?: boolean }> = {
  summary: 'make a group',
  options: () => [
    new Option('--name <name>', 'what tokens call it'),
    new Option('--description <text>', 'what it is for'),
    new Option('--if-not-exists', 'answer with the group that has this name, unchanged'),
  ],
  examples: ['groups create --name staff --description "Everybody who works here"'],
  async run({ api }, { options: { name, description, ifNotExists } }) {
    if (name === undefined) throw usage('--name is missing');
    return api(async (to) => {
      try {
        return answerOf(await to.call('POST /groups', { body: { name, ...(description && { description }) } }));
      } catch (error) {
        const taken = error instanceof Failure && error.error === 'conflict';
        const present = ifNotExists && taken ? await findByName(to, name) : undefined;
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
  run: ({ api }, { options }) =>
    api(async (to) => {
      const sub = options.user === undefined ? undefined : (await findUser(to, options.user)).sub;
      const rows = await readList(to, 'GET /groups', 'group_id', options, { sub, sort: 'name' });
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
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const group = await findGroup(to, argument);
      const group_id = idOf(group);
      const members = await everything(to, 'GET /groups/{group_id}/members', { ids: { group_id } });
      const shown = { ...group, members: members.map(({ sub }) => sub) };
      return { json: shown, ids: [group_id], text: record(shown, ['group_id']) };
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
  run({ api }, { argument, options: { name, description } }) {
    if (name === undefined && description === undefined) throw usage('there is nothing to change: give an option');
    const body = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
    return api(async (to) => {
      const group_id = idOf(await findGroup(to, argument));
      return answerOf(await to.call('PATCH /groups/{group_id}', { ids: { group_id }, body }));
    });
  },
};

const remove: Leaf = {
  summary: 'delete a group, with its memberships and roles',
  argument: '<group>',
  examples: ['groups delete staff'],
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const group = await findGroup(to, argument);
      const group_id = idOf(group);
      const done = await orUndefined(to.call('DELETE /groups/{group_id}', { ids: { group_id }, present: true }));
      if (!done) throw unknown(argument);
      return { json: { group_id, deleted: true }, ids: [group_id], text: `Group ${group.name} is deleted.` };
    }),
};

const people = (): Option[] => [
  new Option('--user <user>', 'username, e-mail address or sub; may be given several times').argParser(collect),
];

/** The people named, and the group. @throws Failure */
async function groupAndPeople(
  to: Api,
  argument: string,
  { user = [] }: { user?: string[] },
): Promise<{ group: GroupShown; group_id: string; subs: string[] }> {
  if (user.length === 0) throw usage('--user is missing');
  const group = await findGroup(to, argument);
  const subs: string[] = [];
  for (const name of user) subs.push((await findUser(to, name)).sub);
  return { group, group_id: idOf(group), subs };
}

const add: Leaf<{ user?: string[] }> = {
  summary: 'add people to a group',
  argument: '<group>',
  options: people,
  examples: ['groups add staff --user ada --user bob'],
  run: ({ api }, { argument, options }) =>
    api(async (to) => {
      const { group, group_id, subs } = await groupAndPeople(to, argument, options);
      const answer = await to.call('POST /groups/{group_id}/members/add', { ids: { group_id }, body: { subs } });
      const added = answer.added;
      return { json: { group_id, added }, ids: added, text: `Added to ${group.name}: ${added.length}.` };
    }),
};

const takeOut: Leaf<{ user?: string[] }> = {
  summary: 'take people out of a group',
  argument: '<group>',
  options: people,
  examples: ['groups remove staff --user ada'],
  run: ({ api }, { argument, options }) =>
    api(async (to) => {
      const { group, group_id, subs } = await groupAndPeople(to, argument, options);
      const removed: string[] = [];
      for (const sub of subs) {
        const request = { ids: { group_id, sub }, present: true };
        if (await orUndefined(to.call('DELETE /groups/{group_id}/members/{sub}', request))) removed.push(sub);
      }
      const text = `Taken out of ${group.name}: ${removed.length}.`;
      return { json: { group_id, removed }, ids: removed, text };
    }),
};

const unknown = (name: string): Error => notFound(`there is no group ${name}`);
const idOf = (group: GroupShown): string => group.group_id;

async function findByName(to: Api, name: string): Promise<GroupShown | undefined> {
  const [group] = await everything(to, 'GET /groups', { query: { name } }, 1);
  return group;
}

/** By name or id. @throws Failure */
export async function findGroup(to: Api, name: string): Promise<GroupShown> {
  const request = { ids: { group_id: name } };
  const group = (await orUndefined(to.call('GET /groups/{group_id}', request))) ?? (await findByName(to, name));
  if (!group) throw unknown(name);
  return group;
}

const answerOf = (group: GroupShown): Answer => ({
  json: group,
  ids: [idOf(group)],
  text: record(group, ['group_id']),
});

export const groups: Group = {
  summary: 'groups of people, that tokens name',
  commands: { create, list, get, update, delete: remove, add, remove: takeOut },
};
