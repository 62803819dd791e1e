/**
 * What is derived from SECRET_KEYS: sealing of private keys, and the MACs of forms, devices and retries, and of what is too
 * easily guessed to be kept as a bare hash.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import type { Random } from '../protocol/handle.ts';

/** One derived key for each use, so that nothing made for one is good for another. */
type Purpose =
  | 'private-key'
  | 'form'
  | 'device'
  | 'retry'
  | 'demo'
  | 'cursor'
  | 'typed-name'
  | 'request'
  | 'session'
  | 'challenge'
  | 'dpop-nonce'
  | 'code';

export interface Secrets {
  /** Encrypts under the first key. The label is bound in: a sealed value cannot stand in for another. */
  seal(plain: Buffer, label: string): Buffer;
  /** Decrypts what any of the keys sealed. @throws when none did */
  open(sealed: Buffer, label: string): Buffer;
  /** The same value under the first key; undefined when that one sealed it. @throws when none did */
  reseal(sealed: Buffer, label: string): Buffer | undefined;
  /** HMAC-SHA-256 of the parts, in order. `name` picks an older key; undefined when that key is gone. */
  mac(purpose: Purpose, parts: ReadonlyArray<string | Buffer>): Buffer;
  macNamed(purpose: Purpose, parts: ReadonlyArray<string | Buffer>, name: string): Buffer | undefined;
  /** Does the MAC match under any of the keys? */
  verifyMac(purpose: Purpose, parts: ReadonlyArray<string | Buffer>, mac: Buffer): boolean;
  /** The name of the key that `mac` uses: a fingerprint, fit to be stored. */
  readonly name: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Derives everything from the configured keys: the first makes new values, all of them read old ones. */
export function createSecrets(keys: readonly string[], random: Random): Secrets {
  const derived = keys.map((key) => {
    const bytesFor = (info: string): Buffer => Buffer.from(hkdfSync('sha256', key, 'postern', info, 32));
    // As objects: of a key in bytes Node makes one each time, which costs more than the MAC.
    const derive = (info: string): KeyObject => createSecretKey(bytesFor(info));
    return {
      name: bytesFor('name').subarray(0, 6).toString('base64url'),
      purposes: {
        'private-key': derive('private-key'),
        form: derive('form'),
        device: derive('device'),
        retry: derive('retry'),
        demo: derive('demo'),
        cursor: derive('cursor'),
        'typed-name': derive('typed-name'),
        request: derive('request'),
        session: derive('session'),
        code: derive('code'),
        challenge: derive('challenge'),
        'dpop-nonce': derive('dpop-nonce'),
      } satisfies Record<Purpose, KeyObject>,
    };
  });
  // Asked for at the first use: commands that sign nothing run without any key.
  const current = (): (typeof derived)[number] => {
    const [first] = derived;
    if (!first) throw new Error('SECRET_KEYS is not set, and this needs it');
    return first;
  };

  const macUnder = (key: KeyObject, parts: ReadonlyArray<string | Buffer>): Buffer => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) {
      const bytes = Buffer.from(part);
      // Lengths first: ("ab","c") and ("a","bc") are not the same message.
      hmac.update(`${bytes.length}:`).update(bytes);
    }
    return hmac.digest();
  };

  const openUnder = (key: KeyObject, sealed: Buffer, label: string): Buffer | undefined => {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(label)).setAuthTag(sealed.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      // Sealed under another of the keys.
      return undefined;
    }
  };
  const seal = (plain: Buffer, label: string): Buffer => {
    const nonce = random(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current().purposes['private-key'], nonce).setAAD(Buffer.from(label));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  };
  const open = (sealed: Buffer, label: string): Buffer => {
    for (const { purposes } of derived) {
      const plain = openUnder(purposes['private-key'], sealed, label);
      if (plain) return plain;
    }
    throw new Error(`${label} was sealed under a key that is not in SECRET_KEYS`);
  };

  return {
    get name() {
      return current().name;
    },
    seal,
    open,
    reseal: (sealed, label) =>
      openUnder(current().purposes['private-key'], sealed, label) ? undefined : seal(open(sealed, label), label),
    mac: (purpose, parts) => macUnder(current().purposes[purpose], parts),
    macNamed(purpose, parts, name) {
      const key = derived.find((candidate) => candidate.name === name);
      return key && macUnder(key.purposes[purpose], parts);
    },
    verifyMac: (purpose, parts, mac) =>
      derived.some(({ purposes }) => {
        const expected = macUnder(purposes[purpose], parts);
        return expected.length === mac.length && timingSafeEqual(expected, mac);
      }),
  };
}
