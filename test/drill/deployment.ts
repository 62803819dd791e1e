/** Two servers of one issuer on one database, and the people and applications that use them. */
import { sql } from 'kysely';
import { openDb } from '../../src/store/postgres/open.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { people, PASSWORD, USERNAME } from '../../bench/world.ts';
import { freePort, SECRET_KEY, startServer, type Server } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';
import { Ledger, type Findings } from './ledger.ts';
import type { PostgresNode } from './node.ts';
import { startTraffic, type Traffic } from './traffic.ts';

export interface Deployment {
  servers: Server[];
  ledger: Ledger;
  traffic: Traffic;
  /** One more server of the same issuer. */
  startAnother(port?: number): Promise<Server>;
}

export interface DeploymentOptions {
  /** What the servers connect to: the node itself, something between, or several nodes. */
  url: string;
  chains: number;
  processes?: number;
  /** Milliseconds after which an answer is wrong because it is late. */
  latest?: number | undefined;
  env?: Record<string, string>;
}

/** Migrates the node's database, starts servers on `url`, and lets the traffic begin. */
export async function openDeployment(
  node: Pick<PostgresNode, 'url'>,
  { url, chains, processes = 2, latest, env = {} }: DeploymentOptions,
): Promise<Deployment> {
  const connection = { connectionString: node.url };
  const migrations = openDb(connection, { max: 1, statementTimeout: 0 });
  await migrate(migrations);
  await migrations.destroy();
  const db = openDb(connection, { max: 2 });
  const { app } = await people({ connection: { host: '', port: 0, user: '', database: '' }, url: node.url, db });
  await db.destroy();

  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const all = {
    DATABASE_URL: url,
    ISSUER: issuer,
    SECRET_KEYS: SECRET_KEY,
    TOKEN_RATE_LIMIT: '0',
    ...env,
  };
  const startAnother = (at?: number): Promise<Server> =>
    startServer({ ...(at !== undefined && { port: at }), env: all });
  const servers = [await startAnother(port)];
  while (servers.length < processes) servers.push(await startAnother());

  const ledger = new Ledger(latest);
  const visitor = await new Visitor(issuer).signIn(USERNAME, PASSWORD);
  const origins = servers.map(({ origin }) => origin);
  const traffic = await startTraffic({ origins, client: app, visitor, ledger, chains });
  return { servers, ledger, traffic, startAnother };
}

/** Lets everybody be served again, and looks into the audit log: an honest client raises no alarm. */
export async function closeDeployment(
  { servers, ledger, traffic }: Deployment,
  node: Pick<PostgresNode, 'url'>,
): Promise<Findings> {
  await traffic.settle();
  const db = openDb({ connectionString: node.url }, { max: 1 });
  const { rows } = await sql<{ event: string; count: number }>`
    select event, count(*)::int as count from audit_events
    where event in ('refresh_token_reuse', 'code_replay') group by event`.execute(db);
  await db.destroy();
  for (const { event, count } of rows) ledger.contradict(`${count} alarms of ${event} about honest clients`);
  await Promise.all(servers.map((server) => server.stop()));
  return ledger.findings();
}
