// A process of its own that starts or attaches to a Postgres, says so on one line of JSON, and holds it until it reads `stop`.
// Its argument is JSON: { attach, options }.
import { createInterface } from 'node:readline';
import type { PostgresOptions } from '../../src/platform/postgres/index.ts';
import { PostgresUnavailable, attachPostgres, startPostgres } from '../../src/platform/postgres/index.ts';

const { attach, options } = JSON.parse(process.argv[2] ?? '{}') as { attach: boolean; options: PostgresOptions };
const say = (answer: object): boolean => process.stdout.write(`${JSON.stringify(answer)}\n`);
// Like a server that drains first.
process.on('SIGINT', () => say({ interrupted: true }));
const begun = performance.now();
try {
  const postgres = await (attach ? attachPostgres : startPostgres)(options);
  const { connection, version, dataDir } = postgres;
  say({ connection, version, dataDir, ms: Math.round(performance.now() - begun) });
  for await (const line of createInterface({ input: process.stdin })) if (line === 'stop') break;
  await postgres.stop();
  process.exit(0);
} catch (error) {
  say({ refused: error instanceof PostgresUnavailable ? error.message : `not PostgresUnavailable: ${String(error)}` });
  process.exit(1);
}
