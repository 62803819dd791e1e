/**
 * The key ring: what we sign with. It owns making (rotation), loading, publishing and choosing keys; what is signed is the tokens'
 * affair. A key's state follows from its times: `next` until it activates, `active` until another of its algorithm does,
 * then `retired`, still published while tokens it signed may live.
 */
import { createHash } from 'node:crypto';
import { importJWK, type CryptoKey, type JWK, type KeyObject } from 'jose';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { Db } from '../store/db.ts';
import * as store from '../store/keys.ts';
import type { Secrets } from './secrets.ts';
import { isPublished } from './state.ts';

export { ensureKeys, JWKS_MAX_AGE, retireKey, rotateKey, unreadableKeys, type Retirement } from './rotation.ts';
export { keyStates, type KeyState } from './state.ts';

type Key = CryptoKey | KeyObject | Uint8Array;

export interface SigningKey {
  kid: string;
  alg: SigningAlg;
  private_key: Key;
}

export interface PublishedKey {
  kid: string;
  alg: SigningAlg;
  public_key: Key;
}

/** The ring as loaded at one moment. Immutable: a reload makes a new one. */
interface Loaded {
  /** Every key there ever was: the state of one depends on those after it. */
  rows: readonly store.SigningKeyRow[];
  /** Those that are not retired. */
  entries: ReadonlyArray<{ row: store.SigningKeyRow; private_key: Key; public_key: Key }>;
}

export interface KeyRing {
  /** The key that signs `alg` now. @throws when there is none */
  active(alg: SigningAlg, now: Date): SigningKey;
  /** A published key by its id; with `retired`, also one that is out of publication (logout hints). */
  find(kid: string, now: Date, options?: { retired?: boolean }): PublishedKey | undefined;
  /** The JWKS document: public parts only, serialised, with a strong ETag. */
  jwks(now: Date): { body: string; etag: string };
  /** Reads the keys again. */
  reload(): Promise<void>;
  readonly ready: boolean;
}

/** Loads the ring from the database and keeps it there: no request waits for the store. */
export function createKeyRing(db: Db, secrets: Secrets): KeyRing {
  let loaded: Loaded = { rows: [], entries: [] };
  const imported = new Map<string, { private_key: Key; public_key: Key }>();
  let published: { kids: string; document: { body: string; etag: string } } | undefined;

  return {
    get ready() {
      return loaded.entries.length > 0;
    },
    active(alg, now) {
      const entry = loaded.entries.findLast(({ row }) => row.alg === alg && row.activates_at <= now);
      if (!entry) throw new Error(`there is no active ${alg} key`);
      return { kid: entry.row.kid, alg, private_key: entry.private_key };
    },
    find(kid, now, { retired = false } = {}) {
      const entry = loaded.entries.find(({ row }) => row.kid === kid);
      if (!entry || !(retired || isPublished(entry.row, loaded.rows, now))) return undefined;
      return { kid, alg: entry.row.alg, public_key: entry.public_key };
    },
    jwks(now) {
      const shown = loaded.rows.filter((row) => isPublished(row, loaded.rows, now));
      const kids = shown.map(({ kid }) => kid).join(' ');
      if (published?.kids !== kids) {
        const keys = shown.map(({ kid, alg, public_jwk }) => ({ ...public_jwk, kid, alg, use: 'sig' }));
        const body = JSON.stringify({ keys });
        published = { kids, document: { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` } };
      }
      return published.document;
    },
    async reload() {
      const rows = await store.all(db);
      const entries = [];
      for (const row of rows) {
        // Never used again, so a SECRET_KEYS that cannot open it any more is no obstacle.
        if (row.retired_at !== null) continue;
        let keys = imported.get(row.kid);
        if (!keys) {
          const private_jwk = JSON.parse(secrets.open(row.sealed_private_key, row.kid).toString()) as JWK;
          keys = {
            private_key: await importJWK(private_jwk, row.alg),
            public_key: await importJWK(row.public_jwk as JWK, row.alg),
          };
          imported.set(row.kid, keys);
        }
        entries.push({ row, ...keys });
      }
      loaded = { rows, entries };
    },
  };
}
