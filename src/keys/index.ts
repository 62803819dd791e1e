/**
 * The key ring: what we sign with, and what others encrypt to. It owns making (rotation), loading, publishing and
 * choosing keys; what is signed is the tokens' affair. A key's state follows from its times: `next` until it activates,
 * `active` until another of its algorithm does, then `retired`, and still good while what it signed may live.
 */
import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { KEY_ALGS, useOf, type DecryptionAlg, type KeyAlg } from '../protocol/key-alg.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { Db } from '../store/postgres/db.ts';
import * as store from '../store/keys.ts';
import { loadSalt, pseudonymOf, type LoadedSalt } from './pairwise.ts';
import type { Secrets } from './secrets.ts';
import { createSigner, type Signer } from './sign.ts';
import { isValid, isPublished, nextChange, place, signerOf, stateOf, type PlacedKey } from './state.ts';

export { keepKeys } from './schedule.ts';
export { ensureKeys, makeKey, retireKey, rotateKey, unreadableKeys, type MadeKey } from './rotation.ts';
export { isSaltReadable } from './pairwise.ts';
export { JWKS_MAX_AGE, keyStates } from './state.ts';

interface SigningKey {
  kid: string;
  alg: SigningAlg;
  private_key: KeyObject;
}

export interface PublishedKey {
  kid: string;
  alg: SigningAlg;
  public_key: KeyObject;
}

interface DecryptionKey {
  kid: string;
  alg: DecryptionAlg;
  private_key: KeyObject;
}

interface LoadedKey extends PlacedKey {
  public_key: KeyObject;
  /** Null when it was erased, or sealed under a key that this process does not have. */
  private_key: KeyObject | null;
}

/** What follows from the keys as they are, from one change of their states to the next. */
interface Derived {
  of: readonly LoadedKey[];
  since: Date;
  until: Date | undefined;
  signers: Map<string, { key: SigningKey; sign: Signer }>;
  jwks?: { body: Buffer; etag: string };
}

export interface KeyRing {
  /**
   * The key that signs `alg` now. While the first of an algorithm is not known everywhere, that of `meanwhile` signs,
   * where the reader takes either. @throws when there is none
   */
  active(alg: SigningAlg, now: Date, options?: { meanwhile?: SigningAlg }): SigningKey;
  /** Is there a key that `sign` would use for `alg`? */
  canSign(alg: SigningAlg, now: Date): boolean;
  /** A JWT of these claims by the key that `active` would say; `alg` is then also its header's. @throws when there is none */
  sign(
    claims: object,
    header: { typ?: string; alg: SigningAlg },
    now: Date,
    options?: { meanwhile?: SigningAlg },
  ): Promise<string>;
  /**
   * A published signing key by its id; with `retired`, also one that is out of publication (logout hints). An id never
   * seen may be that of a key another process has just made: then the keys are read again, once a second at most.
   */
  find(kid: string, now: Date, options?: { retired?: boolean }): Promise<PublishedKey | undefined>;
  /**
   * The private keys that may open a JWE with this header: the one it names, else all of its algorithm, newest first.
   * An older key opens for a day after another took its place, since our JWKS may have been kept. None: [].
   */
  decryption(header: { kid?: string | undefined; alg: string }, now: Date): Promise<DecryptionKey[]>;
  /** The JWKS document: public parts only, serialised, with a strong ETag. */
  jwks(now: Date): { body: Buffer; etag: string };
  /** What a person, or a session, is called towards a sector. @throws when there is no salt that opens */
  pseudonym(kind: 'sub' | 'sid', sector: string, value: string): string;
  /**
   * Reads the keys again. The first time each has to open; later one that does not is left unused, so that the others
   * are up to date: a server with other SECRET_KEYS may have made it. @returns the ids of those
   */
  reload(): Promise<{ unreadable: string[] }>;
  /** The keys in use now, and for how many seconds each has been. */
  ages(now: Date): Array<{ alg: KeyAlg; use: 'sig' | 'enc'; seconds: number }>;
  readonly ready: boolean;
}

/** Seconds between two reloads because of an unknown key id: anybody can make one up. */
const RELOAD_AGAIN_AFTER = 1;

