/** One connection to Postgres: at which of several hosts, within which limits, and whether it can be written to. */
import pg from 'pg';
import { cancel } from './cancel.ts';
import type { Gate } from './gate.ts';
import { isSilence, noConnection } from './unavailable.ts';

/** Where the database is: a URL, with those of other hosts that may be in its place, or a unix socket directory. */
export type Connection =
  | {
      connectionString: string;
      /** The same database at other hosts, in order. */
      others?: readonly string[];
      /** What a host has to be (libpq's target_session_attrs): it is asked after connecting. */
      requires?: 'read-write' | 'primary';
    }
  | { host: string; port: number; user: string; database: string };

/** Milliseconds that a session allows; 0 is no limit. */
export interface Limits {
  /** For one statement, by our own clock. Postgres gives up a little sooner, so that we have its answer. */
  statement: number;
  /** For a lock that somebody else holds. */
  lock: number;
}

/** Postgres times a statement out earlier than we do, by this part of the time: only that frees its locks. */
const EARLIER = 8;
const IDLE_IN_TRANSACTION_MS = 5000;
/** Milliseconds that closing a connection in order may take: over a lost one nothing arrives. */
const GOODBYE_MS = 1000;
/** Milliseconds that Postgres has for stopping what it was asked to stop. */
const ABANDONED_MS = 30_000;
/** Within so many milliseconds connections are distrusted once, though all of them fail, one after the other. */
const DISTRUST_MS = 1000;
const READ_ONLY = '25006';

/** Where connections go: to one of several hosts until it fails, then to the next. */
export class Route {
  readonly #places: readonly pg.ClientConfig[];
  readonly requires: 'read-write' | 'primary' | undefined;
  #at = 0;
  #distrusted = -Infinity;

  constructor(connection: Connection) {
    if ('connectionString' in connection) {
      const { connectionString, others = [], requires } = connection;
      this.#places = [connectionString, ...others].map((url) => ({ connectionString: url }));
      this.requires = requires;
    } else this.#places = [connection];
  }

  /** How many hosts there are. */
  get size(): number {
    return this.#places.length;
  }
  get place(): pg.ClientConfig {
    return this.#places[this.#at]!;
  }
  /** Sends the next connections to another host, unless an earlier call did. */
  leave(place: pg.ClientConfig): void {
    if (place === this.place) this.#at = (this.#at + 1) % this.#places.length;
  }
  /** Connections made until now are not used again: their host does not answer, or cannot be written to. */
  distrust(): void {
    const now = performance.now();
    if (now - this.#distrusted > DISTRUST_MS) this.#distrusted = now;
  }
  trusts({ bornAt }: Session): boolean {
    return bornAt > this.#distrusted;
  }
}

/** What a session finds when it begins. */
interface Found {
  pid: number;
  standby: boolean;
  read_only: boolean;
}

/** A connection: by the time it is open it has found a usable host and set its limits. */
export class Session extends pg.Client {
  readonly #route: Route;
  readonly #place: pg.ClientConfig;
  readonly #limits: Limits;
  readonly bornAt = performance.now();
  /** Was its last statement given up? */
  isAbandoned = false;
  /** Is there a pooler between us and Postgres? */
  isPooled = false;

  constructor(route: Route, limits: Limits, config: pg.ClientConfig = {}, gate?: Gate) {
    const { place } = route;
    super({
      ...config,
      ...place,
      ...(limits.statement > 0 && { query_timeout: limits.statement }),
      application_name: config.application_name ?? 'postern',
      keepAlive: true,
      keepAliveInitialDelayMillis: 5000,
    });
    this.#route = route;
    this.#place = place;
    this.#limits = limits;
    // One that breaks in use may say so twice: first to its query, then to nobody, which would end the process.
    this.on('error', () => {});
    const onEnd = (error: unknown): void => {
      if (!isSilence(error)) return;
      route.distrust();
      void this.#abandon();
    };
    const ask = (given: unknown[]): unknown => super.query(...(given as [string]));
    const query = (...given: unknown[]): unknown => {
      const [first] = given as [string | { callback?: unknown }];
      watchCallback(first, onEnd);
      if (!gate || typeof first !== 'string' || typeof given.at(-1) === 'function') {
        const answer = ask(given);
        if (answer instanceof Promise) answer.catch(onEnd);
        return answer;
      }
      const answer = gate.through(first, () => ask(given) as Promise<unknown>);
      answer.catch((error: unknown) => {
        gate.failed(first, error);
        onEnd(error);
      });
      return answer;
    };
    Object.assign(this, { query });
    this.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) this.#leave();
    });
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | void {
    const opened = this.#open();
    if (callback === undefined) return opened;
    opened.then(
      () => process.nextTick(callback, null),
      (error: Error) => process.nextTick(callback, error),
    );
  }

  async #open(): Promise<this> {
    try {
      await super.connect();
      const found = await this.#begin();
      this.isPooled = found.pid !== (this as unknown as { processID: number }).processID;
      const { requires } = this.#route;
      if (requires !== undefined && (found.standby || (found.read_only && requires === 'read-write')))
        throw new Error(`${this.host} is ${found.standby ? 'a standby' : 'read-only'}`);
      return this;
    } catch (error) {
      this.#route.leave(this.#place);
      this.drop();
      throw noConnection(error);
    }
  }

  /** Not by startup parameters: poolers refuse those. */
  async #begin(): Promise<Found> {
    const { statement, lock } = this.#limits;
    const limits = {
      statement_timeout: statement - Math.floor(statement / EARLIER),
      lock_timeout: lock,
      idle_in_transaction_session_timeout: statement > 0 ? IDLE_IN_TRANSACTION_MS : 0,
    };
    const settings = Object.entries(limits).map(([name, ms]) => `set_config('${name}', '${ms}', false)`);
    const { rows } = await this.query<Found>(`
      select pg_backend_pid() as pid, pg_is_in_recovery() as standby,
        current_setting('transaction_read_only')::boolean as read_only, ${settings.join(', ')}`);
    return rows[0]!;
  }

  #leave(): void {
    this.#route.distrust();
    this.#route.leave(this.#place);
  }

  /**
   * Nobody waits for its statement any more, but Postgres may be at it still, and hold locks: it is cancelled. Until it is
   * through, the connection counts.
   */
  async #abandon(): Promise<void> {
    if (this.isAbandoned) return;
    this.isAbandoned = true;
    this.emit('abandoned');
    const isCancelled = await cancel(this);
    this.emit('cancelled', isCancelled);
    if (!isCancelled) this.drop();
    else setTimeout(() => this.drop(), ABANDONED_MS).unref();
  }

  /** Ends it without a goodbye. */
  drop(): void {
    this.connection.stream.destroy();
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    if (this.isAbandoned) {
      // pg would hang up at once, and we would not notice when Postgres is through.
      (this.connection as unknown as { end(): void }).end();
      return callback === undefined ? Promise.resolve() : process.nextTick(callback);
    }
    const late = setTimeout(() => this.drop(), GOODBYE_MS).unref();
    this.once('end', () => clearTimeout(late));
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** Calls `onEnd` when a query that reports by a callback has failed or ended. */
function watchCallback(query: string | { callback?: unknown } | undefined, onEnd: (error: unknown) => void): void {
  if (typeof query !== 'object' || typeof query.callback !== 'function') return;
  const callback = query.callback as (...answer: unknown[]) => void;
  query.callback = (error: unknown, ...rest: unknown[]) => {
    onEnd(error);
    callback(error, ...rest);
  };
}
