/** Making keys, replacing them and taking them out of use: one writer at a time, each change with its audit event. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { changeOf } from '../events/change.ts';
import { record, type Actor } from '../events/index.ts';
import type { KeyAlg } from '../protocol/key-alg.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { transact, type Db, type Trx } from '../store/postgres/db.ts';
import { isPasteable } from '../protocol/handle.ts';
import * as store from '../store/keys.ts';
import { ensureSalt } from './pairwise.ts';
import type { Secrets } from './secrets.ts';
import { place, PUBLISH_BEFORE_USE, signerOf, stateOf } from './state.ts';

/**
 * Makes the salt of pseudonyms and the first key of every algorithm that has none, and keeps those that were to end.
 * Exactly once, however many processes start together.
 */
export async function ensureKeys(db: Db, secrets: Secrets, algs: readonly KeyAlg[], now: Date): Promise<void> {
  await ensureSalt(db, secrets);
  const living = (rows: readonly store.KeyRow[]): store.KeyRow[] =>
    place(rows)
      .filter((key) => stateOf(key, now) !== 'retired')
      .map(({ row }) => row);
  const has = (rows: readonly store.KeyRow[], alg: KeyAlg): boolean => living(rows).some((row) => row.alg === alg);
  const endsSoon = (rows: readonly store.KeyRow[]): string[] =>
    living(rows)
      .filter(({ alg, withdrawn_at }) => withdrawn_at !== null && algs.includes(alg))
      .map(({ kid }) => kid);
  const present = await store.all(db);
  const missing = algs.filter((alg) => !has(present, alg));
  if (missing.length === 0 && endsSoon(present).length === 0) return;
  // Outside the transaction: an RSA key takes a while. Whoever comes second throws its own away.
  const made = await Promise.all(missing.map((alg) => makeKey(secrets, alg, now)));
  await transact(db, async (trx) => {
    await store.lock(trx);
    const rows = await store.all(trx);
    // Where there are others, somebody may have a JWKS without the new ones.
    const activates_at = rows.length === 0 ? now : secondsAfter(now, PUBLISH_BEFORE_USE);
    for (const key of made) if (!has(rows, key.alg)) await store.insert(trx, { ...key, activates_at });
    const again = endsSoon(rows);
    if (again.length > 0) await store.withdraw(trx, again, null);
  });
}

/**
 * Adds a key that was made before: it is published now and used once every cache can have it; the present one is used until
 * then. With `immediately` it is used at once: for a key that has to go.
 */
export async function rotateKey(
  trx: Trx,
  { alg, ...key }: MadeKey,
  by: Actor,
  now: Date,
  { immediately = false } = {},
): Promise<{ kid: string; activates_at: Date }> {
  await store.lock(trx);
  // Where nothing signs yet, there is nobody to wait for.
  const signs = signerOf(place(await store.all(trx)), alg, now) !== undefined;
  const activates_at = immediately || !signs ? now : secondsAfter(now, PUBLISH_BEFORE_USE);
  await store.insert(trx, { ...key, alg, activates_at });
  const detail = { kid: key.kid, alg, ...changeOf(undefined, { activates_at }) };
  await record(trx, { event: 'key_rotated', detail }, by, now);
  return { kid: key.kid, activates_at };
}

/** The outcome of retiring a key. */
export interface Retirement {
  kid: string;
  alg: KeyAlg;
  /** The new key that is used from now on; null when the retired one was not in use. */
  replacement: string | null;
}

/**
 * Takes a key out of use at once: what it signed is refused from then on, and what was encrypted to it is not opened.
 * If it is the one in use, `spare` is used instead at once: a key of the same algorithm, made before, since an RSA key takes
 * a while and whether it is needed is only known here. Undefined when there is no such key, or it was retired before.
 */
export async function retireKey(
  trx: Trx,
  kid: string,
  spare: MadeKey,
  by: Actor,
  now: Date,
): Promise<Retirement | undefined> {
  const { alg } = spare;
  await store.lock(trx);
  const inUse = signerOf(place(await store.all(trx)), alg, now)?.row.kid === kid;
  if (!(await store.retire(trx, kid, now))) return undefined;
  const change = changeOf({ retired_at: null, in_use: inUse }, { retired_at: now, in_use: false });
  await record(trx, { event: 'key_retired', detail: { kid, alg, ...change } }, by, now);
  if (!inUse) return { kid, alg, replacement: null };
  await store.insert(trx, { ...spare, activates_at: now });
  const detail = { kid: spare.kid, alg, ...changeOf(undefined, { activates_at: now }) };
  await record(trx, { event: 'key_rotated', detail }, by, now);
  return { kid, alg, replacement: spare.kid };
}

/** Keys in use that none of SECRET_KEYS opens. */
export const unreadableKeys = (rows: readonly store.KeyRow[], secrets: Secrets): string[] =>
  rows.filter((row) => row.retired_at === null && !isReadable(row, secrets)).map(({ kid }) => kid);

function isReadable({ kid, sealed_private_key }: store.KeyRow, secrets: Secrets): boolean {
  try {
    if (sealed_private_key !== null) secrets.open(sealed_private_key, kid);
    return true;
  } catch {
    return false;
  }
}

/** A new key without its time of activation. */
export type MadeKey = Omit<store.NewKeyRow, 'activates_at'>;

/** A new key pair, sealed. It activates when the caller says. */
export async function makeKey(secrets: Secrets, alg: KeyAlg, now: Date): Promise<MadeKey> {
  // The curve is of ECDH-ES, the length of RSA: each ignores the other's.
  const { publicKey, privateKey } = await generateKeyPair(alg, {
    extractable: true,
    modulusLength: 2048,
    ...(alg === 'ECDH-ES' && { crv: 'P-256' }),
  });
  const public_jwk = await exportJWK(publicKey);
  // RFC 7638, so that a kid names exactly this key.
  const kid = await calculateJwkThumbprint(public_jwk);
  if (!isPasteable(kid)) return makeKey(secrets, alg, now);
  const sealed_private_key = secrets.seal(Buffer.from(JSON.stringify(await exportJWK(privateKey))), kid);
  return { kid, alg, public_jwk, sealed_private_key, created_at: now };
}
