/**
 * What waits in vain for somebody's lock is asked by one at a time: a table that is locked (a migration by hand, `vacuum full`)
 * would otherwise hold every connection, and so whoever needs nothing of it.
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

/** Statements by their text, of which each may have a closed door. */
export class Gate {
  /** Those that waited in vain, and whether somebody is trying now. */
  readonly #closed = new Map<string, boolean>();
  readonly #most: number;
  #trying = 0;
  readonly #look: () => Promise<boolean>;
  #looking: Promise<boolean> | undefined;

  /** `look` says whether there is a locked table at all. */
  constructor(connections: number, look: () => Promise<boolean>) {
    this.#most = Math.max(1, Math.floor(connections / CONNECTIONS));
    this.#look = look;
  }

  /** How many doors are closed. */
  get closed(): number {
    return this.#closed.size;
  }

  /** Asks, unless others have waited in vain and one is trying. @throws as a lock that is not to be had */
  through<T>(text: string, ask: () => Promise<T>): Promise<T> {
    const tries = this.#closed.size > 0 && this.#closed.has(text);
    if (tries) {
      if (this.#closed.get(text) === true || this.#trying >= this.#most) return Promise.reject(locked());
      this.#closed.set(text, true);
      this.#trying += 1;
    }
    const asked = ask();
    asked.then(
      () => tries && this.#tried(text, false),
      (error: { code?: unknown }) => {
        if (tries) this.#tried(text, error.code === LOCK_TIMEOUT);
        else if (error.code === LOCK_TIMEOUT && !this.#closed.has(text)) void this.#suspect(text);
      },
    );
    return asked;
  }

  async #suspect(text: string): Promise<void> {
    this.#looking ??= this.#look().catch(() => false);
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

const locked = (): Error =>
  noConnection(Object.assign(new Error('others wait for a lock that is not to be had'), { code: LOCK_TIMEOUT }));
