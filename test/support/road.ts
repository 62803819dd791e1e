/** A way to the database of a test, that can be cut. */
import { createServer, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Connection } from '../../src/store/postgres/db.ts';

/** A road to the database that can be closed, or lose what is sent on it. */
export class Road {
  readonly #to: Connection;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  #isLossy = false;
  /** How many connections came by. */
  taken = 0;

  constructor(to: Connection) {
    this.#to = to;
  }

  async open(): Promise<void> {
    const to = this.#to;
    this.#server = createServer((client) => {
      this.taken += 1;
      const upstream =
        'connectionString' in to
          ? connect(Number(new URL(to.connectionString).port || 5432), new URL(to.connectionString).hostname)
          : connect(join(to.host, `.s.PGSQL.${to.port}`));
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      }
      client.on('data', (data) => this.#isLossy || upstream.write(data)).on('end', () => upstream.end());
      upstream.on('data', (data) => this.#isLossy || client.write(data)).on('end', () => client.end());
    });
    const server = this.#server;
    await new Promise<void>((resolve) => void server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    const server = this.#server!;
    const closed = new Promise((resolve) => void server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** From now on what comes is swallowed without a word; who connects is let in, and hears nothing. */
  lose(): void {
    this.#isLossy = true;
  }
  /** What comes arrives again; what was lost stays so, and with it every connection that sent something. */
  find(): void {
    this.#isLossy = false;
  }

  /** As in a URL. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get connection(): Connection {
    const to = this.#to;
    if ('connectionString' in to) {
      const url = new URL(to.connectionString);
      url.host = `127.0.0.1:${this.#port}`;
      return { connectionString: url.href };
    }
    return { host: '127.0.0.1', port: this.#port, user: to.user, database: to.database };
  }
}
