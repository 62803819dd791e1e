/** If-Match and ETag: nobody overwrites what they have not seen. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collections, operations, type Collection } from '../../src/admin/index.ts';
import { aBodyFor, seedAdminData, fillIn, parametersOf, type AdminData } from '../support/admin-data.ts';
import { testApp, type TestApp } from '../support/app.ts';

let at: TestApp;
let data: AdminData;
beforeAll(async () => {
  at = await testApp();
  data = await seedAdminData(at);
});
afterAll(() => at.close());

const addressOf = (path: string): string =>
  fillIn(path, Object.fromEntries(parametersOf(path).map((name) => [name, data.names[name]!.at(0)!])));

async function aClientAt(): Promise<{ path: string; etag: string }> {
  const answer = await data.operator.send('POST', '/clients', {
    client_name: 'A',
    redirect_uris: ['https://a.example.test/'],
  });
  return { path: `/clients/${answer.json<{ client_id: string }>().client_id}`, etag: String(answer.headers['etag']) };
}
const rename = (path: string, client_name: string, match?: string) =>
  data.operator.send('PATCH', path, { client_name }, match === undefined ? {} : { 'if-match': match });

describe('RFC 9110 §13.1.1: If-Match', () => {
  test('of two changes of the same version at once, one is done and the other is told: 412', async () => {
    const { path, etag } = await aClientAt();
    const answers = await Promise.all(['B', 'C', 'D', 'E'].map((name) => rename(path, name, etag)));
    expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412]);
    const done = answers.find(({ statusCode }) => statusCode === 200)!;
    const now = await data.operator.send('GET', path);
    expect([now.json(), now.headers['etag']]).toEqual([done.json(), done.headers['etag']]);
    expect(done.headers['etag']).not.toBe(etag);
  });

  test.each([
    ['any version', () => '*', 200],
    ['one of a list', (etag: string) => `"x", ${etag} ,"y"`, 200],
    ['none of a list', () => '"x", "y"', 412],
    ['a weak tag, which is never the same (§8.8.3.2)', (etag: string) => `W/${etag}`, 412],
    ['a tag with commas in it', (etag: string) => `"a,b", ${etag}`, 200],
    ['the tag without its quotes', (etag: string) => etag.replaceAll('"', ''), 400],
    ['any version beside a tag', () => '"x", *', 400],
    ['nothing', () => '', 400],
    ['an open quote', () => '"x', 400],
  ])('%s', async (_what, match, status) => {
    const { path, etag } = await aClientAt();
    expect((await rename(path, 'B', match(etag))).statusCode).toBe(status);
    const { client_name } = (await data.operator.send('GET', path)).json<{ client_name: string }>();
    expect(client_name).toBe(status === 200 ? 'B' : 'A');
  });

  test('PUT and DELETE keep to it as PATCH does', async () => {
    const { path, etag } = await aClientAt();
    await rename(path, 'B');
    const send = (method: 'PUT' | 'DELETE', match: string) =>
      data.operator.send(
        method,
        path,
        method === 'PUT' ? { client_name: 'C', redirect_uris: ['https://a.example.test/'] } : undefined,
        { 'if-match': match },
      );
    expect([(await send('PUT', etag)).statusCode, (await send('DELETE', etag)).statusCode]).toEqual([412, 412]);
    const now = await data.operator.send('GET', path);
    expect(now.json()).toMatchObject({ client_name: 'B' });
    expect((await send('DELETE', String(now.headers['etag']))).statusCode).toBe(204);
  });
});

describe('the same tag for the same thing', () => {
  const readable = operations.filter(({ kind }) => kind === 'get').map(({ path }) => [path] as const);

  test.each(readable)('GET %s has an ETag, which stays while nothing changes', async (path) => {
    const [first, again] = [
      await data.operator.send('GET', addressOf(path)),
      await data.operator.send('GET', addressOf(path)),
    ];
    expect([first.statusCode, first.headers['etag']]).toEqual([200, expect.stringMatching(/^"[\w-]+"$/)]);
    expect(again.headers['etag']).toBe(first.headers['etag']);
  });

  test.each(operations.filter(({ kind }) => kind === 'update').map(({ path }) => [path] as const))(
    'PATCH and PUT of %s refuse a stale tag, and answer with the one that GET gives',
    async (path) => {
      const address = addressOf(path);
      for (const method of ['PATCH', 'PUT'] as const) {
        const body = method === 'PATCH' ? {} : (await data.operator.send('GET', address)).json<unknown>();
        const stale = await data.operator.send(method, address, body, { 'if-match': '"stale"' });
        expect(stale.statusCode, stale.body).toBe(412);
        const done = await data.operator.send(method, address, body, { 'if-match': '*' });
        expect(done.statusCode, done.body).toBe(200);
        expect(done.headers['etag']).toBe((await data.operator.send('GET', address)).headers['etag']);
      }
    },
  );

  test.each(operations.filter(({ kind }) => kind === 'delete').map(({ path }) => [path] as const))(
    'DELETE %s refuses a stale tag',
    async (path) => {
      const answer = await data.operator.send('DELETE', addressOf(path), undefined, { 'if-match': '"stale"' });
      expect(answer.statusCode, answer.body).toBe(412);
    },
  );
});

/** Members that a table may have, and a body never. */
const INTERNAL = [
  'password',
  'password_hash',
  'phc',
  'secret_hash',
  'client_secret_hash',
  'registration_access_token',
  'grant_id',
  'gid',
  'sessions',
  'is_admin',
  'constructor',
  'toString',
  '__proto__',
  'id',
];

