/**
 * `npm run bench`: Postern, a bare Fastify and a peer, side by side. Here stands the order of a run; what is measured is in
 * scenarios, how in rounds. Nothing here is part of the tests.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ballastOf, fill } from './ballast.ts';
import { startCluster, type Cluster, type Database } from './database.ts';
import { benchFlood } from './flood/index.ts';
import { benchLists } from './lists/index.ts';
import { loadTool } from './load/index.ts';
import { readOptions, type Options } from './options.ts';
import { reportOf, write, type Row } from './report/index.ts';
import { describeProfile } from './report/profile.ts';
import { hold, type Contestant } from './rounds.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { ceilingLoad, startCeiling } from './servers/ceiling.ts';
import { peerWorldOf, startPeer } from './servers/peer.ts';
import { startPostern } from './servers/postern.ts';
import type { Server } from './servers/process.ts';
import { people, worldOf } from './world.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A database with the people of the scenarios, and ballast if asked for. */
async function populate(cluster: Cluster, name: string, rows: number): Promise<Database & { clients: People }> {
  const database = await cluster.create(name);
  const clients = await people(database);
  if (rows > 0) {
    const ballast = ballastOf(rows);
    say(`${name}: ${ballast.refresh_tokens} refresh tokens, ${ballast.grants} grants, ${ballast.users} people`);
    await fill(database.db, ballast, { phc: clients.phc, client_id: clients.app.client_id, say });
  }
  return { ...database, clients };
}

type People = Awaited<ReturnType<typeof people>>;

/** Everything that runs, each started when it is first needed. */
class Field {
  readonly servers: Server[] = [];
  readonly #started = new Map<string, Promise<unknown>>();
  readonly #databases: Array<{ label: string; database: Database & { clients: People } }>;
  readonly #options: Options;

  constructor(options: Options, databases: Array<{ label: string; database: Database & { clients: People } }>) {
    this.#options = options;
    this.#databases = databases;
  }

  /** Who takes part in a scenario, ours first. */
  async contestants(scenario: Scenario): Promise<Contestant[]> {
    const found: Contestant[] = [];
    for (const { label, database } of this.#databases) {
      const level = scenario.logged ? 'info' : 'warn';
      const { server, world } = await this.#once(`${label} ${level}`, async () => {
        const server = await this.#add(startPostern(database, level, this.#options.set));
        return { server, world: await worldOf(server.origin, database, database.clients) };
      });
      found.push({ name: label, server, load: (amount) => scenario.postern(world, amount) });
    }
    if (this.#options.compareRows) return found;
    const ceiling = await this.#once('ceiling', () => this.#add(startCeiling()));
    found.push({ name: 'ceiling', server: ceiling, load: async () => ceilingLoad(scenario) });
    const { peer: load } = scenario;
    if (this.#options.peer && load) {
      const { server, world } = await this.#once('peer', async () => {
        const server = await this.#add(startPeer());
        return { server, world: await peerWorldOf(server) };
      });
      found.push({ name: 'oidc-provider', server, load: (amount) => load(world, amount) });
    }
    return found;
  }

  async #add(starting: Promise<Server>): Promise<Server> {
    const server = await starting;
    this.servers.push(server);
    return server;
  }

  #once<T>(name: string, start: () => Promise<T>): Promise<T> {
    const started = (this.#started.get(name) as Promise<T> | undefined) ?? start();
    this.#started.set(name, started);
    return started;
  }
}

function chosen({ only }: Options): Array<[string, Scenario]> {
  const unknown = only.filter((name) => !Object.hasOwn(scenarios, name));
  const names = Object.keys(scenarios).join(', ');
  if (unknown.length > 0) throw new TypeError(`there is no scenario ${unknown.join(', ')}; there are ${names}`);
  return Object.entries(scenarios).filter(([name]) => only.length === 0 || only.includes(name));
}

async function run(options: Options): Promise<void> {
  const selected = chosen(options);
  const { name: tool, fire } = loadTool(options.tool);
  const cluster = await startCluster();
  let field: Field | undefined;
  try {
    const databases = options.compareRows
      ? [
          { label: 'empty', database: await populate(cluster, 'empty', 0) },
          { label: 'full', database: await populate(cluster, 'full', options.rows) },
        ]
      : [{ label: 'postern', database: await populate(cluster, 'bench', options.rows) }];
    field = new Field(options, databases);
    const profiles = options.profile ? join(options.output, 'profiles') : undefined;
    if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
    const rows: Row[] = [];
    for (const [name, scenario] of selected) {
      say(`${name} …`);
      const contestants = await field.contestants(scenario);
      const results = await hold(name, scenario, contestants, { ...options, fire, profiles });
      for (const { name: who, rate, p95, errors } of results) {
        say(`  ${who}: ${rate.toFixed(0)}/s, p95 ${p95.toFixed(2)} ms${errors > 0 ? `, ${errors} ERRORS` : ''}`);
      }
      if (profiles !== undefined)
        process.stdout.write(`${describeProfile(name, join(profiles, `${name}.cpuprofile`))}\n`);
      rows.push({ name, title: scenario.title, results });
    }
    const report = reportOf(options, rows, { postgres: cluster.version, tool });
    process.stdout.write(`\n${write(options.output, report)}`);
    if (rows.some(({ results }) => results.some(({ errors }) => errors > 0))) process.exitCode = 1;
  } finally {
    await Promise.all((field?.servers ?? []).map((server) => server.stop()));
    await cluster.stop();
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.admin) await benchLists(options, say);
  else if (options.flood) await benchFlood(options, say);
  else await run(options);
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  say(error.message);
  process.exitCode = 2;
}
