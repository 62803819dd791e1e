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
      /** What a host has to be, to be used: it is asked after connecting. */
      wants?: 'read-write' | 'primary';
    }
  | { host: string; port: number; user: string; database: string };

/** Milliseconds that a session allows; 0 is no limit. */
export interface Limits {
  /** For one statement, by our own clock. Postgres gives up a little sooner, so that we hear of it. */
  statement: number;
  /** For a lock that somebody else holds. */
  lock: number;
}

/** By this part of the time Postgres gives up a statement before us: that frees its locks, ours alone would not. */
const EARLIER = 8;
const IDLE_IN_TRANSACTION_MS = 5000;
/** Milliseconds for a goodbye. Nobody hears it where a connection was lost without a word. */
const GOODBYE_MS = 1000;
/** Milliseconds that Postgres has for stopping what it was asked to stop. */
const ABANDONED_MS = 30_000;
/** Within so many milliseconds connections are distrusted once: all of them say so, one after the other. */
const DISTRUST_MS = 1000;
const READ_ONLY = '25006';

/** Where connections go: to one of several hosts until it fails, then to the next. */
export class Route {
  readonly #places: readonly pg.ClientConfig[];
  readonly wants: 'read-write' | 'primary' | undefined;
  #at = 0;
  #distrusted = -Infinity;

  constructor(connection: Connection) {
    if ('connectionString' in connection) {
      const { connectionString, others = [], wants } = connection;
      this.#places = [connectionString, ...others].map((url) => ({ connectionString: url }));
      this.wants = wants;
    } else this.#places = [connection];
  }

  /** How many hosts there are. */
  get size(): number {
    return this.#places.length;
  }
  get place(): pg.ClientConfig {
    return this.#places[this.#at]!;
  }
  /** The next connections go elsewhere, unless somebody else has seen to that. */
  leave(place: pg.ClientConfig): void {
    if (place === this.place) this.#at = (this.#at + 1) % this.#places.length;
  }
  /** Connections made until now are not used again: they lead to where nobody answers, or nobody writes. */
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

/** A connection that has found its host and set its limits by the time it is there. */
export class Session extends pg.Client {
  readonly #route: Route;
  readonly #place: pg.ClientConfig;
  readonly #limits: Limits;
  readonly bornAt = performance.now();
  /** Was its last statement given up? */
  isAbandoned = false;
  /** Is there somebody between us and Postgres who answers for several (a pooler)? */
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
    const hear = (error: unknown): void => {
      if (!isSilence(error)) return;
      route.distrust();
      void this.#abandon();
    };
    const ask = (given: unknown[]): unknown => super.query(...(given as [string]));
    const query = (...given: unknown[]): unknown => {
      const [first] = given as [string | { callback?: unknown }];
      hearCallback(first, hear);
      const answer =
        gate && typeof first === 'string' && typeof given.at(-1) !== 'function'
          ? gate.through(first, () => ask(given) as Promise<unknown>)
          : ask(given);
      if (answer instanceof Promise) answer.catch(hear);
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
      const { wants } = this.#route;
      if (wants !== undefined && (found.standby || (found.read_only && wants === 'read-write')))
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
   * Nobody waits for its statement any more, but Postgres may be at it still, and hold locks: it is told so. Until it is
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
      // pg would hang up at once, and we would not hear when Postgres is through.
      (this.connection as unknown as { end(): void }).end();
      return callback === undefined ? Promise.resolve() : process.nextTick(callback);
    }
    const late = setTimeout(() => this.drop(), GOODBYE_MS).unref();
    this.once('end', () => clearTimeout(late));
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** A query of its own kind is told by its callback how it ended. */
function hearCallback(query: string | { callback?: unknown } | undefined, hear: (error: unknown) => void): void {
  if (typeof query !== 'object' || typeof query.callback !== 'function') return;
  const told = query.callback as (...answer: unknown[]) => void;
  query.callback = (error: unknown, ...rest: unknown[]) => {
    hear(error);
    told(error, ...rest);
  };
}
