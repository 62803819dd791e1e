/** Who may do what with the admin API: every operation with every kind of wrong token, and nothing has changed after it. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PATH, adminScopes, operations, type Operation } from '../../src/admin/index.ts';
import { DPOP_ALGS } from '../../src/protocol/dpop.ts';
import { removeClient } from '../../src/clients/register.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { aBodyFor, seedAdminData, fillIn, parametersOf, type AdminData } from '../support/admin-data.ts';
import { Judge } from '../support/api-description.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aService, aUser, BY, credentials, PASSWORD, postForm, someTokens } from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';
import { anOperator, type Operator } from '../support/operator.ts';

const ISSUER = 'https://id.example.test';
const REALM = `Bearer realm="${ISSUER}"`;
/** Whoever comes without a token hears of the other scheme as well (RFC 9449 §7.2). */
const BOTH = `, DPoP algs="${DPOP_ALGS.join(' ')}"`;
const every = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/** What is wrong, and what it is answered with: status, and WWW-Authenticate after the realm. */
interface Wrong {
  authorization: string | undefined;
  status: 401 | 403;
  challenge: (scope: string) => string;
}

let at: TestApp;
let data: AdminData;
let judge: Judge;
const wrong = new Map<string, Wrong | ((operation: Operation) => Promise<Wrong>)>();
let before: string;

const INVALID = ', error="invalid_token"';
const INSUFFICIENT = (scope: string): string => `, error="insufficient_scope", scope="${scope}"`;
const invalid = (token: string): Wrong => ({ authorization: `Bearer ${token}`, status: 401, challenge: () => INVALID });
const insufficient = (token: string): Wrong => ({
  authorization: `Bearer ${token}`,
  status: 403,
  challenge: INSUFFICIENT,
});
const malformed = (authorization: string): Wrong => ({
  authorization,
  status: 401,
  challenge: () => ', error="invalid_request"',
});

/** Tokens of operators with one scope each, made once. */
const byScope = new Map<string, Promise<Operator>>();
const operatorWith = (scope: string): Promise<Operator> => {
  if (!byScope.has(scope)) byScope.set(scope, anOperator(at, [scope]));
  return byScope.get(scope)!;
};

/** Everything that is kept, but for when a client was last seen. */
async function stateOf({ deps }: TestApp): Promise<string> {
  const tables = await sql<{ name: string }>`
    select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    order by 1`.execute(deps.db);
  const digests = tables.rows.map(
    ({ name }) => sql`select ${name}::text as name, count(*)::int as rows,
      md5(coalesce(string_agg((to_jsonb(t) - 'last_used_at')::text, ',' order by to_jsonb(t)::text), '')) as digest from ${sql.table(name)} t`,
  );
  const { rows } = await sql`${sql.join(digests, sql` union all `)} order by name`.execute(deps.db);
  return JSON.stringify(rows, null, 1);
}

