import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { stopServers } from '../../support/server.ts';

let database: TestDatabase;
let postern: Postern;
beforeAll(async () => {
  database = await createTestDatabase();
  postern = await commandsOn(database);
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

const eventsOf = async (event: string): Promise<unknown[]> =>
  (await database.db.selectFrom('audit_events').select('detail').where('event', '=', event).execute()).map(
    ({ detail }) => detail['name'],
  );

test('scopes put makes a scope, then changes what is named of it, and records what changed', async () => {
  const made = await postern(['scopes', 'put', 'jobs:run', '--description', 'Run jobs', '--json']);
  const scope = {
    name: 'jobs:run',
    description: 'Run jobs',
    descriptions: {},
    claims: [],
    for_people: true,
    for_machines: true,
    built_in: false,
  };
  expect(made.json()).toEqual(scope);
  const changed = await postern(['scopes', 'put', 'jobs:run', '--no-people', '--claims', 'email groups', '--json']);
  expect(changed.json()).toEqual({ ...scope, for_people: false, claims: ['email', 'groups'] });
  const said = ['scopes', 'put', 'jobs:run', '--json', '--description-in'];
  expect((await postern([...said, 'de=Aufträge ausführen', '--description-in', 'fr='])).json()).toMatchObject({
    descriptions: { de: 'Aufträge ausführen' },
  });
  expect((await postern([...said, 'de='])).json()).toMatchObject({ descriptions: {} });
  expect((await postern([...said, 'Aufträge'])).code).toBe(2);
  await postern(['scopes', 'put', 'jobs:run', '--no-people']);
  expect(await eventsOf('scope_changed')).toEqual(['jobs:run', 'jobs:run', 'jobs:run', 'jobs:run']);
  expect((await postern(['scopes', 'list'])).stdout).toMatch(/^jobs:run +machines +Run jobs$/m);
  expect((await postern(['scopes', 'put', 'two words'])).stderr).toMatch(/^error: name: must be a scope token/);
});

test('scopes delete refuses openid (4) and what there is not (3)', async () => {
  expect((await postern(['scopes', 'delete', 'jobs:run', '--json'])).json()).toEqual({
    name: 'jobs:run',
    deleted: true,
  });
  expect((await postern(['scopes', 'delete', 'jobs:run'])).code).toBe(3);
  expect((await postern(['scopes', 'delete', 'openid'])).code).toBe(4);
});

test('resources put, list and delete', async () => {
  const resource = 'https://notes.example.test';
  await postern(['clients', 'create', '--client-id', 'notes-api', '--preset', 'm2m']);
  const options = ['--name', 'Notes', '--scope', 'notes:read notes:write', '--client-id', 'notes-api'];
  const made = await postern(['resources', 'put', resource, ...options, '--access-token-ttl', '1h', '--json']);
  const expected = {
    resource,
    name: 'Notes',
    client_id: 'notes-api',
    scope: ['notes:read', 'notes:write'],
    access_token_format: null,
    access_token_ttl: 3600,
    access_token_signing_alg: null,
    access_token_typ: null,
    claims: [],
  };
  expect(made.json()).toEqual(expected);
  const changed = await postern([
    'resources',
    'put',
    resource,
    '--access-token-format',
    'opaque',
    '--access-token-typ',
    'JWT',
    '--no-client-id',
    '--json',
  ]);
  const to = { client_id: null, access_token_format: 'opaque', access_token_typ: 'JWT' };
  expect(changed.json()).toEqual({ ...expected, ...to });
  expect((await postern(['resources', 'list', '--json'])).items()).toEqual([changed.json()]);
  expect(await eventsOf('resource_changed')).toEqual([resource, resource]);

  expect((await postern(['resources', 'put', resource, '--client-id', 'nobody'])).code).toBe(3);
  const alg = await postern(['resources', 'put', resource, '--access-token-alg', 'PS256']);
  expect([alg.code, alg.problems.length]).toEqual([2, 1]);
  expect((await postern(['resources', 'delete', resource, '-q'])).stdout).toBe(`${resource}\n`);
});

test.each(['http://localhost:3000', 'http://localhost:3000/admin/v1'])(
  'RFC 8707 §2: %s is the server itself, and cannot be made a resource (2)',
  async (resource) => {
    const refused = await postern(['resources', 'put', resource]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'error: resource: must be an API of yours: this is the server itself\n',
    ]);
    expect((await postern(['resources', 'list', '--json'])).stdout).not.toContain(resource);
  },
);

test('authorization-types put, list and delete: a schema is replaced whole', async () => {
  const schemaOf = async (properties: object): Promise<string> => {
    const file = join(await mkdtemp(join(tmpdir(), 'schema-')), 'payment.json');
    await writeFile(file, JSON.stringify({ type: 'object', additionalProperties: false, properties }));
    return file;
  };
  const put = ['authorization-types', 'put', 'payment', '--json'];
  expect((await postern([...put, '--sentence', 'Pay'])).code).toBe(2);
  const first = await schemaOf({ amount: { type: 'number' } });
  const made = await postern([...put, '--schema', first, '--narrowable', '/amount', '--sentence', 'Pay {/amount}']);
  expect(made.json()).toMatchObject({ name: 'payment', narrowable: ['/amount'], sentence: 'Pay {/amount}' });
  const said = await postern([...put, '--sentence-in', 'de={/amount} zahlen', '--sentence-in', 'fr=Payer']);
  expect(said.json()).toMatchObject({ sentences: { de: '{/amount} zahlen', fr: 'Payer' } });
  expect((await postern([...put, '--sentence-in', 'fr='])).json()).toMatchObject({
    sentences: { de: '{/amount} zahlen' },
  });
  const second = await schemaOf({ amount: { type: 'integer' }, to: { type: 'string' } });
  expect((await postern([...put, '--schema', second])).json()).toMatchObject({
    schema: { properties: { amount: { type: 'integer' }, to: { type: 'string' } } },
    sentence: 'Pay {/amount}',
  });
  expect((await postern([...put, '--schema', await schemaOf({ to: { type: 'string' } })])).stderr).toContain('/amount');
  expect((await postern(['authorization-types', 'list'])).stdout).toMatch(/^payment +.*Pay \{\/amount\}$/m);
  expect((await postern(['authorization-types', 'delete', 'payment'])).code).toBe(0);
  expect((await postern(['authorization-types', 'delete', 'payment'])).code).toBe(3);
});
