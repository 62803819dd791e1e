import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

const METADATA = { client_name: 'Shop', redirect_uris: ['https://shop.example.test/callback'] };
type Json = Record<string, unknown>;
const create = async (fields: Json = {}): Promise<Json> => {
  const answer = await operator.send('POST', '/clients', { ...METADATA, ...fields });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
};

describe('clients', () => {
  test('specification §Endpoints 5: POST creates, with Location, an ETag, and the secret this once', async () => {
    const answer = await operator.send('POST', '/clients', METADATA);
    expect(answer.statusCode, answer.body).toBe(201);
    const client = answer.json<Json>();
    expect(client).toMatchObject({ ...METADATA, registered_by: 'operator', client_secret: expect.any(String) });
    expect(answer.headers['location']).toBe(`https://id.example.test/admin/v1/clients/${String(client['client_id'])}`);
    const read = await operator.send('GET', `/clients/${String(client['client_id'])}`);
    expect(read.json()).not.toHaveProperty('client_secret');
    expect(read.headers['etag']).toBe(answer.headers['etag']);
  });

  test('specification §Endpoints 5: PATCH is a merge patch (RFC 7396): what it names changes, null goes back to the default, the rest stays', async () => {
    const inLanguages = { 'client_name#de': 'Laden', 'client_name#fr': 'Boutique' };
    const policy_uri = 'https://shop.example.test/policy';
    const { client_id } = await create({ policy_uri, require_pkce: true, ...inLanguages });
    const answer = await operator.send('PATCH', `/clients/${String(client_id)}`, {
      client_name: 'The Shop',
      policy_uri: null,
      'client_name#fr': null,
    });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json()).toMatchObject({ client_name: 'The Shop', 'client_name#de': 'Laden', require_pkce: true });
    expect(answer.json()).not.toHaveProperty('client_name#fr');
    expect(answer.json()).not.toHaveProperty('policy_uri');
  });

  test('specification §Endpoints 5: PUT replaces: what was read can be sent back, and what it does not name is gone', async () => {
    const { client_id } = await create({ require_pkce: true });
    const read = (await operator.send('GET', `/clients/${String(client_id)}`)).json<Json>();
    const same = await operator.send('PUT', `/clients/${String(client_id)}`, read);
    expect(same.statusCode, same.body).toBe(200);
    expect({ ...same.json<Json>(), updated_at: read['updated_at'] }).toEqual(read);
    const other = await operator.send('PUT', `/clients/${String(client_id)}`, METADATA);
    expect(other.json()).toMatchObject({ require_pkce: false });
  });

  test('specification §Endpoints 5: a list goes from page to page by its cursor, newest first, and shows each client once', async () => {
    for (let i = 0; i < 5; i++) await create({ client_name: `Row ${i}` });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await operator.send('GET', `/clients?limit=2${cursor}`);
      expect(page.statusCode, page.body).toBe(200);
      const { items, next_cursor } = page.json<{ items: Json[]; next_cursor: string | null }>();
      seen.push(...items.map(({ client_id }) => client_id));
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`;
      const link = /[?&]cursor=([^>]*)>; rel="next"/.exec(String(page.headers['link']))?.[1];
      expect(link ?? null).toBe(next_cursor);
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThanOrEqual(5);
  });

  test('specification §Endpoints 5: DELETE is idempotent', async () => {
    const { client_id } = await create();
    const gone = async (): Promise<number> =>
      (await operator.send('DELETE', `/clients/${String(client_id)}`)).statusCode;
    expect([await gone(), await gone()]).toEqual([204, 204]);
    expect((await operator.send('GET', `/clients/${String(client_id)}`)).statusCode).toBe(404);
  });

  test('the description can be read', async () => {
    const answer = await at.app.inject('/admin/v1/openapi.json');
    expect(answer.statusCode).toBe(200);
    expect(Object.keys(answer.json<{ paths: Json }>().paths)).toContain('/clients/{client_id}/secrets');
  });
});
