/** What a token for clients cannot become: everything. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aService } from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let helpdesk: Operator;
let chief: Operator;
beforeAll(async () => {
  at = await testApp();
  helpdesk = await anOperator(at, ['clients:read', 'clients:write']);
  chief = await anOperator(at);
});
afterAll(() => at.close());

type Attempt = (who: Operator, client_id: string, secret_id: string) => ReturnType<Operator['send']>;
const SECRET = { client_secret: 'a secret of the attacker' };
const KEYS = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://attacker.example.test/jwks' };

const attempts: Record<string, Attempt> = {
  'give it a secret': (who, id) => who.send('POST', `/clients/${id}/secrets`, SECRET),
  'take a secret of it away': (who, id, secret_id) => who.send('DELETE', `/clients/${id}/secrets/${secret_id}`),
  'give it other keys': (who, id) => who.send('PATCH', `/clients/${id}`, KEYS),
  'take its scope away': (who, id) => who.send('PATCH', `/clients/${id}`, { scope: '' }),
  'replace it': (who, id) =>
    who.send('PUT', `/clients/${id}`, { grant_types: ['client_credentials'], scope: 'jobs:read' }),
  'disable it': (who, id) => who.send('POST', `/clients/${id}/disable`, {}),
  'enable it': (who, id) => who.send('POST', `/clients/${id}/enable`, {}),
  'delete it': (who, id) => who.send('DELETE', `/clients/${id}`),
};

const secretOf = async ({ client_id }: { client_id: string }): Promise<string> => {
  const { items } = (await chief.send('GET', `/clients/${client_id}/secrets`)).json<{
    items: Array<{ secret_id: string }>;
  }>();
  return items[0]!.secret_id;
};
const tables = async (): Promise<unknown> => {
  const { db } = at.deps;
  return Promise.all([
    db.selectFrom('clients').selectAll().orderBy('client_id').execute(),
    db.selectFrom('client_secrets').selectAll().orderBy('secret_id').execute(),
    db.selectFrom('audit_events').selectAll().orderBy('event_id').execute(),
  ]);
};

test.each(Object.entries(attempts))(
  'ASVS 8.2.2: a token for clients alone cannot %s, where the client may do more than it',
  async (_what, attempt) => {
    const strong = (await anOperator(at, ['clients:write', 'keys:write'])).client;
    const secret_id = await secretOf(strong);
    const before = await tables();
    const refused = await attempt(helpdesk, strong.client_id, secret_id);
    expect([refused.statusCode, refused.json<{ type: string }>().type]).toEqual([403, 'urn:postern:problem:forbidden']);
    expect(refused.body).toContain('keys:write');
    expect(await tables()).toEqual(before);

    const ordinary = await aService(at);
    expect((await attempt(helpdesk, ordinary.client_id, await secretOf(ordinary))).statusCode).toBeLessThan(300);
    expect((await attempt(chief, strong.client_id, secret_id)).statusCode).toBeLessThan(300);
  },
);

test('ASVS 8.2.2: a token for clients alone makes no client that may do more, not of itself either', async () => {
  const service = { grant_types: ['client_credentials'], scope: 'jobs:read users:write', may_administer: true };
  const self = `/clients/${helpdesk.client.client_id}`;
  const before = await tables();
  for (const refused of [
    await helpdesk.send('POST', '/clients', service, { 'idempotency-key': 'once' }),
    await helpdesk.send('PATCH', self, { scope: 'clients:read clients:write users:write' }),
    await helpdesk.send('PUT', self, service),
    await helpdesk.send('PUT', `/clients/${(await aService(at)).client_id}`, service),
  ]) {
    expect(refused.statusCode, refused.body).toBe(403);
    expect(refused.body).toContain('users:write');
  }
  // The one made for the last attempt is all there is more.
  const after = (await tables()) as unknown[][];
  expect(after[0]!.length - (before as unknown[][])[0]!.length).toBe(1);
  const mine = await helpdesk.send('POST', '/clients', { ...service, scope: 'jobs:read clients:read' });
  expect(mine.statusCode, mine.body).toBe(201);
});
