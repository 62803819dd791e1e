/** Preloaded into Postern beside the probe: counts what its connections are asked, BEGIN and COMMIT included. */
import pg from 'pg';

const counted = globalThis as { postern_statements?: number };
counted.postern_statements = 0;
type Query = (...args: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;
prototype.query = function (this: unknown, ...args: unknown[]): unknown {
  // A pipeline is several.
  counted.postern_statements! += (args[0] as { size?: number }).size ?? 1;
  return query.apply(this, args);
};