/** Loads the ring from the database and keeps it there: no request waits for the store, but for ids never seen. */
export function createKeyRing(db: Db, secrets: Secrets): KeyRing {
  /** Every key there ever was. Immutable: a reload makes a new one. */
  let loaded: readonly LoadedKey[] = [];
  let salt: LoadedSalt | undefined;
  let turn = { started: 0, applied: 0 };
  let lastReload: { at: Date; done: Promise<unknown> } | undefined;
  const imported = new Map<string, Pick<LoadedKey, 'private_key' | 'public_key'>>();
  let derived: Derived | undefined;

  function load({ kid, public_jwk, sealed_private_key, retired_at }: store.KeyRow, strict: boolean) {
    const before = imported.get(kid);
    // Of one that is retired the private half is never used again, so whether it opens does not matter.
    const opens = sealed_private_key !== null && retired_at === null;
    if (before && opens === (before.private_key !== null)) return before;
    const keys = {
      public_key: before?.public_key ?? createPublicKey({ key: public_jwk, format: 'jwk' }),
      private_key: opens ? openPrivate(kid, sealed_private_key, strict) : null,
    };
    imported.set(kid, keys);
    return keys;
  }

  function openPrivate(kid: string, sealed: Buffer, strict: boolean): KeyObject | null {
    try {
      const key = JSON.parse(secrets.open(sealed, kid).toString()) as JsonWebKey;
      return createPrivateKey({ key, format: 'jwk' });
    } catch (error) {
      if (strict) throw error;
      return null;
    }
  }

  async function reload(): Promise<{ unreadable: string[] }> {
    const mine = (turn = { ...turn, started: turn.started + 1 }).started;
    const rows = await store.all(db);
    const strict = loaded.length === 0;
    const saltNow = await loadSalt(db, secrets, salt);
    const keys = place(rows).map((key): LoadedKey => ({ ...key, ...load(key.row, strict) }));
    // One that began later has seen more.
    if (mine > turn.applied) {
      turn = { ...turn, applied: mine };
      loaded = keys;
      salt = saltNow;
      const present = new Set(rows.map(({ kid }) => kid));
      for (const kid of imported.keys()) if (!present.has(kid)) imported.delete(kid);
    }
    const isUnreadable = ({ row, private_key }: LoadedKey): boolean =>
      private_key === null && row.sealed_private_key !== null && row.retired_at === null;
    return { unreadable: keys.filter(isUnreadable).map(({ row }) => row.kid) };
  }

  async function byKid(kid: string, now: Date): Promise<LoadedKey | undefined> {
    const known = (): LoadedKey | undefined => loaded.find(({ row }) => row.kid === kid);
    if (!known()) {
      if (!lastReload || secondsAfter(lastReload.at, RELOAD_AGAIN_AFTER) <= now) {
        lastReload = { at: now, done: reload() };
      }
      await lastReload.done;
    }
    return known();
  }

  function derivedAt(now: Date): Derived {
    const holds =
      derived !== undefined &&
      derived.of === loaded &&
      derived.since <= now &&
      (derived.until === undefined || now < derived.until);
    if (!holds) derived = { of: loaded, since: now, until: nextChange(loaded, now), signers: new Map() };
    return derived!;
  }

  function chooseSigner(alg: SigningAlg, meanwhile: SigningAlg, now: Date): SigningKey {
    const able = loaded.filter(({ private_key }) => private_key !== null);
    const [key, other] = [signerOf(able, alg, now), signerOf(able, meanwhile, now)];
    const signer = key && stateOf(key, now) === 'active' ? key : (other ?? key);
    if (!signer?.private_key) throw new Error(`there is no active ${alg} key`);
    const { kid } = signer.row;
    return { kid, alg: signer.row.alg as SigningAlg, private_key: signer.private_key };
  }

  function signerAt(now: Date, alg: SigningAlg, meanwhile: SigningAlg): { key: SigningKey; sign: Signer } {
    const { signers } = derivedAt(now);
    const name = alg === meanwhile ? alg : `${alg} ${meanwhile}`;
    let signer = signers.get(name);
    if (!signer) {
      const key = chooseSigner(alg, meanwhile, now);
      signers.set(name, (signer = { key, sign: createSigner(key) }));
    }
    return signer;
  }

  function makeJwks(now: Date): { body: Buffer; etag: string } {
    const shown = loaded.filter((key) => isPublished(key, now)).toSorted((a, b) => rank(a, now) - rank(b, now));
    const keys = shown.map(({ row: { kid, alg, public_jwk } }) => ({ ...public_jwk, kid, alg, use: useOf(alg) }));
    const body = Buffer.from(JSON.stringify({ keys }));
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
  }

  return {
    reload,
    get ready() {
      return loaded.length > 0;
    },
    active: (alg, now, { meanwhile = alg } = {}) => signerAt(now, alg, meanwhile).key,
    canSign(alg, now) {
      try {
        return signerAt(now, alg, alg) !== undefined;
      } catch {
        return false;
      }
    },
    sign: async (claims, { typ, alg }, now, { meanwhile = alg } = {}) =>
      signerAt(now, alg, meanwhile).sign(claims, typ),
    async find(kid, now, { retired = false } = {}) {
      const key = await byKid(kid, now);
      if (!key || key.row.retired_at !== null || useOf(key.row.alg) !== 'sig') return undefined;
      if (!retired && !isPublished(key, now)) return undefined;
      return { kid, alg: key.row.alg as SigningAlg, public_key: key.public_key };
    },
    async decryption({ kid, alg }, now) {
      const named = kid === undefined ? loaded : [await byKid(kid, now)];
      return named.toReversed().flatMap((key) => {
        if (!key?.private_key || key.row.alg !== alg || useOf(key.row.alg) !== 'enc' || !isValid(key, now)) return [];
        return [{ kid: key.row.kid, alg: key.row.alg as DecryptionAlg, private_key: key.private_key }];
      });
    },
    pseudonym(kind, sector, value) {
      if (!salt) throw new Error('there is no salt for pairwise subjects that SECRET_KEYS opens');
      return pseudonymOf(salt, kind, sector, value);
    },
    jwks: (now) => (derivedAt(now).jwks ??= makeJwks(now)),
    ages: (now) =>
      loaded
        .filter((key) => stateOf(key, now) === 'active')
        .map(({ row: { alg, activates_at } }) => ({ alg, use: useOf(alg), seconds: secondsUntil(now, activates_at) })),
  };
}

const ORDER = ['active', 'next', 'retired'];
/**
 * For those who take the first that seems to fit: signing keys first, RS256 before all, and what is in use before the
 * rest.
 */
const rank = (key: PlacedKey, now: Date): number =>
  KEY_ALGS.indexOf(key.row.alg) * ORDER.length + ORDER.indexOf(stateOf(key, now));
