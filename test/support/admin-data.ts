/** A server with one of everything that operators keep, and the names of it all: what tests over the whole admin API work on. */
import { collections, type Collection, type Operation } from '../../src/admin/index.ts';
import { operationAt } from './administer.ts';
import type { TestApp } from './app.ts';
import { aPasskey } from './passkeys.ts';
import { postNotice } from '../../src/mail/outbox.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { aClient, aService, aUser, someTokens } from './fixtures.ts';
import { withTotp } from './second-factor.ts';
import { anOperator, type Operator } from './operator.ts';

/** By parameter of the path: names that are there. */
export type Names = Record<string, string[]>;

export interface AdminData {
  operator: Operator;
  names: Names;
}

/** Something that each kind of thing can be made of, by the path that makes it. PUT names it. */
const EXAMPLES: ReadonlyArray<readonly [method: 'POST' | 'PUT', path: string, body: unknown]> = [
  ['POST', '/clients', { client_name: 'Shop', redirect_uris: ['https://shop.example.test/callback'] }],
  ['POST', '/clients/{client_id}/secrets', {}],
  ['PUT', '/clients/{client_id}/theme', { color: '#0b5d3b' }],
  ['PUT', '/settings/theme', { name: 'Example', color: '#0b5d3b', color_dark: '#7fd6ae' }],
  ['POST', '/users', { username: 'grace', email: 'grace@example.test', claims: { name: 'Grace' } }],
  ['POST', '/user-imports', { people: [{ username: 'imported' }] }],
  ['POST', '/invitations', { email: 'invited@example.test', groups: [], link: true }],
  ['POST', '/groups', { name: 'staff' }],
  ['PUT', '/groups/{group_id}/members/{sub}', {}],
  ['POST', '/roles', { name: 'editor' }],
  ['PUT', '/roles/{role_id}/users/{sub}', {}],
  ['PUT', '/roles/{role_id}/groups/{group_id}', {}],
  ['PUT', '/scopes/{name}', { name: 'notes:read', description: 'Read notes' }],
  ['PUT', '/resources/{resource}', { resource: 'https://notes.example.test', name: 'Notes' }],
  [
    'PUT',
    '/authorization-types/{name}',
    {
      name: 'notes:read',
      schema: { type: 'object', additionalProperties: false, properties: { note: { type: 'string' } } },
    },
  ],
  ['POST', '/registration-tokens', { label: 'partners' }],
  [
    'PUT',
    '/upstreams/{upstream}',
    { upstream: 'work', label: 'Work', issuer: 'https://up.example.test', client_id: 'us', client_secret: 'sealed' },
  ],
];
const NAMED: Readonly<Record<string, string>> = {
  name: 'notes:read',
  resource: 'https://notes.example.test',
  upstream: 'work',
};

/** A body that an operation accepts: what things are made of, a patch that changes nothing, or what its action wants. */
export function aBodyFor(operation: Operation, names: Names): unknown {
  const { path, method, kind, collection } = operation;
  if (kind === 'list' || kind === 'get' || kind === 'delete') return undefined;
  if (path.startsWith('/tokens/')) return { token: names['token']![0] };
  if (path.endsWith('/members/add')) return { subs: [names['sub']![0]] };
  if (kind === 'action' || method === 'PATCH') return {};
  const own = EXAMPLES.find((each) => each[0] === method && each[1] === path);
  const [, , body = {}] = own ?? EXAMPLES.find((each) => each[0] === 'POST' && each[1] === collection.path) ?? [];
  return method === 'PUT' && own ? body : another(body as Named & Record<string, unknown>);
}

type Named = { name?: string; username?: string; email?: string };
let others = 0;
/** The same under a name that is free. */
function another(body: Named & Record<string, unknown>): Record<string, unknown> {
  others += 1;
  const { name, username, email } = body;
  return {
    ...body,
    ...(name !== undefined && { name: `${name}-${others}` }),
    ...(username !== undefined && { username: `${username}-${others}` }),
    ...(email !== undefined && { email: `${others}-${email}` }),
  };
}

/** The path of an operation with these names in it. */
export const fillIn = (path: string, names: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(names[name]!));

export const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** Furnishes a server. */
export async function seedAdminData(at: TestApp): Promise<AdminData> {
  const operator = await anOperator(at);
  const { client, user, tokens } = await someTokens(at);
  await aService(at);
  await aUser(at);
  const names: Names = {
    client_id: [client.client_id],
    sub: [user.sub],
    token: [tokens.access_token, tokens.refresh_token],
  };
  for (const [method, path, body] of EXAMPLES) {
    const operation = operationAt(method, path);
    if (!operation) continue;
    const first = Object.fromEntries(parametersOf(path).map((name) => [name, NAMED[name] ?? names[name]![0]!]));
    const answer = await operator.send(method, fillIn(path, first), body);
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${answer.body}`);
    const { id } = operation.collection;
    if (id !== undefined) (names[id] ??= []).push(String(answer.json<Record<string, unknown>>()[id]));
  }
  // A sign-out that a client could not be told of.
  const deaf = await aClient(at);
  await at.deps.db
    .insertInto('logout_notices')
    .values({
      client_id: deaf.client_id,
      sub: user.sub,
      sid: 'a-session',
      attempts: 9,
      created_at: at.clock.now(),
      next_at: at.clock.now(),
      dead_at: at.clock.now(),
    })
    .execute();
  for (let made = 0; made < 4; made += 1) await aPasskey(at, user, { algorithm: 'EdDSA' });
  await withTotp(at, user);
  // News for somebody, which waits to be sent, and some that was given up.
  await transact(at.deps.db, async (trx) => {
    for (let posted = 0; posted < 8; posted += 1)
      await postNotice(trx, at.deps, { sub: user.sub, notice: 'password_changed' }, at.clock.now());
  });
  await at.deps.db.updateTable('mails').set({ state: 'dead', done_at: at.clock.now() }).execute();
  const found = await namesIn(operator, names);
  // Nobody else is to come near it: a client that is disabled is told nothing.
  return { operator, names: { ...found, client_id: found['client_id']!.filter((id) => id !== deaf.client_id) } };
}

/** Every name that lists show, without the operator's own client: whoever deletes that hears nothing more. */
async function namesIn(operator: Operator, names: Names = {}): Promise<Names> {
  const found = new Map(Object.entries(names).map(([name, values]) => [name, new Set(values)]));
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'string' || value === operator.client.client_id) return;
    if (!found.has(name)) found.set(name, new Set());
    found.get(name)!.add(value);
  };
  for (const { path, id, list } of Object.values<Collection>(collections)) {
    if (!list || id === undefined) continue;
    for (const above of combinations(parametersOf(path), found)) {
      const answer = await operator.send('GET', fillIn(path, above));
      if (answer.statusCode !== 200) continue;
      const { items } = answer.json<{ items: Array<Record<string, unknown>> }>();
      for (const item of items) add(id, item[id]);
    }
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, [...values]]));
}

/** Every way to fill these parameters; one way when there are none. */
function combinations(
  parameters: readonly string[],
  names: ReadonlyMap<string, ReadonlySet<string>>,
): Array<Record<string, string>> {
  return parameters.reduce<Array<Record<string, string>>>(
    (all, name) =>
      all.flatMap((before) => [...(names.get(name) ?? [])].slice(0, 8).map((value) => ({ ...before, [name]: value }))),
    [{}],
  );
}
