/** `npm run bench -- --admin`: every list of the admin API on a large database, with its plan and its time. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { ADMIN_PATH } from '../../src/admin/index.ts';
import { configWith, loadConfig } from '../../src/config.ts';
import type { Deps } from '../../src/deps.ts';
import { listOperations, queriesOf, queryString, type FilterValues } from '../../test/support/lists.ts';
import { FIRST } from '../../test/support/many.ts';
import { startCluster, type Database } from '../database.ts';
import type { Options } from '../options.ts';
import { startPostern } from '../servers/postern.ts';
import { anOperator, fillLists, SUB, tokenOf } from './data.ts';
import { indexesOf, planner } from './plans.ts';
import { asMarkdown, type ListReport, type ListRow } from './report.ts';

const LIMIT = 50;
/** So far in is the later page, if the list is that long. */
const DEEP = 2000;
const WARM_UP = 5;
const REQUESTS = 60;
/** Filters at once: of every pair one leads and the other is checked. */
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

/** Asks for one page again and again over one connection. */
function client(origin: string, token: string) {
  const pool = new Pool(origin, { connections: 1, pipelining: 1 });
  const get = async (
    path: string,
  ): Promise<{ status: number; body: { items: unknown[]; next_cursor: string | null } }> => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `${ADMIN_PATH}${path}`,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: statusCode, body: (await body.json()) as { items: unknown[]; next_cursor: string | null } };
  };
  return {
    get,
    close: () => pool.close(),
    async times(path: string): Promise<number[]> {
      for (let n = 0; n < WARM_UP; n += 1) await get(path);
      const times: number[] = [];
      for (let n = 0; n < REQUESTS; n += 1) {
        const began = performance.now();
        const { status } = await get(path);
        times.push(performance.now() - began);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
      }
      return times.toSorted((a, b) => a - b);
    },
  };
}

const share = (sorted: readonly number[], part: number): number => sorted[Math.ceil(sorted.length * part) - 1]!;

async function measure(database: Database, options: Options, say: (line: string) => void): Promise<ListRow[]> {
  const operator = await anOperator(database);
  const server = await startPostern(database, 'warn', { ADMIN_RATE_LIMIT: '0', ...options.set });
  const http = client(server.origin, await tokenOf(server.origin, operator));
  const config = configWith(loadConfig('command', {}), { ISSUER: server.origin });
  const plans = planner(database.db, { config } as Partial<Deps>, LIMIT);
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
        const add = async (page: 'first' | 'later', cursor: string | null, after?: ReadonlyArray<string | number>) => {
          const read = await plans.read(operation, query, ids, after);
          const looked = read?.statement ? await plans.look(read.statement) : { indexes: [], rows: 0, wrong: [] };
          const times = await http.times(`${path}&limit=${LIMIT}${cursor === null ? '' : `&cursor=${cursor}`}`);
          const { items } = body;
          const name = {
            list: operation.path,
            query: decodeURIComponent(queryString(query)),
            page,
            shown: items.length,
          };
          rows.push({ ...name, ...looked, p50: share(times, 0.5), p95: share(times, 0.95) });
          for (const wrong of looked.wrong) say(`  VIOLATION ${path} (${page} page) ${wrong}`);
        };
        await add('first', null);
        // A cursor is good for any length of page, so that few requests lead far in.
        let cursor = body.next_cursor;
        let depth = LIMIT;
        for (let next = cursor; next !== null && depth < DEEP; depth += 200) {
          cursor = next;
          next = (await http.get(`${path}&limit=200&cursor=${cursor}`)).body.next_cursor;
        }
        if (cursor === null) continue;
        const before = await plans.read(operation, query, ids, undefined, depth);
        await add('later', cursor, before?.last);
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
    const tables = await fillLists(database, say);
    const load = loadavg()[0]!;
    const rows = await measure(database, options, say);
    const [cpu] = cpus();
    const report: ListReport = {
      about: {
        date: new Date().toISOString().slice(0, 10),
        command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
        machine: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}`,
        load: [load, loadavg()[0]!],
        node: process.versions.node,
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
