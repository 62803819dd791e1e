/** The audit log of every flow: what has to leave a row leaves it, in the transaction of what it records. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeOf } from '../../src/events/change.ts';
import { endSession } from '../../src/sessions/index.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { Database } from '../../src/store/postgres/schema.ts';
import { createAccount, removeAccount, setDisabled, setPassword, updateAccount } from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
  BY,
  credentials,
  formTokenOf,
  PASSWORD,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
} from '../support/fixtures.ts';
import { anOperator, type Operator } from '../support/operator.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

type Table = keyof Database;
type Prepared = () => Promise<unknown>;
interface Recorded {
  tables: Table[];
  /** Makes what the action needs; what it returns does it, and can be done again when it failed. */
  prepare(): Promise<Prepared>;
}

const FROM = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'a-request-id' };
const now = (): Date => at.clock.now();
const send =
  (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Prepared =>
  () =>
    operator.send(method, path, body);
const person =
  (act: (sub: string) => Promise<unknown>): Recorded['prepare'] =>
  async () => {
    const { sub } = await aUser(at);
    return () => act(sub);
  };
const client =
  (act: (path: string) => Prepared, ...before: Array<(path: string) => Prepared>): Recorded['prepare'] =>
  async () => {
    const { client_id } = await aClient(at);
    for (const first of before) await first(`/clients/${client_id}`)();
    return act(`/clients/${client_id}`);
  };
let count = 0;
const named = (kind: 'scopes' | 'resources', exists: boolean, method: 'PUT' | 'DELETE'): Recorded['prepare'] => {
  return async () => {
    const id = kind === 'scopes' ? `audited:${(count += 1)}` : `https://api${(count += 1)}.example.test`;
    const path = `/${kind}/${encodeURIComponent(id)}`;
    if (exists) await operator.send('PUT', path, {});
    return send(method, path, method === 'PUT' ? {} : undefined);
  };
};
const A_SCHEMA = { type: 'object', additionalProperties: false, properties: {} };
const aNotice = async (): Promise<string> => {
  const { client_id } = await aClient(at);
  const row = { client_id, sub: 's', sid: 's', attempts: 10, last_failure: null };
  const times = { next_at: now(), dead_at: now(), created_at: now() };
  const values = { ...row, ...times };
  const inserted = await at.deps.db.insertInto('logout_notices').values(values).returning('notice_id').execute();
  return `/logout-notices/${inserted[0]!.notice_id}`;
};

const events: Record<string, Recorded> = {
  sign_in: {
    tables: ['sessions'],
    async prepare() {
      const user = await aUser(at);
      return () => signIn(at, user);
    },
  },
  sign_out: {
    tables: ['sessions', 'grants'],
    async prepare() {
      const { user } = await someTokens(at);
      const { sid, sub } = await at.deps.db
        .selectFrom('sessions')
        .select(['sid', 'sub'])
        .where('sub', '=', user.sub)
        .executeTakeFirstOrThrow();
      return () => transact(at.deps.db, (trx) => endSession(trx, { sid, sub }, FROM, now()));
    },
  },
  consent: {
    tables: ['consents', 'grants'],
    async prepare() {
      const given = { client: await aClient(at), browser: await signIn(at, await aUser(at)) };
      return () => anAuthorizationCode(at, given);
    },
  },
  authorization_revoked: {
    tables: ['grants'],
    async prepare() {
      const { client: of, tokens } = await someTokens(at);
      return () => postForm(at, '/revoke', { token: tokens.refresh_token, ...credentials(of) });
    },
  },
  code_replay: {
    tables: ['grants'],
    async prepare() {
      const code = await someTokens(at);
      at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
      return () => redeem(at, code);
    },
  },
  code_repeated: {
    tables: ['grants'],
    async prepare() {
      const code = await someTokens(at);
      return () => redeem(at, code);
    },
  },
  refresh_token_reuse: {
    tables: ['grants'],
    async prepare() {
      const { client: of, tokens } = await someTokens(at);
      await refresh(at, of, tokens.refresh_token);
      at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
      return () => refresh(at, of, tokens.refresh_token);
    },
  },
  user_created: {
    tables: ['users', 'subjects', 'password_credentials'],
    prepare: async () => () => createAccount(at.deps, { username: 'audited', password: PASSWORD }, BY, now()),
  },
  user_updated: {
    tables: ['users'],
    prepare: person((sub) =>
      transact(at.deps.db, (trx) => updateAccount(trx, sub, { email_verified: false }, BY, now())),
    ),
  },
  user_disabled: {
    tables: ['users', 'sessions'],
    prepare: person((sub) => transact(at.deps.db, (trx) => setDisabled(trx, sub, true, BY, now()))),
  },
  user_enabled: {
    tables: ['users'],
    async prepare() {
      const { sub } = await aUser(at);
      await transact(at.deps.db, (trx) => setDisabled(trx, sub, true, BY, now()));
      return () => transact(at.deps.db, (trx) => setDisabled(trx, sub, false, BY, now()));
    },
  },
  user_deleted: {
    tables: ['users'],
    prepare: person((sub) => transact(at.deps.db, (trx) => removeAccount(trx, sub, BY, now()))),
  },
  password_changed: {
    tables: ['password_credentials'],
    prepare: person((sub) => setPassword(at.deps, sub, 'another long battery staple', BY, now())),
  },
  client_created: {
    tables: ['clients', 'client_secrets', 'subjects'],
    prepare: async () => send('POST', '/clients', { redirect_uris: ['https://app.example.test/cb'] }),
  },
  client_updated: { tables: ['clients'], prepare: client((path) => send('PATCH', path, { client_name: 'Other' })) },
  client_disabled: { tables: ['clients'], prepare: client((path) => send('POST', `${path}/disable`)) },
  client_enabled: {
    tables: ['clients'],
    prepare: client(
      (path) => send('POST', `${path}/enable`),
      (path) => send('POST', `${path}/disable`),
    ),
  },
  client_deleted: { tables: ['clients', 'client_secrets'], prepare: client((path) => send('DELETE', path)) },
  client_secret_added: { tables: ['client_secrets'], prepare: client((path) => send('POST', `${path}/secrets`, {})) },
  client_secret_deleted: {
    tables: ['client_secrets'],
    async prepare() {
      const { client_id } = await aClient(at);
      const listed = await operator.send('GET', `/clients/${client_id}/secrets`);
      const [secret] = listed.json<{ items: Array<{ secret_id: string }> }>().items;
      return send('DELETE', `/clients/${client_id}/secrets/${secret!.secret_id}`);
    },
  },
  scope_changed: { tables: ['scopes'], prepare: named('scopes', false, 'PUT') },
  scope_deleted: { tables: ['scopes', 'consents'], prepare: named('scopes', true, 'DELETE') },
  resource_changed: { tables: ['resources'], prepare: named('resources', false, 'PUT') },
  resource_deleted: { tables: ['resources'], prepare: named('resources', true, 'DELETE') },
  authorization_type_changed: {
    tables: ['authorization_types'],
    prepare: async () => send('PUT', '/authorization-types/audited', { schema: A_SCHEMA }),
  },
  authorization_type_deleted: {
    tables: ['authorization_types'],
    async prepare() {
      await operator.send('PUT', '/authorization-types/ended', { schema: A_SCHEMA });
      return send('DELETE', '/authorization-types/ended');
    },
  },
  key_rotated: { tables: ['signing_keys'], prepare: async () => send('POST', '/keys/rotate', { alg: 'ES256' }) },
  key_retired: {
    tables: ['signing_keys'],
    async prepare() {
      const made = await operator.send('POST', '/keys/rotate', { alg: 'ES256' });
      return send('POST', `/keys/${made.json<{ kid: string }>().kid}/retire`);
    },
  },
  registration_token_created: {
    tables: ['initial_access_tokens'],
    prepare: async () => send('POST', '/registration-tokens', {}),
  },
  registration_token_deleted: {
    tables: ['initial_access_tokens'],
    async prepare() {
      const made = await operator.send('POST', '/registration-tokens', {});
      return send('DELETE', `/registration-tokens/${made.json<{ token_id: string }>().token_id}`);
    },
  },
  logout_notice_retried: {
    tables: ['logout_notices'],
    prepare: async () => send('POST', `${await aNotice()}/retry`),
  },
  logout_notice_deleted: { tables: ['logout_notices'], prepare: async () => send('DELETE', await aNotice()) },
};

async function contentOf(tables: readonly Table[]): Promise<unknown> {
  const contents = [];
  for (const table of tables) {
    const { rows } = await sql`select t::text as row from ${sql.table(table)} t order by 1`.execute(at.deps.db);
    contents.push(rows);
  }
  return contents;
}

/** While `work` runs, an event of this name cannot be written. */
async function withoutRow(event: string, work: () => Promise<unknown>): Promise<void> {
  const { db } = at.deps;
  await sql`
    create function refuse_event() returns trigger language plpgsql as
    'begin raise exception ''no row''; end'`.execute(db);
  await sql`
    create trigger refuse before insert on audit_events for each row
    when (new.event = ${sql.lit(event)}) execute function refuse_event()`.execute(db);
  try {
    await work().catch(() => {});
  } finally {
    await sql`drop function refuse_event cascade`.execute(db);
  }
}

test.each(Object.entries(events))('%s is a row in the transaction of what it records', async (event, recorded) => {
  const act = await recorded.prepare();
  const rows = (): Promise<Array<{ actor: string | null; ip: string | null; request_id: string | null }>> =>
    at.deps.db
      .selectFrom('audit_events')
      .select(['actor', 'ip', 'request_id'])
      .where('event', '=', event)
      .orderBy('event_id')
      .execute();
  const [before, told] = [await contentOf(recorded.tables), (await rows()).length];
  await withoutRow(event, act);
  // Without its row the thing did not happen.
  expect(await contentOf(recorded.tables)).toEqual(before);
  await act();
  expect(await contentOf(recorded.tables)).not.toEqual(before);
  const written = (await rows()).slice(told);
  expect(written.length).toBe(1);
  // Somebody did it: an operator, or a request.
  expect(written[0]!.actor ?? written[0]!.request_id).toEqual(expect.any(String));
});

test('a failed sign-in leaves a line in the log and no row: strangers cannot fill the database', async () => {
  const user = await aUser(at);
  const rowCount = async (): Promise<unknown> =>
    at.deps.db.selectFrom('audit_events').select(at.deps.db.fn.countAll().as('n')).executeTakeFirst();
  const before = await rowCount();
  const browser = new TestBrowser(at);
  const page = await browser.get('/login');
  const fields = { username: user.username, password: 'not the password', form_token: formTokenOf(page) };
  const answer = await browser.post('/login', fields);
  const request_id = String(answer.headers['x-request-id']);
  expect(await rowCount()).toEqual(before);
  const lines = at.logged.filter((line) => line.includes(request_id) && line.includes('"refused"'));
  expect(lines.length).toBe(1);
  expect(lines.join()).not.toContain('not the password');
});

test('changeOf names what differs, and no secret', () => {
  const document = { client_name: 'Shop', client_secret: 'x', token_endpoint_auth_method: 'client_secret_basic' };
  expect(changeOf(undefined, document)).toEqual({
    after: { client_name: 'Shop', token_endpoint_auth_method: 'client_secret_basic' },
  });
  expect(changeOf(document, { ...document, client_name: null, contacts: ['a'], client_secret: 'y' })).toEqual({
    before: { client_name: 'Shop', contacts: null },
    after: { client_name: null, contacts: ['a'] },
  });
});
