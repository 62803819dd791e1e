/** Keys of ours, made once for the whole run, since an RSA key takes as long as a test: each database gets a set of them. */
import { inject } from 'vitest';
import type { Config } from '../../src/config.ts';
import { makeKey } from '../../src/keys/rotation.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { KEY_ALGS } from '../../src/protocol/key-alg.ts';
import { transact, type Db } from '../../src/store/postgres/db.ts';
import * as store from '../../src/store/keys.ts';

/** One as it crosses from the process that made it to those of the tests. */
export type MadeKey = Pick<store.KeyRow, 'kid' | 'alg' | 'public_jwk'> & {
  /** Base64 of what is sealed under `SEAL`. */
  sealed: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    keys: MadeKey[][];
  }
}

const SEAL = 'what keys are sealed under until a test has them';
/** So that databases made one after the other have other keys: what one issuer signs says nothing to the next. */
const SETS = 4;

/** Makes the sets, with a key of each algorithm. */
export function makeKeys(): Promise<MadeKey[][]> {
  const secrets = createSecrets([SEAL], random);
  const make = async (wanted: (typeof KEY_ALGS)[number]): Promise<MadeKey> => {
    const { kid, alg, public_jwk, sealed_private_key } = await makeKey(secrets, wanted, new Date());
    return { kid, alg, public_jwk, sealed: sealed_private_key.toString('base64') };
  };
  return Promise.all(Array.from({ length: SETS }, () => Promise.all(KEY_ALGS.map(make))));
}

let given = 0;

/** Gives a database without keys one of each algorithm that the configuration asks for, in use from `now`. */
export async function insertKeys(db: Db, config: Config, now: Date): Promise<void> {
  const secrets = createSecrets([...config.SECRET_KEYS, SEAL], random);
  const algs = new Set<string>([...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS]);
  const set = inject('keys')[(given += 1) % SETS]!.filter(({ alg }) => algs.has(alg));
  await transact(db, async (trx) => {
    await store.lock(trx);
    if ((await store.all(trx)).length > 0) return;
    for (const { sealed, ...key } of set) {
      const sealed_private_key = secrets.reseal(Buffer.from(sealed, 'base64'), key.kid)!;
      await store.insert(trx, { ...key, sealed_private_key, created_at: now, activates_at: now });
    }
  });
}
