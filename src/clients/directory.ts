/**
 * What every request asks for and few change: clients, scopes and resources, kept for seconds so that a request reads
 * none.
 */
import { LRUCache } from 'lru-cache';
import { isClientId } from '../protocol/client-metadata.ts';
import type { Db } from '../store/db.ts';
import * as clients from '../store/clients.ts';
import * as resources from '../store/resources.ts';
import * as scopes from '../store/scopes.ts';

export type { Client } from '../store/clients.ts';

/**
 * What is asked for here is at most ten seconds old, a client that there was not two. A client that is disabled is not
 * there, for anybody: who asks cannot forget to look.
 */
export interface Directory {
  client(client_id: string): Promise<clients.Client | undefined>;
  /** Was there such a client when it was last asked for, a moment ago? For what cannot wait, and decides nothing. */
  knows(client_id: string): boolean;
  scopes(): Promise<ReadonlyMap<string, scopes.KnownScope>>;
  resources(): Promise<ReadonlyMap<string, resources.KnownResource>>;
  /** Forgets everything: after a write in this process. */
  clear(): void;
}

const TTL_MS = 10_000;
const MISS_TTL_MS = 2_000;
const MISS = Symbol('no such client, or a disabled one');
const MAX_CLIENTS = 10_000;
/** Characters of all that are kept: who registers itself chooses how long its metadata is. */
const MAX_SIZE = 64 * 1024 * 1024;

/** A directory over the database, and over resources that are the server's own. `now` is in milliseconds, monotonic. */
export function createDirectory(db: Db, now: () => number, own: readonly resources.Resource[] = []): Directory {
  let kept = keep(db, now, own);
  return {
    async client(client_id) {
      // A name no client can have is answered without a read: callers choose it.
      if (!isClientId(client_id)) return undefined;
      const client = kept.clients.get(client_id) ?? (await kept.clients.fetch(client_id));
      return client === MISS ? undefined : client;
    },
    knows(client_id) {
      const client = kept.clients.peek(client_id);
      return client !== undefined && client !== MISS;
    },
    scopes: () => kept.scopes(),
    resources: () => kept.resources(),
    clear() {
      // Not emptied: that would fail whoever is waiting for a read. What they read stays with the old ones.
      kept = keep(db, now, own);
    },
  };
}

interface Kept {
  clients: LRUCache<string, clients.Client | typeof MISS>;
  scopes: () => Promise<Map<string, scopes.KnownScope>>;
  resources: () => Promise<Map<string, resources.KnownResource>>;
}

/** A table that is kept whole: read when it is asked for and too old, once for all who ask meanwhile. */
function table<T>(now: () => number, load: () => Promise<T>): () => Promise<T> {
  let kept: { read: Promise<T>; until: number } | undefined;
  return () => {
    if (kept && now() < kept.until) return kept.read;
    const mine = { read: load(), until: now() + TTL_MS };
    kept = mine;
    // Whoever asks next tries again.
    mine.read.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return mine.read;
  };
}

function keep(db: Db, now: () => number, own: readonly resources.Resource[]): Kept {
  return {
    clients: new LRUCache({
      max: MAX_CLIENTS,
      maxSize: MAX_SIZE,
      sizeCalculation: (client) => (client === MISS ? 1 : JSON.stringify(client).length),
      perf: { now },
      ttl: TTL_MS,
      ttlResolution: 0,
      // Many requests for a client that is not cached yet are one read.
      fetchMethod: async (client_id, _stale, { options }) => {
        const client = await clients.find(db, client_id);
        const enabled = client?.disabled_at === null ? client : undefined;
        if (enabled === undefined) options.ttl = MISS_TTL_MS;
        return enabled ?? MISS;
      },
    }),
    scopes: table(now, async () => new Map((await scopes.all(db)).map((scope) => [scope.name, scope]))),
    resources: table(
      now,
      async () => new Map([...(await resources.all(db)), ...own].map((row) => [row.resource, row])),
    ),
  };
}
