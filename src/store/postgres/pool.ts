/** The pool of connections. One whose host has failed is not used again. */
import pg from 'pg';
import { Route, Session, type Connection, type Limits } from './connection.ts';
import { Gate, LOCKED_TABLE } from './gate.ts';
import { isSilence, noConnection, wasMissed } from './unavailable.ts';

/** How large a pool is, and how patient. */
export interface Terms extends Limits {
  max: number;
  /** Milliseconds until a connection has to be there. */
  connect: number;
  /** Milliseconds after which an idle connection is looked at; 0 is never. */
  heartbeat: number;
  /** Seconds after which a connection is replaced by a new one. */
  lifetime: number;
  onError: (error: Error) => void;
  /** Called when a statement was given up that Postgres may be at still: could it be told to stop? */
  onAbandoned: (isCancelled: boolean) => void;
}

/** Milliseconds that the check for a locked table, or of an idle connection, may take. */
const LOCK_CHECK_MS = 1000;
/** Of the time for connecting, the part after which no other host is tried: the request could not use it. */
const HURRY = 2;

/** pg's pool, which knows several hosts and looks after what is idle. */
export class Pool extends pg.Pool {
  readonly #route: Route;
  readonly #terms: Terms;
  readonly #heart: NodeJS.Timeout | undefined;
  #abandoned = 0;

  /** Keeps statements that wait for a locked table from occupying the pool. */
  readonly gate: Gate;

  constructor(connection: Connection, terms: Terms) {
    const route = new Route(connection);
    const gate = new Gate(terms.max, () => this.#hasLockedTable());
    super({
      Client: class extends Session {
        constructor(config?: pg.ClientConfig) {
          super(route, terms, config, gate);
        }
      },
      max: terms.max,
      connectionTimeoutMillis: terms.connect,
      idleTimeoutMillis: 30_000,
      maxLifetimeSeconds: terms.lifetime,
    });
    this.gate = gate;
    this.#route = route;
    this.#terms = terms;
    this.on('error', terms.onError);
    this.on('release', (error: unknown) => this.#onRelease(error));
    this.on('connect', (client) => this.#watch(client));
    if (terms.heartbeat > 0) this.#heart = setInterval(() => void this.#beat(), terms.heartbeat).unref();
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(
    callback: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): void;
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): Promise<pg.PoolClient> | void {
    return callback === undefined ? this.#lend() : super.connect(callback);
  }

  async #lend(): Promise<pg.PoolClient> {
    const until = performance.now() + this.#terms.connect / HURRY;
    for (let host = 1; ;) {
      try {
        const client = await super.connect();
        const session = client as unknown as Session;
        if (this.#route.trusts(session) && !session.isAbandoned) return client;
        if (!session.isAbandoned) session.drop();
        client.release(true);
      } catch (error) {
        // pg's timeout error has as its cause what happened to the connection.
        if (!wasMissed(error)) throw error;
        if (host >= this.#route.size || performance.now() > until) throw noConnection(error);
        host += 1;
      }
    }
  }

  async #hasLockedTable(): Promise<boolean> {
    const client = await this.connect();
    let failed: Error | undefined;
    try {
      const { rowCount } = await client.query({ text: LOCKED_TABLE, query_timeout: LOCK_CHECK_MS } as pg.QueryConfig);
      return rowCount === 1;
    } catch (error) {
      failed = error as Error;
      throw error;
    } finally {
      client.release(failed);
    }
  }

  /** Where one connection got no answer at all, the others may be dead as well: nothing would report it. */
  #onRelease(error: unknown): void {
    if (isSilence(error)) this.#route.distrust();
  }

  /** An abandoned connection counts until Postgres has closed it: otherwise there would be more than `max` of them. */
  #watch(client: pg.PoolClient): void {
    client.once('abandoned', () => {
      this.#abandoned += 1;
      this.#makeRoom();
      (client as unknown as Session).connection.once('end', () => {
        this.#abandoned -= 1;
        this.#makeRoom();
      });
    });
    client.once('cancelled', this.#terms.onAbandoned);
  }

  #makeRoom(): void {
    this.options.max = Math.max(1, this.#terms.max - this.#abandoned);
  }

  /** Checks an idle connection: one that was lost silently is noticed only by a query. */
  async #beat(): Promise<void> {
    if (this.idleCount === 0 || this.ending) return;
    let client: pg.PoolClient | undefined;
    try {
      client = await this.connect();
      await client.query({ text: 'select', query_timeout: LOCK_CHECK_MS } as pg.QueryConfig);
      client.release();
    } catch (error) {
      if (client) (client as unknown as Session).drop();
      client?.release(error as Error);
      this.#terms.onError(error as Error);
    }
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | void {
    clearInterval(this.#heart);
    return callback === undefined ? super.end() : super.end(callback);
  }
}
