/** The cache of clients, scopes and resources: every request needs them and few change them, so they are kept for seconds. */
import { LRUCache } from 'lru-cache';
import { isClientId } from '../protocol/client.ts';
import * as authorizationTypes from '../store/authorization-types.ts';
import type { Db } from '../store/postgres/db.ts';
import * as clients from '../store/clients.ts';
import { NOTICED_WITHIN } from '../store/postgres/noticed.ts';
import * as resources from '../store/resources.ts';
import * as scopes from '../store/scopes.ts';
import * as themes from '../store/themes.ts';

/**
 * Answers are at most as old as `NOTICED_WITHIN` says. A disabled client is not found here, so that no caller can forget to
 * check.
 */
export interface Directory {
  client(client_id: string): Promise<clients.Client | undefined>;
  /** Is such a client in the cache? For callers that cannot wait for a read, and decide nothing by it. */
  knows(client_id: string): boolean;
  scopes(): Promise<ReadonlyMap<string, scopes.KnownScope>>;
  resources(): Promise<ReadonlyMap<string, resources.KnownResource>>;
  /** Types of authorization details (RFC 9396), by name. */
  types(): Promise<ReadonlyMap<string, authorizationTypes.AuthorizationType>>;
  /** How pages look, by client; of the server's own by null. Where it cannot be read, as it was: a page is there all the same. */
  themes(): Promise<Themes>;
  /** Forgets everything, after a write in this process for example. */
  clear(): void;
}

/** Themes by the client whose pages they are of, and the server's own by null. */
export type Themes = ReadonlyMap<string | null, themes.Theme>;

const TTL_MS = NOTICED_WITHIN.clients * 1000;
const MISS_TTL_MS = NOTICED_WITHIN.missing * 1000;
const MISS = Symbol('no such client, or a disabled one');
const MAX_CLIENTS = 10_000;
/** Characters of all cached clients: a client that registers itself chooses how long its metadata is. */
const MAX_SIZE = 64 * 1024 * 1024;

/** A directory over the database, and over resources that are the server's own. `now` is in milliseconds, monotonic. */
export function createDirectory(db: Db, now: () => number, own: readonly resources.Resource[] = []): Directory {
  let caches = createCaches(db, now, own);
  let shown: Themes = new Map();
  let quiet_until = -Infinity;
  return {
    async client(client_id) {
      // A name no client can have is answered without a read: callers choose it.
      if (!isClientId(client_id)) return undefined;
      const client = caches.clients.get(client_id) ?? (await caches.clients.fetch(client_id));
      return client === MISS ? undefined : client;
    },
    knows(client_id) {
      const client = caches.clients.peek(client_id);
      return client !== undefined && client !== MISS;
    },
    scopes: () => caches.scopes(),
    resources: () => caches.resources(),
    types: () => caches.types(),
    async themes() {
      // A database that is away is asked once in a while, and not once for each page that says so.
      if (now() < quiet_until) return shown;
      try {
        shown = await caches.themes();
      } catch {
        quiet_until = now() + TTL_MS;
      }
      return shown;
    },
    clear() {
      // Replaced, not emptied: that would fail callers who wait for a read of the old caches.
      caches = createCaches(db, now, own);
    },
  };
}

interface Caches {
  clients: LRUCache<string, clients.Client | typeof MISS>;
  scopes: () => Promise<Map<string, scopes.KnownScope>>;
  resources: () => Promise<Map<string, resources.KnownResource>>;
  themes: () => Promise<Themes>;
  types: () => Promise<Map<string, authorizationTypes.AuthorizationType>>;
}

/** Caches a whole table: it is read when it is too old, once for all callers meanwhile. */
function table<T>(now: () => number, load: () => Promise<T>): () => Promise<T> {
  let cached: { read: Promise<T>; until: number } | undefined;
  return () => {
    if (cached && now() < cached.until) return cached.read;
    const mine = { read: load(), until: now() + TTL_MS };
    cached = mine;
    // After a failed read the next caller tries again.
    mine.read.catch(() => {
      if (cached === mine) cached = undefined;
    });
    return mine.read;
  };
}

function createCaches(db: Db, now: () => number, own: readonly resources.Resource[]): Caches {
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
    types: table(now, async () => new Map((await authorizationTypes.all(db)).map((type) => [type.name, type]))),
    themes: table(now, async () => new Map((await themes.all(db)).map((theme) => [theme.client_id, theme]))),
    resources: table(
      now,
      async () => new Map([...(await resources.all(db)), ...own].map((row) => [row.resource, row])),
    ),
  };
}
