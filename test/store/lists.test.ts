/** Lists at scale: every order of every list of the admin API, with every filter, is read from an index. */
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bucketOf } from '../../src/protocol/handle.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser } from '../support/fixtures.ts';
import {
  listOperations,
  queriesOf,
  queryString,
  READ_WHOLE,
  recordStatements,
  stepsOf,
  type FilterValues,
  type ListOperation,
  type ListQuery,
  type Plan,
  type Statement,
} from '../support/lists.ts';
import { FIRST, many } from '../support/many.ts';
import { anOperator, type Operator } from '../support/operator.ts';

const PEOPLE = 3000;

let at: TestApp;
let operator: Operator;
let sub: string;
let statements: ReturnType<typeof recordStatements>;

beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  ({ sub } = await aUser(at, { password: undefined }));
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
    from generate_series(1, ${sql.lit(PEOPLE)}) n`.execute(db);
  await sql`
    insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
      created_at, expires_at, revoked_at)
    select ${bucket}::int, 'g' || n, case when n % 100 = 0 then ${FIRST.client_id} else 'c' || n % 9 + 2 end,
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
  const amounts = { clients: 2000, groups: 2000, roles: 2000, members: 6000, scopes: 1000, resources: 1000 };
  const person = sql`case when n % 150 = 0 then ${sub} else 'u' || n % ${sql.lit(PEOPLE)} + 1 end`;
  await many(db, { ...amounts, tokens: 1000, notices: 4000, events: 6000, refusals: 0 }, person, now);
  await sql`
    insert into consents (sub, client_id, resource, scope, updated_at)
    select u, c, '', '{}', ${now}::timestamptz
    from (select 'u' || n % 200 + 1 as u, 'c' || n % 1999 + 1 as c from generate_series(1, 3000) n
      union select ${sub}, 'c' || n from generate_series(1, 40) n) agreed`.execute(db);
  for (const table of ['users', 'grants', 'sessions', 'consents']) await sql`analyze ${sql.table(table)}`.execute(db);
  statements = recordStatements();
}, 60_000);
afterAll(async () => {
  statements.stop();
  await at.close();
});

/** Indexes and nothing beside them: a small table would otherwise be read whole, or sorted. */
const explain = ({ text, values = [] }: Statement): Promise<Plan> =>
  at.deps.db.connection().execute(async (db) => {
    await sql`set enable_seqscan = off`.execute(db);
    await sql`set enable_bitmapscan = off`.execute(db);
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      CompiledQuery.raw(`explain (format json) ${text}`, values),
    );
    await sql`reset all`.execute(db);
    return rows[0]!['QUERY PLAN'][0].Plan;
  });

const ago = (ms: number): string => new Date(at.clock.now().getTime() - ms).toISOString();

/** Of filters that several lists have, some values are refused by some of them. */
const values = (): FilterValues => ({
  username: ['u7'],
  email: ['u7@example.test'],
  disabled: ['true', 'false'],
  created_after: [ago(3_000_000)],
  created_before: [ago(60_000)],
  since: [ago(3_000_000)],
  until: [ago(60_000)],
  sub: [sub],
  client_id: [FIRST.client_id],
  state: ['live', 'revoked', 'ended', 'waiting', 'dead'],
  recipient: ['u7@example.test'],
  client_name: ['Name 7'],
  registered_by: ['self'],
  name: ['role0'],
  resource: [FIRST.resource],
  server_wide: ['true', 'false'],
  for_people: ['true', 'false'],
  for_machines: ['true', 'false'],
  event: ['event7'],
  actor: ['actor7'],
  ip: ['192.0.2.7'],
  request_id: ['request7'],
});

/** With more filters than this, not every set of them. */
const MANY_FILTERS = 5;

/**
 * Conditions that no plan may check row by row. Whatever narrows a list alone has an index with its order. Where several
 * do, one of them leads and the others are checked: of one person's grants there are few, of one unique name there is one.
 */
function passedOver({ path, filters }: ListQuery, text: string): RegExp {
  const nothing = /(?!)/;
  if (text.includes('"users"')) return nothing;
  if (text.includes('"grants"') || text.includes('"sessions"')) {
    const [bySub, byClient] = [text.includes('"sub" = '), text.includes('"client_id" = ')];
    if (bySub && byClient) return nothing;
    return bySub ? /\bsub = / : /\bclient_id = |_at IS NOT NULL/;
  }
  const narrowing = filters.filter(([, value]) => !(path === '/clients' && value === 'false'));
  return narrowing.length > 1 ? nothing : /./;
}

/**
 * What reads or orders more than it shows: whole tables, sorts, and rows passed over because they are somebody else's. To
 * order the one row of a unique name costs nothing, nor the few that several filters leave; and a person is in few groups.
 */
function costly(query: ListQuery, { text }: Statement, plan: Plan): string[] {
  const ofPerson = text.includes('from "group_members"') && text.includes('from "groups"');
  const few = ofPerson ? Infinity : query.filters.length > 1 ? 5 : 1;
  const kept = passedOver(query, text);
  // Which of the two comes first, those of the person or those behind the cursor, is up to the statistics' sample.
  const free = ofPerson ? /^\((ROW\(\w+, group_id\)|name) [<>] / : /^\(disabled_at IS NULL\)$/;
  return stepsOf(plan).flatMap(({ 'Node Type': type, Filter: filter = '', Plans: plans = [] }) => [
    ...(type === 'Seq Scan' || (/Sort/.test(type) && plans[0]!['Plan Rows'] > few) ? [type] : []),
    ...(kept.test(filter) && !free.test(filter) ? [filter] : []),
  ]);
}

/** The statement that read a page, which may be a later one. Undefined when the query is refused. */
async function readPage(query: ListQuery): Promise<Statement | undefined> {
  const asked = `${query.path}?${queryString(query)}&limit=2`;
  const first = await operator.send('GET', asked);
  if (first.statusCode === 400) return undefined;
  expect(first.statusCode, asked).toBe(200);
  const { next_cursor } = first.json<{ next_cursor: string | null }>();
  statements.take();
  const page = next_cursor === null ? asked : `${asked}&cursor=${next_cursor}`;
  expect((await operator.send('GET', page)).statusCode, page).toBe(200);
  const reads = statements.take().filter(({ text }) => / order by .* limit /.test(text));
  expect(reads, page).toHaveLength(1);
  return reads[0];
}

const lists: Array<[string, ListOperation]> = listOperations
  .filter(({ path }) => !READ_WHOLE.includes(path))
  .map((operation) => [operation.path, operation]);

test.each(lists)('every filter and order of the list %s is read from an index', async (_path, operation) => {
  const { list } = operation;
  const names = Object.keys(list.filters.shape);
  const most = names.length > MANY_FILTERS ? 2 : names.length;
  const wrong: Array<[string, string[]]> = [];
  const seen = new Set<string>();
  for (const query of queriesOf(operation, { values: values(), ids: { ...FIRST, sub }, most })) {
    const read = await readPage(query);
    if (read === undefined) continue;
    for (const name of [query.sort.replace(/^-/, ''), ...query.filters.map(([filter]) => filter)]) seen.add(name);
    const found = costly(query, read, await explain(read));
    if (found.length > 0) wrong.push([queryString(query), found]);
  }
  expect(wrong).toEqual([]);
  expect([...seen].toSorted()).toEqual([...new Set([...names, ...Object.keys(list.sorts)])].toSorted());
});
