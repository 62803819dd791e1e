/** Roles at a resource or at the whole server: make, list, show, change and delete them, give them and take them. */
import { Option } from 'commander';
import type { CallAnswer } from '../../admin/api/calls.ts';
import { everything, orUndefined, type Api } from '../api.ts';
import type { Answer, Group, Leaf, CommandContext } from '../command.ts';
import { notFound, usage } from '../failure.ts';
import { findGroup } from './groups.ts';
import { collect } from '../input.ts';
import { listOptions, readList, type ListOptions } from '../list.ts';
import { record, table } from '../output.ts';
import { findUser } from './users.ts';

type Role = CallAnswer<'GET /roles/{role_id}'>;

const create: Leaf<{ name?: string; description?: string; resource?: string }> = {
  summary: 'make a role',
  options: () => [
    new Option('--name <name>', 'what tokens call it'),
    new Option('--resource <uri>', 'where it holds; without it, at the whole server'),
    new Option('--description <text>', 'what it is for'),
  ],
  examples: ['roles create --name editor --resource https://notes.example.com'],
  async run({ api }, { options: { name, description = null, resource = null } }) {
    if (name === undefined) throw usage('--name is missing');
    return api(async (to) => answerOf(await to.call('POST /roles', { body: { name, description, resource } })));
  },
};

const list: Leaf<ListOptions & { resource?: string }> = {
  summary: 'list roles by id',
  options: () => [...listOptions(), new Option('--resource <uri>', 'only those at this resource')],
  examples: ['roles list', 'roles list --resource https://notes.example.com'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const rows = await readList(to, 'GET /roles', 'role_id', options, { resource: options.resource });
      return {
        json: rows,
        ids: rows.map(({ role_id }) => role_id),
        text: table(
          ['ROLE ID', 'NAME', 'RESOURCE', 'DESCRIPTION'],
          rows.map((row) => [row.role_id, row.name, row.resource, row.description]),
          'There are no roles: postern roles create',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show a role, with who holds it',
  argument: '<role_id>',
  examples: ['roles get 5f0c1d9a7be24c3389d1e6aa'],
  run: ({ api }, { argument: role_id }) =>
    api(async (to) => {
      const role = await find(to, role_id);
      const users = await everything(to, 'GET /roles/{role_id}/users', { ids: { role_id } });
      const groups = await everything(to, 'GET /roles/{role_id}/groups', { ids: { role_id } });
      const shown = {
        ...role,
        users: users.map(({ sub }) => sub),
        groups: groups.map(({ group_id }) => group_id),
      };
      return { json: shown, ids: [role_id], text: record(shown, ['role_id']) };
    }),
};

const update: Leaf<{ name?: string; description?: string }> = {
  summary: 'change what is named of a role; the rest stays',
  argument: '<role_id>',
  options: () => [
    new Option('--name <name>', 'what tokens call it from now on'),
    new Option('--description <text>', 'what it is for'),
  ],
  examples: ['roles update 5f0c1d9a7be24c3389d1e6aa --name author'],
  run({ api }, { argument: role_id, options: { name, description } }) {
    if (name === undefined && description === undefined) throw usage('there is nothing to change: give an option');
    const body = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
    return api(async (to) => {
      const changed = await orUndefined(to.call('PATCH /roles/{role_id}', { ids: { role_id }, body }));
      if (!changed) throw unknown(role_id);
      return answerOf(changed);
    });
  },
};

const remove: Leaf = {
  summary: 'delete a role; nobody holds it from then on',
  argument: '<role_id>',
  examples: ['roles delete 5f0c1d9a7be24c3389d1e6aa'],
  run: ({ api }, { argument: role_id }) =>
    api(async (to) => {
      const done = await orUndefined(to.call('DELETE /roles/{role_id}', { ids: { role_id }, present: true }));
      if (!done) throw unknown(role_id);
      return { json: { role_id, deleted: true }, ids: [role_id], text: `Role ${role_id} is deleted.` };
    }),
};

interface Named {
  user?: string[];
  group?: string[];
}

const holderOptions = (): Option[] => [
  new Option('--user <user>', 'username, e-mail address or sub; may be given several times').argParser(collect),
  new Option('--group <group>', 'name or id; may be given several times').argParser(collect),
];

/** What is done with one who holds a role; undefined where there is nothing to do. */
interface Work {
  user(to: Api, ids: { role_id: string; sub: string }): Promise<object | undefined>;
  group(to: Api, ids: { role_id: string; group_id: string }): Promise<object | undefined>;
}

/** Does something with everybody named, and answers with those it was done to. */
function withHolders(
  { api }: CommandContext,
  { argument: role_id, options: { user = [], group = [] } }: { argument: string; options: Named },
  done: string,
  work: Work,
): Promise<Answer> {
  if (user.length + group.length === 0) throw usage('say who: --user or --group');
  return api(async (to) => {
    await find(to, role_id);
    // Everybody is looked for before anything is done.
    const subs: string[] = [];
    for (const name of user) subs.push((await findUser(to, name)).sub);
    const group_ids: string[] = [];
    for (const name of group) group_ids.push((await findGroup(to, name)).group_id);
    const ids: string[] = [];
    for (const sub of subs) if (await work.user(to, { role_id, sub })) ids.push(sub);
    for (const group_id of group_ids) if (await work.group(to, { role_id, group_id })) ids.push(group_id);
    return { json: { role_id, [done]: ids }, ids, text: `Role ${role_id} is ${done}: ${ids.length}.` };
  });
}

async function find(to: Api, role_id: string): Promise<Role> {
  const role = await orUndefined(to.call('GET /roles/{role_id}', { ids: { role_id } }));
  if (!role) throw unknown(role_id);
  return role;
}

const give: Leaf<Named> = {
  summary: 'give a role to people and groups',
  argument: '<role_id>',
  options: holderOptions,
  examples: ['roles give 5f0c1d9a7be24c3389d1e6aa --user ada --group staff'],
  run: (means, input) =>
    withHolders(means, input, 'given', {
      user: (to, ids) => to.call('PUT /roles/{role_id}/users/{sub}', { ids, body: {} }),
      group: (to, ids) => to.call('PUT /roles/{role_id}/groups/{group_id}', { ids, body: {} }),
    }),
};

const take: Leaf<Named> = {
  summary: 'take a role from people and groups',
  argument: '<role_id>',
  options: holderOptions,
  examples: ['roles take 5f0c1d9a7be24c3389d1e6aa --user ada'],
  run: (means, input) =>
    withHolders(means, input, 'taken', {
      user: (to, ids) => orUndefined(to.call('DELETE /roles/{role_id}/users/{sub}', { ids, present: true })),
      group: (to, ids) => orUndefined(to.call('DELETE /roles/{role_id}/groups/{group_id}', { ids, present: true })),
    }),
};

const unknown = (role_id: string): Error => notFound(`there is no role ${role_id}`);

const answerOf = (role: Role): Answer => ({
  json: role,
  ids: [role.role_id],
  text: record(role, ['role_id']),
});

export const roles: Group = {
  summary: 'roles of people and groups, at a resource or at the whole server',
  commands: { create, list, get, update, delete: remove, give, take },
};
