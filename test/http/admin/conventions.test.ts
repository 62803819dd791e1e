/** The conventions that every kind of thing shares (§5 of the specification), each shown once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../../src/admin/index.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

type Json = Record<string, unknown>;
const user = async (username: string): Promise<string> =>
  (await operator.send('POST', '/users', { username })).json<{ sub: string }>().sub;
const names = async (query: string): Promise<unknown[]> =>
  (await operator.send('GET', `/users?${query}`)).json<{ items: Json[] }>().items.map(({ username }) => username);
const howMany = async (table: 'users' | 'audit_events'): Promise<number> =>
  (
    await at.deps.db
      .selectFrom(table)
      .select('ctid' as never)
      .execute()
  ).length;

test('specification §Endpoints 5: resources are addressed by noun paths, hierarchy by path segments', async () => {
  // What is done to a thing and has no method of its own comes last: /users/{sub}/disable.
  // Of a theme there is one.
  const shape = /^(?:\/[a-z-]+s(?:\/\{\w+\}(?=\/|$))?)+(?:\/theme)?$/;
  const nouns = operations.filter(({ kind }) => kind !== 'action').map(({ path }) => path);
  expect(nouns.filter((path) => !shape.test(path))).toEqual([]);

  const [mine, other] = await Promise.all(
    ['Mine', 'Another'].map(async (client_name) => {
      const metadata = { client_name, redirect_uris: ['https://shop.example.test/callback'] };
      return (await operator.send('POST', '/clients', metadata)).json<{ client_id: string }>().client_id;
    }),
  );
  const made = await operator.send('POST', `/clients/${mine}/secrets`, {});
  const { secret_id } = made.json<{ secret_id: string }>();
  const status = async (of: string): Promise<number> =>
    (await operator.send('GET', `/clients/${of}/secrets/${secret_id}`)).statusCode;
  expect([await status(mine!), await status(other!)]).toEqual([200, 404]);
});

test('RFC 7396 §2: a patch removes members that there are; of another name it is refused, as any value of it is', async () => {
  const made = await operator.send('POST', '/groups', { name: 'Patched', description: 'Once' });
  const group = `/groups/${made.json<{ group_id: string }>().group_id}`;
  const statusOf = async (patch: Json): Promise<number> => (await operator.send('PATCH', group, patch)).statusCode;
  expect(await Promise.all([{ descriptoin: null }, { descriptoin: 'x' }].map(statusOf))).toEqual([400, 400]);
  expect(await statusOf({ name: 'Patched too' })).toBe(200);
});

test('specification §Endpoints 5: filtering, sorting and pagination by query parameters, and no parameter is passed over', async () => {
  for (const username of ['list-c', 'list-a', 'list-b']) await user(username);
  expect(await names('username=LIST-B')).toEqual(['list-b']);
  const page = await operator.send('GET', '/users?sort=username&limit=2');
  const { items, next_cursor } = page.json<{ items: Json[]; next_cursor: string }>();
  expect(items.map(({ username }) => username)).toEqual(['list-a', 'list-b']);
  expect(page.headers['link']).toContain(`cursor=${next_cursor}`);
  expect(await names(`sort=username&limit=2&cursor=${next_cursor}`)).toEqual(['list-c']);
  expect(await names('sort=-username')).toEqual(['list-c', 'list-b', 'list-a']);
  for (const query of ['colour=red', 'sort=password', 'limit=0', 'limit=2&limit=3', 'cursor=made-up']) {
    expect((await operator.send('GET', `/users?${query}`)).statusCode, query).toBe(400);
  }
});

test('specification §Endpoints 5: GET is safe and idempotent: the same answer twice, and nothing is written', async () => {
  const path = `/users/${await user('read')}`;
  const before = await howMany('audit_events');
  const [first, second] = [await operator.send('GET', path), await operator.send('GET', path)];
  expect([second.body, second.headers['etag']]).toEqual([first.body, first.headers['etag']]);
  expect((await operator.send('HEAD', path)).headers['etag']).toBe(first.headers['etag']);
  expect(await howMany('audit_events')).toBe(before);
});

test('specification §Endpoints 5: content negotiation by Accept; bodies are JSON in both directions', async () => {
  const asked = async (accept: string): Promise<number> =>
    (await operator.send('GET', '/users', undefined, { accept })).statusCode;
  expect(await Promise.all(['application/json', '*/*', 'text/html', 'application/xml'].map(asked))).toEqual([
    200, 200, 406, 406,
  ]);
  expect((await operator.send('GET', '/users')).headers['content-type']).toBe('application/json; charset=utf-8');
  const form = await operator.send('POST', '/users', { username: 'x' }, { 'content-type': 'text/plain' });
  expect([form.statusCode, form.headers['content-type']]).toEqual([415, 'application/problem+json; charset=utf-8']);
});

test('specification §Endpoints 5: POST is not idempotent, and with an Idempotency-Key a retry does not repeat the effect', async () => {
  const path = `/users/${await user('retried')}/set-password`;
  const send = (key?: string): ReturnType<Operator['send']> =>
    operator.send('POST', path, undefined, key === undefined ? {} : { 'idempotency-key': key });
  const [one, two] = [await send(), await send()];
  expect(one.json<Json>()['password']).not.toBe(two.json<Json>()['password']);

  const before = await howMany('audit_events');
  const [first, again, other] = [await send('key-1'), await send('key-1'), await send('key-2')];
  expect([first, again, other].map(({ headers }) => headers['idempotent-replayed'])).toEqual([
    undefined,
    'true',
    undefined,
  ]);
  expect(again.statusCode).toBe(first.statusCode);
  expect(await howMany('audit_events')).toBe(before + 2);
  const reused = await operator.send('POST', '/users', { username: 'x' }, { 'idempotency-key': 'key-1' });
  expect(reused.statusCode).toBe(422);
});

test('specification §Versioning: the admin API has its version in the path, and is nowhere without it', async () => {
  const status = async (url: string): Promise<number> => (await at.app.inject(url)).statusCode;
  expect(await Promise.all(['/admin/v1/users', '/admin/users', '/admin/v2/users', '/users'].map(status))).toEqual([
    401, 404, 404, 404,
  ]);
});

test('an empty body is none, although a type comes with it', async () => {
  const path = `/users/${await user('typed')}`;
  const typed = { 'content-type': 'application/json' };
  const status = async (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', below = ''): Promise<number> =>
    (await operator.send(method, path + below, undefined, typed)).statusCode;
  expect(await status('POST', '/disable')).toBe(204);
  expect([await status('PUT'), await status('PATCH')]).toEqual([400, 400]);
  expect(await status('DELETE')).toBe(204);
});
