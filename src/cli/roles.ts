/** Roles at a resource or at the whole server: make, list, show, change and delete them, give them and take them. */
import { Option } from 'commander';
import type { Deps } from '../deps.ts';
import * as store from '../store/roles.ts';
import { createRole, giveRole, removeRole, takeRole, updateRole, type Holder } from '../users/roles.ts';
import { BY } from './actor.ts';
import type { Answer, Group, Leaf, Process } from './command.ts';
import { notFound, usage } from './failure.ts';
import { findGroup } from './groups.ts';
import { collect } from './input.ts';
import { listOptions, readPages, type ListOptions } from './list.ts';
import { record, table } from './output.ts';
import { findUser } from './users.ts';

const create: Leaf<{ name?: string; description?: string; resource?: string }> = {
  summary: 'make a role',
  options: () => [
    new Option('--name <name>', 'what tokens call it'),
    new Option('--resource <uri>', 'where it holds; without it, at the whole server'),
    new Option('--description <text>', 'what it is for'),
  ],
  examples: ['roles create --name editor --resource https://notes.example.com'],
  async run({ open }, { options: { name, description = null, resource = null } }) {
    if (name === undefined) throw usage('--name is missing');
    return open(async ({ deps }) =>
      answerOf(await createRole(deps, { name, description, resource }, BY, deps.clock())),
    );
  },
};

const list: Leaf<ListOptions & { resource?: string }> = {
  summary: 'list roles by id',
  options: () => [...listOptions(), new Option('--resource <uri>', 'only those at this resource')],
  examples: ['roles list', 'roles list --resource https://notes.example.com'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const read = async (limit: number, after: string): Promise<store.Role[]> => {
        const keyset = { columns: ['role_id'], descending: false, after: after === '' ? undefined : [after], limit };
        return (await store.page(deps.db, { resource: options.resource }, keyset)).rows;
      };
      const rows = await readPages(options, read, ({ role_id }) => role_id);
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
  run: ({ open }, { argument }) =>
    open(async ({ deps }) => {
      const role = await store.find(deps.db, argument);
      if (!role) throw unknown(argument);
      const holders = async (kind: store.HolderKind, column: string): Promise<string[]> => {
        const read = async (limit: number, after: string): Promise<string[]> => {
          const keyset = { columns: [column], descending: false, after: after === '' ? undefined : [after], limit };
          const { rows } = await store.pageOfHolders(deps.db, kind, argument, keyset);
          return rows.map((row) => String(row[column]));
        };
        return readPages({}, read, (id) => id);
      };
      const shown = { ...role, users: await holders('users', 'sub'), groups: await holders('groups', 'group_id') };
      return { json: shown, ids: [argument], text: record(shown, ['role_id']) };
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
  run({ open }, { argument, options: { name, description } }) {
    if (name === undefined && description === undefined) throw usage('there is nothing to change: give an option');
    return open(async ({ deps }) => {
      const changes = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
      const changed = await updateRole(deps, argument, changes, BY, deps.clock());
      if (!changed) throw unknown(argument);
      return answerOf(changed);
    });
  },
};

const remove: Leaf = {
  summary: 'delete a role; nobody holds it from then on',
  argument: '<role_id>',
  examples: ['roles delete 5f0c1d9a7be24c3389d1e6aa'],
  run: ({ open }, { argument }) =>
    open(async ({ deps }) => {
      if (!(await removeRole(deps, argument, BY, deps.clock()))) throw unknown(argument);
      return { json: { role_id: argument, deleted: true }, ids: [argument], text: `Role ${argument} is deleted.` };
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

/** Does something with everybody named, and answers with those it was done to. */
function withHolders(
  { open }: Process,
  { argument, options: { user = [], group = [] } }: { argument: string; options: Named },
  done: string,
  work: (deps: Deps, holder: Holder) => Promise<boolean>,
): Promise<Answer> {
  if (user.length + group.length === 0) throw usage('say who: --user or --group');
  return open(async ({ deps }) => {
    if (!(await store.find(deps.db, argument))) throw unknown(argument);
    const holders: Holder[] = [];
    for (const name of user) holders.push({ kind: 'users', id: (await findUser(deps, name)).sub });
    for (const name of group) holders.push({ kind: 'groups', id: (await findGroup(deps, name)).group_id });
    const ids: string[] = [];
    for (const holder of holders) if (await work(deps, holder)) ids.push(holder.id);
    return { json: { role_id: argument, [done]: ids }, ids, text: `Role ${argument} is ${done}: ${ids.length}.` };
  });
}

const give: Leaf<Named> = {
  summary: 'give a role to people and groups',
  argument: '<role_id>',
  options: holderOptions,
  examples: ['roles give 5f0c1d9a7be24c3389d1e6aa --user ada --group staff'],
  run: (process, input) =>
    withHolders(process, input, 'given', (deps, holder) => giveRole(deps, input.argument, holder, BY, deps.clock())),
};

const take: Leaf<Named> = {
  summary: 'take a role from people and groups',
  argument: '<role_id>',
  options: holderOptions,
  examples: ['roles take 5f0c1d9a7be24c3389d1e6aa --user ada'],
  run: (process, input) =>
    withHolders(process, input, 'taken', (deps, holder) => takeRole(deps, input.argument, holder, BY, deps.clock())),
};

const unknown = (role_id: string): Error => notFound(`there is no role ${role_id}`);

const answerOf = (role: store.Role): Answer => ({
  json: role,
  ids: [role.role_id],
  text: record({ ...role }, ['role_id']),
});

export const roles: Group = {
  summary: 'roles of people and groups, at a resource or at the whole server',
  commands: { create, list, get, update, delete: remove, give, take },
};