describe('a body assigns what is in its schema, and nothing else', () => {
  const changeable = Object.values<Collection>(collections).filter(({ replace }) => replace);

  test.each(
    changeable.map(
      (resource) => [resource.path + (resource.id === undefined ? '' : `/{${resource.id}}`), resource] as const,
    ),
  )('%s', async (path, resource) => {
    const address = addressOf(path);
    const before = (await data.operator.send('GET', address)).json<Record<string, unknown>>();
    const update = operations.find((operation) => operation.path === path && operation.kind === 'replace')!;
    for (const name of INTERNAL) {
      if (name in (resource.item as unknown as { shape: object }).shape) continue;
      for (const method of ['PATCH', 'PUT'] as const) {
        // As text, since a literal's __proto__ is no member.
        const rest = method === 'PUT' ? JSON.stringify(aBodyFor(update, data.names)).slice(1, -1) : '';
        const payload = `{"${name}":"x"${rest === '' ? '' : `,${rest}`}}`;
        const answer = await at.app.inject({
          method,
          url: `/admin/v1${address}`,
          headers: { authorization: `Bearer ${data.operator.access_token}`, 'content-type': 'application/json' },
          payload,
        });
        expect(answer.statusCode, `${method} ${payload} ${answer.body}`).toBe(400);
      }
    }
    // What the server says of it may come back, and is not taken.
    // A verified address is said of that address, so that a patch starts from nothing: but it can be said.
    const writable = [...Object.keys(resource.replace!.writable(before)), 'email_verified'];
    const said = Object.keys(before).filter((name) => !writable.includes(name));
    for (const name of said) {
      const other = otherThan(before[name]);
      await data.operator.send('PATCH', address, { [name]: other });
      const after = (await data.operator.send('GET', address)).json<Record<string, unknown>>();
      expect(after, name).toEqual({ ...before, ...('updated_at' in before && { updated_at: after['updated_at'] }) });
    }
  });

  test.each(
    operations.filter(({ kind }) => kind === 'create').map((operation) => [operation.path, operation] as const),
  )('POST %s', async (path, operation) => {
    for (const name of INTERNAL.filter((each) => each !== 'password' || path !== '/users')) {
      const rest = JSON.stringify(aBodyFor(operation, data.names)).slice(1, -1);
      const answer = await at.app.inject({
        method: 'POST',
        url: `/admin/v1${addressOf(path)}`,
        headers: { authorization: `Bearer ${data.operator.access_token}`, 'content-type': 'application/json' },
        payload: `{"${name}":"x"${rest === '' ? '' : `,${rest}`}}`,
      });
      expect(answer.statusCode, `${name} ${answer.body}`).toBe(400);
    }
  });
});

/** Another value of the same kind. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1000;
  if (value === 'operator') return 'self';
  if (value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)))
    return '2001-01-01T00:00:00.000Z';
  return Array.isArray(value) ? ['x'] : `${JSON.stringify(value)}x`;
}