beforeAll(async () => {
  at = await testApp();
  judge = new Judge(ISSUER);
  // What expires and what is revoked comes first: the clock moves.
  const expired = await anOperator(at);
  at.clock.advance(86_400);
  data = await seedAdminData(at);
  const revoked = await anOperator(at);
  const { access_token: token } = revoked;
  await postForm(at, '/revoke', { token, ...credentials(revoked.client) });
  const deleted = await anOperator(at);
  await transact(at.deps.db, (trx) => removeClient(trx, deleted.client.client_id, BY, at.clock.now()));
  const elsewhere = await aService(at);
  const forIssuer = await postForm(at, '/token', {
    grant_type: 'client_credentials',
    ...credentials(elsewhere),
  });
  // A person's token with every scope there is, for the very audience: as if they could consent to it. We sign it
  // ourselves, since no request would be given it.
  const scope = [...new Set(operations.map((operation) => operation.scope))].join(' ');
  const client = await aClient(at, { scope: 'openid profile email offline_access' });
  const person = await someTokens(at, { client });
  await at.deps.db.updateTable('scopes').set({ for_people: true }).where('name', 'in', scope.split(' ')).execute();
  at.deps.directory.clear();
  const powerful = await aClient(at, { scope: `openid ${scope}`, may_administer: true });
  const resource = `${ISSUER}${ADMIN_PATH}`;
  const asked = { scope: `openid ${scope}`, resource };
  const ofPerson = await someTokens(at, { client: powerful, parameters: asked });
  expect(ofPerson.tokens.scope).toBe('openid');
  const all_claims = { ...decode(ofPerson.tokens.access_token).payload, scope: asked.scope };
  const everything = await at.deps.keys.sign(all_claims, { typ: 'at+jwt', alg: 'RS256' }, at.clock.now());
  const user = await aUser(at);
  const script = await at.app.inject({
    method: 'POST',
    url: '/login',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    payload: { username: user.username, password: PASSWORD },
  });
  const login = script.json<{ access_token: string }>().access_token;
  expect([decode(everything).payload['aud'], typeof login]).toEqual([resource, 'string']);
  const [head, claims, signature] = data.operator.access_token.split('.') as [string, string, string];
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  const cases: Record<string, Wrong | ((operation: Operation) => Promise<Wrong>)> = {
    'no token': { authorization: undefined, status: 401, challenge: () => '' },
    'another scheme': malformed(`Basic ${Buffer.from('a:b').toString('base64')}`),
    'two tokens': malformed('Bearer a b'),
    'no token after Bearer': malformed('Bearer'),
    'a token of nobody': invalid('marker'),
    'an opaque token of nobody': invalid(`abc_${'A'.repeat(43)}`),
    'a forged signature': invalid(
      [head, claims, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`].join('.'),
    ),
    'no signature': invalid([none, claims, ''].join('.')),
    'a token that has expired': invalid(expired.access_token),
    'a token that was revoked': invalid(token),
    'a token of a client that was deleted': invalid(deleted.access_token),
    'a token for the issuer': invalid(forIssuer.json<{ access_token: string }>().access_token),
    'a token of a person, for another audience': invalid(person.tokens.access_token),
    'a refresh token': invalid(person.tokens.refresh_token),
    'an ID token': invalid(person.tokens.id_token),
    'a token of POST /login': invalid(login),
    'a token of a person with every scope, for this audience': insufficient(everything),
    'a token for reading what is written, or for writing what is read': async ({ scope: needed }) => {
      const [subject, verb] = needed.split(':');
      const other = `${subject}:${verb === 'read' ? 'write' : 'read'}`;
      // Some things are only read.
      return insufficient((await operatorWith(adminScopes.has(other) ? other : 'clients:write')).access_token);
    },
    'a token for another subject': async ({ scope: needed }) => {
      const [subject, verb] = needed.split(':');
      return insufficient((await operatorWith(`${subject === 'clients' ? 'users' : 'clients'}:${verb}`)).access_token);
    },
  };
  for (const [name, value] of Object.entries(cases)) wrong.set(name, value);
  for (const [, operation] of every)
    for (const each of wrong.values()) if (typeof each === 'function') await each(operation);
  before = await stateOf(at);
});
afterAll(() => at.close());

const urlOf = ({ path }: Operation): string => {
  const first = Object.fromEntries(parametersOf(path).map((name) => [name, data.names[name]!.at(0)!]));
  return ADMIN_PATH + fillIn(path, first);
};

async function ask(operation: Operation, authorization: string | undefined) {
  const payload = aBodyFor(operation, data.names);
  return at.app.inject({
    method: operation.method,
    url: urlOf(operation),
    headers: { ...(authorization !== undefined && { authorization }), 'content-type': 'application/json' },
    ...(payload !== undefined && { payload: JSON.stringify(payload) }),
  });
}

describe('RFC 6750 §3: every operation asks for a token of its own scope', () => {
  test.each(every)('%s', async (_name, operation) => {
    for (const [name, given] of wrong) {
      const { authorization, status, challenge } = typeof given === 'function' ? await given(operation) : given;
      const answer = await ask(operation, authorization);
      expect([answer.statusCode, answer.headers['www-authenticate']], name).toEqual([
        status,
        `${REALM}${challenge(operation.scope)}${authorization === undefined ? BOTH : ''}`,
      ]);
      expect(answer.headers['content-type'], name).toMatch(/^application\/problem\+json/);
      expect(judge.faultsOf(operation, answer), name).toEqual([]);
    }
  });

  test('and nothing has changed', async () => {
    expect(await stateOf(at)).toBe(before);
  });

  test('HEAD asks as GET does', async () => {
    for (const [, operation] of every.filter(([, { method }]) => method === 'GET')) {
      const asked = { method: 'HEAD', url: urlOf(operation) } as const;
      expect((await at.app.inject(asked)).statusCode).toBe(401);
      const { access_token } = await operatorWith(operation.scope);
      const answer = await at.app.inject({ ...asked, headers: { authorization: `Bearer ${access_token}` } });
      expect([answer.statusCode, answer.body]).toEqual([200, '']);
    }
  });

  test('RFC 9110 §15.5.6: other methods are answered 405, with Allow, and need no token', async () => {
    const unchanged = await stateOf(at);
    for (const [path, row] of Map.groupBy(operations, (operation) => operation.path)) {
      const allowed = row.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        if (allowed.includes(method)) continue;
        const answer = await at.app.inject({ method, url: urlOf(row[0]!) });
        expect([answer.statusCode, answer.headers['allow']], `${method} ${path}`).toEqual([405, allowed.join(', ')]);
        expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
    expect(await stateOf(at)).toBe(unchanged);
  });

  // The last, since these do what they are asked for.
  test.each(every.toSorted(([, a], [, b]) => Number(a.method !== 'GET') - Number(b.method !== 'GET')))(
    'and its scope alone is enough: %s',
    async (_name, operation) => {
      const { access_token } = await operatorWith(operation.scope);
      const { statusCode } = await ask(operation, `Bearer ${access_token}`);
      expect([401, 403]).not.toContain(statusCode);
      expect(statusCode).toBeLessThan(500);
    },
  );
});

test.each(['', '/', '/nowhere', '/clients/x/y/z', '/%ED%A0%80', '/clients/%zz'])(
  'RFC 9457 §3: what is nowhere in the API is a problem, too: %j',
  async (path) => {
    const answer = await at.app.inject(`${ADMIN_PATH}${path}`);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.json()).toMatchObject({ status: answer.statusCode, request_id: answer.headers['x-request-id'] });
    expect([400, 404]).toContain(answer.statusCode);
  },
);
