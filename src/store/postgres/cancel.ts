/** Cancels a statement that nobody waits for any more, over a connection of its own (PostgreSQL, §54.2.9). */
import pg from 'pg';

/** The fields of pg's client that say which connection to cancel. */
interface PgClient {
  host: string;
  port: number;
  ssl: unknown;
  processID: number | null;
  secretKey: number | null;
}

/** The part of pg's connection that this uses. */
interface PgConnection {
  connect(port: number | string, host?: string): void;
  cancel(processID: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'end', listener: () => void): void;
  on(event: 'error', listener: () => void): void;
  readonly stream: { destroy(): void };
}

/** Milliseconds that the request to cancel may take. */
const PATIENCE_MS = 1000;

/** Cancels what a connection is doing. False when Postgres could not be reached: then the statement's fate is unknown. */
export function cancel(client: pg.Client): Promise<boolean> {
  const { host, port, ssl, processID, secretKey } = client as unknown as PgClient;
  if (processID === null || secretKey === null) return Promise.resolve(false);
  const wire = new pg.Connection({ ssl } as pg.ConnectionConfig) as unknown as PgConnection;
  return new Promise((resolve) => {
    let isSent = false;
    const end = (isCancelled: boolean): void => {
      clearTimeout(late);
      wire.stream.destroy();
      resolve(isCancelled);
    };
    const late = setTimeout(() => end(false), PATIENCE_MS);
    wire.once(ssl ? 'sslconnect' : 'connect', () => {
      isSent = true;
      wire.cancel(processID, secretKey);
    });
    // Postgres answers a cancel request by closing the connection, and in no other way.
    wire.once('end', () => end(isSent));
    wire.on('error', () => end(false));
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
    else wire.connect(port, host);
  });
}
