/**
 * The key ring: what we sign with. It owns making, loading, publishing and choosing keys; what is signed is the tokens'
 * affair. A key's state follows from its times: `next` until it activates, `active` until another of its algorithm does,
 * then `retired`, still published while tokens it signed may live.
 */
import {
  exportJWK,
  generateKeyPair,
  calculateJwkThumbprint,
  importJWK,
  type CryptoKey,
  type JWK,
  type KeyObject,
} from 'jose';
import { createHash } from 'node:crypto';
import { MAX_TOKEN_TTL } from '../protocol/client-metadata.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import * as store from '../store/keys.ts';
import { transact, type Db } from '../store/db.ts';
import type { Secrets } from './secrets.ts';

/** Seconds that others may keep our JWKS. */
export const JWKS_MAX_AGE = 300;
/** Seconds between publishing a key and signing with it: every cache and every process has it by then. */
const PUBLISH_BEFORE_USE = JWKS_MAX_AGE + 60;
/** Seconds a key stays published after another took over. */
const PUBLISH_AFTER_USE = MAX_TOKEN_TTL + 60;

type Key = CryptoKey | KeyObject | Uint8Array;
export type KeyState = 'next' | 'active' | 'retired';

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
  let loaded: Loaded = { entries: [] };
  const imported = new Map<string, { private_key: Key; public_key: Key }>();
  let published: { kids: string; document: { body: string; etag: string } } | undefined;

  return {
    get ready() {
      return loaded.entries.length > 0;
    },
    active(alg, now) {
      const entry = loaded.entries.findLast(
        ({ row }) => row.alg === alg && row.retired_at === null && row.activates_at <= now,
      );
      if (!entry) throw new Error(`there is no active ${alg} key`);
      return { kid: entry.row.kid, alg, private_key: entry.private_key };
    },
    find(kid, now, { retired = false } = {}) {
      const entry = loaded.entries.find(({ row }) => row.kid === kid);
      if (!entry || entry.row.retired_at !== null) return undefined;
      if (
        !retired &&
        !isPublished(
          entry.row,
          loaded.entries.map(({ row }) => row),
          now,
        )
      )
        return undefined;
      return { kid, alg: entry.row.alg, public_key: entry.public_key };
    },
    jwks(now) {
      const rows = loaded.entries.map(({ row }) => row);
      const shown = rows.filter((row) => isPublished(row, rows, now));
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
      loaded = { entries };
    },
  };
}

function isPublished(row: store.SigningKeyRow, all: readonly store.SigningKeyRow[], now: Date): boolean {
  if (row.retired_at !== null) return false;
  const successor = successorOf(row, all);
  return successor === undefined || now < secondsAfter(successor.activates_at, PUBLISH_AFTER_USE);
}

const successorOf = (row: store.SigningKeyRow, all: readonly store.SigningKeyRow[]): store.SigningKeyRow | undefined =>
  all.find((other) => other.alg === row.alg && other.retired_at === null && other.activates_at > row.activates_at);

/** The state of each key, as `keys list` shows it. */
export function keyStates(
  rows: readonly store.SigningKeyRow[],
  now: Date,
): Array<{ kid: string; alg: SigningAlg; state: KeyState; published: boolean; created_at: Date; activates_at: Date }> {
  return rows.map((row) => {
    const { kid, alg, created_at, activates_at } = row;
    const successor = successorOf(row, rows);
    const superseded = successor !== undefined && successor.activates_at <= now;
    const state = row.retired_at !== null || superseded ? 'retired' : activates_at > now ? 'next' : 'active';
    return { kid, alg, state, published: isPublished(row, rows, now), created_at, activates_at };
  });
}

/** Makes the first key of every algorithm that has none. Exactly once, however many processes start together. */
export async function ensureKeys(db: Db, secrets: Secrets, algs: readonly SigningAlg[], now: Date): Promise<void> {
  const has = (rows: readonly store.SigningKeyRow[], alg: SigningAlg): boolean =>
    rows.some((row) => row.alg === alg && row.retired_at === null);
  const present = await store.all(db);
  const missing = algs.filter((alg) => !has(present, alg));
  if (missing.length === 0) return;
  // Outside the transaction: an RSA key takes a while. Whoever comes second throws its own away.
  const made = await Promise.all(missing.map((alg) => makeKey(secrets, alg, now)));
  await transact(db, async (trx) => {
    await store.lock(trx);
    const rows = await store.all(trx);
    for (const key of made) if (!has(rows, key.alg)) await store.insert(trx, { ...key, activates_at: now });
  });
}

/**
 * Makes a new key that is published now and signs once every cache can have it; the present one signs until then.
 * With `immediately` it signs at once: for a key that has to go.
 */
export async function rotateKey(
  db: Db,
  secrets: Secrets,
  alg: SigningAlg,
  now: Date,
  { immediately = false }: { immediately?: boolean } = {},
): Promise<{ kid: string; activates_at: Date }> {
  const key = await makeKey(secrets, alg, now);
  const activates_at = immediately ? now : secondsAfter(now, PUBLISH_BEFORE_USE);
  await transact(db, async (trx) => {
    await store.lock(trx);
    await store.insert(trx, { ...key, activates_at });
  });
  return { kid: key.kid, activates_at };
}

async function makeKey(
  secrets: Secrets,
  alg: SigningAlg,
  now: Date,
): Promise<Omit<store.SigningKeyRow, 'retired_at' | 'activates_at'>> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
  const public_jwk = await exportJWK(publicKey);
  // RFC 7638, so that a kid names exactly this key.
  const kid = await calculateJwkThumbprint(public_jwk);
  const sealed_private_key = secrets.seal(Buffer.from(JSON.stringify(await exportJWK(privateKey))), kid);
  return { kid, alg, public_jwk, sealed_private_key, created_at: now };
}
