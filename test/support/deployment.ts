/** Servers on a database of their own, with the real code beside them to make clients and people. */
import { afterAll } from 'vitest';
import { testApp, type TestApp } from './app.ts';
import { aClient, aUser, type AClient } from './fixtures.ts';
import { freePort, SECRET_KEY, startServer, stopServers, type Server } from './server.ts';
import { Visitor } from './visitor.ts';

export interface Deployment {
  issuer: string;
  servers: Server[];
  /** On the same database: for fixtures. */
  test: TestApp;
  /** The environment its servers were started in, for one more. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface DeploymentOptions {
  command?: 'dev' | 'serve';
  processes?: number;
  env?: Record<string, string>;
  /** Runs before the processes start: for rows that they read now and then only, such as scopes. */
  prepare?: (test: TestApp) => Promise<unknown>;
}

const open = new Set<TestApp>();

/** Starts processes of one issuer on one new database. They are stopped at the end of the file, whatever happens. */
export async function deploy({
  command = 'serve',
  processes = 1,
  env: extra = {},
  prepare,
}: DeploymentOptions = {}): Promise<Deployment> {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const test = await testApp({ config: { ISSUER: issuer, SECRET_KEYS: [SECRET_KEY] } });
  open.add(test);
  await prepare?.(test);
  const env = { DATABASE_URL: test.database.url, ISSUER: issuer, ...extra };
  const start = async (index: number): Promise<Server> =>
    startServer(index === 0 ? { command, port, env } : { command, env });
  const servers = await Promise.all(Array.from({ length: processes }, (_, index) => start(index)));
  return {
    issuer,
    servers,
    test,
    env,
    async close() {
      await Promise.all(servers.map((server) => server.stop()));
      open.delete(test);
      await test.close();
    },
  };
}

/** To be called once in a file that starts servers. */
export const stopServersAfterwards = (): void =>
  afterAll(async () => {
    await stopServers();
    for (const test of open) await test.close();
    open.clear();
  });

/** A client, and a person who has signed in and allowed it everything: from here on /authorize answers at once. */
export async function aConsentedClient({
  test,
  issuer,
}: Pick<Deployment, 'test' | 'issuer'>): Promise<{ client: AClient; visitor: Visitor; username: string }> {
  const client = await aClient(test);
  const { username } = await aUser(test);
  const visitor = await new Visitor(issuer).signIn(username);
  await visitor.code(client);
  return { client, visitor, username };
}
