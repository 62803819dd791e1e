/** Lists at scale: every order of every list of people, with every filter, is read from an index. */
import pg from 'pg';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminResources, fill, type AdminResource } from '../../src/admin/index.ts';
import { bucketOf } from '../../src/store/handle.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser } from '../support/fixtures.ts';
import { anOperator, type Operator } from '../support/operator.ts';

type Statement = { text: string; values?: unknown[] };

let at: TestApp;
let operator: Operator;
let sub: string;
let client_id: string;
let statements: Statement[] = [];
const query = pg.Client.prototype.query;

beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  ({ sub } = await aUser(at, { password: undefined }));
  ({ client_id } = await aClient(at));
  const { db } = at.deps;
  const now = at.clock.now();
  const expires_at = new Date(now.getTime() + 86_400_000);
  const bucket = bucketOf(expires_at);
  const made = sql`${now}::timestamptz - n * interval '1 second'`;
  await sql`
    insert into users (sub, username, username_folded, email, email_folded, email_verified, claims, disabled_at,
      created_at, updated_at)
    select 'u' || n, 'U' || n, 'u' || n, null, 'u' || n || '@example.test', false, '{}',
      case when n % 50 = 0 then ${now}::timestamptz end, ${made}, ${now}::timestamptz
    from generate_series(1, 3000) n`.execute(db);
  await sql`
    insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
      created_at, expires_at, revoked_at)
    select ${bucket}::int, 'g' || n, case when n % 100 = 0 then ${client_id} else 'c' || n % 9 end,
      case when n % 150 = 0 then ${sub} else 'u' || n % 2000 end, 's' || n, '{}', '{}', ${now}::timestamptz, '', '{}',
      false, ${made}, ${expires_at}::timestamptz, case when n % 3 = 0 then ${now}::timestamptz end
    from generate_series(1, 6000) n`.execute(db);
  await sql`
    insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at,
      ended_at)
    select ${bucket}::int, ('h' || n)::bytea, 's' || n, 'browser',
      case when n % 150 = 0 then ${sub} else 'u' || n % 2000 end, ${now}::timestamptz, '{}', '', ${made},
      ${now}::timestamptz, ${expires_at}::timestamptz, case when n % 3 = 0 then ${now}::timestamptz end
    from generate_series(1, 6000) n`.execute(db);
  await sql`analyze users`.execute(db);
  await sql`analyze grants`.execute(db);
  await sql`analyze sessions`.execute(db);
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    const [first, values] = given;
    statements.push(typeof first === 'string' ? { text: first, values: values as unknown[] } : (first as Statement));
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
});
afterAll(async () => {
  pg.Client.prototype.query = query;
  await at.close();
});

interface Plan {
  'Node Type': string;
  'Plan Rows': number;
  Filter?: string;
  Plans?: Plan[];
}
/**
 * What reads or orders more than it shows: whole tables, sorts, and rows passed over because they are somebody else's. To
 * order the one row of a unique name costs nothing.
 */
function costly(plan: Plan, owner: RegExp): string[] {
  const { 'Node Type': type, Filter: filter = '', Plans: plans = [] } = plan;
  const wrong = type === 'Seq Scan' || (/Sort/.test(type) && plans[0]!['Plan Rows'] > 1);
  const passed = owner.test(filter) ? [filter] : [];
  return [...(wrong ? [type] : []), ...passed, ...plans.flatMap((part) => costly(part, owner))];
}

/** Indexes and nothing beside them: a small table would otherwise be read whole, or sorted. */
const explain = ({ text, values = [] }: Statement, owner: RegExp): Promise<string[]> =>
  at.deps.db.connection().execute(async (db) => {
    await sql`set enable_seqscan = off`.execute(db);
    await sql`set enable_bitmapscan = off`.execute(db);
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      CompiledQuery.raw(`explain (format json) ${text}`, values),
    );
    await sql`reset all`.execute(db);
    return costly(rows[0]!['QUERY PLAN'][0].Plan, owner);
  });

const ago = (ms: number): string => new Date(at.clock.now().getTime() - ms).toISOString();
const FILTERS: Readonly<Record<string, () => readonly string[]>> = {
  username: () => ['u7'],
  email: () => ['u7@example.test'],
  disabled: () => ['true', 'false'],
  created_after: () => [ago(3_000_000)],
  created_before: () => [ago(60_000)],
  sub: () => [sub],
  client_id: () => [client_id],
  state: () => ['live', 'revoked', 'ended'],
};

/** Conditions that no plan may check row by row. Of one person's grants there are few, of one unique name there is one. */
function passedOver({ text }: Statement): RegExp {
  const [bySub, byClient] = [text.includes('"sub" = '), text.includes('"client_id" = ')];
  if (text.includes('"users"') || (bySub && byClient)) return /(?!)/;
  return bySub ? /\bsub = / : /\bclient_id = |_at IS NOT NULL/;
}

function combinations(names: readonly string[]): string[][] {
  const [name, ...rest] = names;
  if (name === undefined) return [[]];
  const others = combinations(rest);
  const values = FILTERS[name]!().map((value) => `${name}=${encodeURIComponent(value)}`);
  return [...others, ...values.flatMap((value) => others.map((other) => [value, ...other]))];
}

const { users, sessions, grants } = adminResources;
const lists: Record<string, AdminResource> = {
  users,
  sessions,
  grants,
  'user-sessions': adminResources['user-sessions'],
  'user-grants': adminResources['user-grants'],
  'user-consents': adminResources['user-consents'],
};

test.each(Object.keys(lists))(
  'decided: every filter and order of the list of %s is read from an index',
  async (name) => {
    const { list, path } = lists[name]!;
    const table = name.replace('user-', '');
    const found: Array<[string, string[]]> = [];
    let explained = 0;
    for (const sort of Object.keys(list!.sorts)) {
      for (const filters of combinations(Object.keys(list!.filters.shape))) {
        const asked = [`sort=-${sort}`, 'limit=2', ...filters].join('&');
        const first = await operator.send('GET', `${fill(path, { sub })}?${asked}`);
        if (first.statusCode === 400) continue;
        const { next_cursor } = first.json<{ next_cursor: string | null }>();
        statements = [];
        const page = next_cursor === null ? asked : `${asked}&cursor=${next_cursor}`;
        expect((await operator.send('GET', `${fill(path, { sub })}?${page}`)).statusCode, page).toBe(200);
        const reads = statements.filter(({ text }) => text.includes(`from "${table}"`) && text.includes('order by'));
        expect(reads, page).toHaveLength(1);
        const wrong = await explain(reads[0]!, passedOver(reads[0]!));
        explained += 1;
        if (wrong.length > 0) found.push([asked, wrong]);
      }
    }
    expect(found).toEqual([]);
    expect(explained).toBeGreaterThan(0);
  },
);
