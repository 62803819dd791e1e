/** Postern as it runs in production: `postern serve` on a database of its own. */
import { readFileSync } from 'node:fs';
import { freePort } from '../../test/support/server.ts';
import type { Database } from '../database.ts';
import { CODE_TTL } from '../world.ts';
import { startServer, type Server } from './process.ts';

const MAIN = '../../src/main.ts';
const PACKAGE = new URL('../../package.json', import.meta.url);
/** The options of Node that it is run with, as `npm run postern` has them. */
const options = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { postern: string } }).scripts.postern
  .split(' ')
  .filter((word) => word.startsWith('--'));

/** Starts it; `log_level` is warn but for the row that shows the price of the log line. `set` wins over what stands here. */
export async function startPostern(
  { url }: Database,
  log_level: 'warn' | 'info',
  set: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const env = {
    DATABASE_URL: url,
    ISSUER: `http://localhost:${port}`,
    SECRET_KEYS: 'a secret key for the benchmark of forty characters',
    LOG_LEVEL: log_level,
    WORKERS: '1',
    LOGIN_RATE_LIMIT: '0',
    AUTHORIZE_RATE_LIMIT: '0',
    METRICS_PORT: String(await freePort()),
    AUTHORIZATION_CODE_TTL: String(CODE_TTL),
    SIGNING_ALGS: 'RS256,ES256,EdDSA',
    ACCESS_TOKEN_SIGNING_ALG: 'ES256',
    ...set,
  };
  const preload = ['./statements.ts'];
  return startServer({ script: MAIN, args: ['serve'], options, port, env, preload, ready: '/readyz' });
}
