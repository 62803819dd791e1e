/** `npm run bench -- --admin`: every list of the admin API on a large database, with its plan and its time. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { configWith, loadConfig } from '../../src/config.ts';
import { listOperations, queriesOf, queryString, READ_WHOLE, type FilterValues } from '../../test/support/lists.ts';
import { FIRST } from '../../test/support/many.ts';
import { startCluster, type Database } from '../database.ts';
import type { Options } from '../options.ts';
import { startPostern } from '../servers/postern.ts';
import { aboutRun } from '../report/about.ts';
import { anOperator, fillLists, SUB, tokenOf } from './data.ts';
import { listClient, REQUESTS } from './http.ts';
import { indexesOf, planner } from './plans.ts';
import { asMarkdown, type ListReport, type ListRow } from './report.ts';

const LIMIT = 50;
/** So far in is the later page, if the list is that long. */
const DEEP = 2000;
/** Filters at once: of every pair one leads and the other is checked. Pairs are explained, and not timed. */
const MOST = 2;

const ids = { ...FIRST, sub: SUB };

/** Values to narrow by, each with much behind it. */
function valuesOf(now: Date): FilterValues {
  const ago = (hours: number): string => new Date(now.getTime() - hours * 3_600_000).toISOString();
  return {
    username: ['ballast7'],
    email: ['ballast7@bench.test'],
    disabled: ['true', 'false'],
    created_after: [ago(20)],
    created_before: [ago(2)],
    since: [ago(20)],
    until: [ago(2)],
    sub: [SUB],
    client_id: [FIRST.client_id],
    state: ['live', 'revoked', 'ended', 'active'],
    client_name: ['Name 7'],
    registered_by: ['self', 'operator'],
    name: ['role0', 'group7'],
    resource: [FIRST.resource],
    server_wide: ['true', 'false'],
    for_people: ['true', 'false'],
    for_machines: ['true', 'false'],
    event: ['event7', 'event0'],
    actor: ['actor7'],
    ip: ['192.0.2.7'],
    request_id: ['request7'],
    alg: ['RS256'],
    use: ['sig'],
  };
}

async function measure(database: Database, options: Options, say: (line: string) => void): Promise<ListRow[]> {
  const operator = await anOperator(database);
  const server = await startPostern(database, 'warn', { ADMIN_RATE_LIMIT: '0', ...options.set });
  const http = listClient(server.origin, await tokenOf(server.origin, operator));
  const config = configWith(loadConfig('command', {}), { ISSUER: server.origin });
  const plans = planner(database.db, { config }, LIMIT);
  const values = valuesOf(new Date());
  const rows: ListRow[] = [];
  try {
    for (const operation of listOperations) {
      say(`${operation.path} …`);
      for (const query of queriesOf(operation, { values, ids, most: MOST })) {
        const path = `${query.path}?${queryString(query)}`;
        const { status, body } = await http.get(`${path}&limit=${LIMIT}`);
        if (status === 400) continue;
        if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
        const timed = query.filters.length < MOST;
        const add = async (page: 'first' | 'later', cursor: string | null, after?: ReadonlyArray<string | number>) => {
          const statement = await plans.read(operation, query, ids, after);
          const looked = statement
            ? await plans.look(statement, query.filters.length)
            : { indexes: [], rows: 0, wrong: [] as string[] };
          if (!statement && !READ_WHOLE.includes(operation.path)) looked.wrong.push('is not a page');
          const at = `${path}&limit=${LIMIT}${cursor === null ? '' : `&cursor=${cursor}`}`;
          const times = timed ? await http.times(at) : undefined;
          rows.push({ list: operation.path, query: decodeURIComponent(queryString(query)), page, ...looked, ...times });
          for (const wrong of looked.wrong) say(`  VIOLATION ${path} (${page} page) ${wrong}`);
        };
        await add('first', null);
        const { next_cursor } = body;
        if (next_cursor === null) continue;
        // A cursor is good for any length of page, so that few requests lead far in.
        let [cursor, depth] = [next_cursor, LIMIT];
        const deep = timed ? DEEP : LIMIT;
        while (depth < deep) {
          const next = (await http.get(`${path}&limit=200&cursor=${cursor}`)).body.next_cursor;
          if (next === null) break;
          [cursor, depth] = [next, depth + 200];
        }
        await add('later', cursor, await plans.endOf(operation, query, ids, depth));
      }
    }
  } finally {
    plans.stop();
    await http.close();
    await server.stop();
  }
  return rows;
}

/** Runs it, writes the table and the figures, and ends with status 1 when a list is not by index. */
export async function benchLists(options: Options, say: (line: string) => void): Promise<void> {
  const cluster = await startCluster();
  try {
    const database = await cluster.create('lists');
    const tables = await fillLists(database, options.rows, say);
    const load = loadavg()[0]!;
    const rows = await measure(database, options, say);
    const report: ListReport = {
      about: {
        ...aboutRun(),
        load: [load, loadavg()[0]!],
        postgres: cluster.version,
        limit: LIMIT,
        requests: REQUESTS,
        tables,
        indexes: await indexesOf(database.db, Object.keys(tables)),
      },
      rows,
    };
    mkdirSync(options.output, { recursive: true });
    const { summary, whole } = asMarkdown(report);
    writeFileSync(join(options.output, 'lists.md'), `${summary}\n${whole}`);
    writeFileSync(join(options.output, 'lists.json'), `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`\n${summary}`);
    if (rows.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1;
  } finally {
    await cluster.stop();
  }
}
