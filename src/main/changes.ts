/** Forgets what is kept in this process when another one, or a command, has changed it, and sets to work what waits for it. */
import type { Deps } from '../deps.ts';
import { listenForChanges, type Changed } from '../store/postgres/changes.ts';
import type { Connection } from '../store/postgres/db.ts';

/** Milliseconds in which changes are gathered: whoever registers clients one after the other empties no cache each time. */
const GATHER_MS = 50;

type Needs = Pick<Deps, 'directory' | 'keys' | 'log'>;

const forget = {
  clients: ({ directory }) => directory.clear(),
  scopes: ({ directory }) => directory.clear(),
  resources: ({ directory }) => directory.clear(),
  keys: ({ keys }) => keys.reload(),
  // There are some to be sent: nothing of them is kept.
  mails: () => undefined,
  user_imports: () => undefined,
  everything: ({ directory, keys }) => {
    directory.clear();
    return keys.reload();
  },
} as const satisfies Record<Changed, (deps: Needs) => unknown>;

/** Begins; the returned function ends it, and waits for what it is doing. `then` is told what was forgotten. */
export function followChanges(
  deps: Needs,
  connection: Connection,
  then: (what: Changed) => void = () => {},
): () => Promise<void> {
  const gathered = new Set<Changed>();
  let timer: NodeJS.Timeout | undefined;
  let acting = Promise.resolve();
  const act = async (): Promise<void> => {
    const all = [...gathered];
    gathered.clear();
    // A newer version may speak of what this one does not keep.
    for (const what of all) {
      await forget[what]?.(deps);
      then(what);
    }
  };
  const stop = listenForChanges(connection, (what) => {
    if (gathered.size === 0) {
      const failed = (error: unknown): void => deps.log.warn({ err: error }, 'changes are noticed later than usual');
      timer = setTimeout(() => {
        acting = acting.then(act).catch(failed);
      }, GATHER_MS).unref();
    }
    gathered.add(what);
  });
  return async () => {
    await stop();
    clearTimeout(timer);
    await acting;
  };
}
