/**
 * The gate before locked tables: once a statement has waited in vain for a lock, one request at a time tries it again. A table
 * that is locked for long (a migration by hand, `vacuum full`) would otherwise occupy every connection.
 */
import { noConnection } from './unavailable.ts';

const LOCK_TIMEOUT = '55P03';
/** Of so many connections one may try at a time whether a lock is gone. */
const CONNECTIONS = 4;

/**
 * Has somebody locked a table of this database, so that it cannot be written to, or read? A row that is locked is the
 * business of those who need that row.
 */
export const LOCKED_TABLE = `
  select from pg_locks
  where locktype = 'relation' and granted and pid <> pg_backend_pid()
    and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    and database = (select oid from pg_database where datname = current_database())
  limit 1`;

/** Holds back statements, by their text, that wait for a locked table. */
export class Gate {
  /** The statements that waited in vain, and whether one request is trying now. */
  readonly #closed = new Map<string, boolean>();
  readonly #most: number;
  #trying = 0;
  readonly #hasLockedTable: () => Promise<boolean>;
  #looking: Promise<boolean> | undefined;

  /** `hasLockedTable` says whether there is a locked table at all. */
  constructor(connections: number, hasLockedTable: () => Promise<boolean>) {
    this.#most = Math.max(1, Math.floor(connections / CONNECTIONS));
    this.#hasLockedTable = hasLockedTable;
  }

  /** How many doors are closed. */
  get closed(): number {
    return this.#closed.size;
  }

  /**
   * Asks, unless others have waited in vain and one is trying. Whoever asks says so when it `failed`.
   * @throws as a lock that is not to be had
   */
  through<T>(text: string, ask: () => Promise<T>): Promise<T> {
    if (this.#closed.size === 0 || !this.#closed.has(text)) return ask();
    if (this.#closed.get(text) === true || this.#trying >= this.#most) return Promise.reject(locked());
    this.#closed.set(text, true);
    this.#trying += 1;
    const answer = ask();
    answer.then(
      () => this.#tried(text, false),
      (error: unknown) => this.#tried(text, wasLocked(error)),
    );
    return answer;
  }

  /** Looks, where a lock was waited for in vain, whether it is a table's. */
  failed(text: string, error: unknown): void {
    if (wasLocked(error) && !this.#closed.has(text)) void this.#suspect(text);
  }

  async #suspect(text: string): Promise<void> {
    this.#looking ??= this.#hasLockedTable().catch(() => false);
    const isLocked = await this.#looking;
    this.#looking = undefined;
    if (isLocked && !this.#closed.has(text)) this.#closed.set(text, false);
  }

  #tried(text: string, inVain: boolean): void {
    this.#trying -= 1;
    if (inVain) this.#closed.set(text, false);
    else this.#closed.delete(text);
  }
}

const wasLocked = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === LOCK_TIMEOUT;

const locked = (): Error =>
  noConnection(Object.assign(new Error('others wait for a lock that is not to be had'), { code: LOCK_TIMEOUT }));
