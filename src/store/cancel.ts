/** Asking Postgres to stop what nobody waits for any more: over a connection of its own (PostgreSQL, §54.2.9). */
import pg from 'pg';

/** What pg's client knows of its connection. */
interface Known {
  host: string;
  port: number;
  ssl: unknown;
  processID: number | null;
  secretKey: number | null;
}

/** The part of pg's connection that this uses. */
interface Wire {
  connect(port: number | string, host?: string): void;
  cancel(processID: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'end', told: () => void): void;
  on(event: 'error', told: () => void): void;
  readonly stream: { destroy(): void };
}

/** Milliseconds until it is given up. */
const PATIENCE_MS = 1000;

/** Asks for what a connection is at to be stopped. False when nobody is there to be asked: then nothing is known of it. */
export function cancel(client: pg.Client): Promise<boolean> {
  const { host, port, ssl, processID, secretKey } = client as unknown as Known;
  if (processID === null || secretKey === null) return Promise.resolve(false);
  const wire = new pg.Connection({ ssl } as pg.ConnectionConfig) as unknown as Wire;
  return new Promise((resolve) => {
    let isSent = false;
    const end = (isHeard: boolean): void => {
      clearTimeout(late);
      wire.stream.destroy();
      resolve(isHeard);
    };
    const late = setTimeout(() => end(false), PATIENCE_MS);
    wire.once(ssl ? 'sslconnect' : 'connect', () => {
      isSent = true;
      wire.cancel(processID, secretKey);
    });
    // There is no other answer.
    wire.once('end', () => end(isSent));
    wire.on('error', () => end(false));
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
    else wire.connect(port, host);
  });
}
