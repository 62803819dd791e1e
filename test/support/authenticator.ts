/** An authenticator and its browser in software: it makes passkeys and uses them, honestly unless it is told otherwise. */
import {
  createHash,
  generateKeyPairSync,
  randomBytes,
  sign,
  type JsonWebKey,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from 'node:crypto';

/** What can be written in CBOR (RFC 8949), as far as authenticators do. */
type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>;

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 0x100) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

/** Canonical enough: maps are written in the order they are given in. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
}

const fromBase64url = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');

interface Algorithm {
  make(): KeyPairKeyObjectResult;
  /** COSE_Key (RFC 9053). */
  cose(jwk: JsonWebKey): Array<[number, Cbor]>;
  hash: string | null;
}

const ALGORITHMS = {
  ES256: {
    make: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    cose: ({ x, y }) => [[1, 2], [3, -7], [-1, 1], [-2, fromBase64url(x)], [-3, fromBase64url(y)]], // prettier-ignore
    hash: 'sha256',
  },
  EdDSA: {
    make: () => generateKeyPairSync('ed25519'),
    cose: ({ x }) => [[1, 1], [3, -8], [-1, 6], [-2, fromBase64url(x)]], // prettier-ignore
    hash: null,
  },
  RS256: {
    make: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    cose: ({ n, e }) => [[1, 3], [3, -257], [-1, fromBase64url(n)], [-2, fromBase64url(e)]], // prettier-ignore
    hash: 'sha256',
  },
} satisfies Record<string, Algorithm>;

interface Key {
  id: Buffer;
  key: KeyObject;
  hash: string | null;
  handle: string;
}

/** How an authenticator, or its browser, differs from an honest one that asks its person each time. */
export interface Manner {
  origin?: string;
  rp_id?: string;
  type?: string;
  user_verified?: boolean;
  user_present?: boolean;
  /** Synchronised, so that it is not bound to this device. */
  synchronised?: boolean;
  sign_count?: number;
  user_handle?: string | undefined;
  cross_origin?: boolean;
  algorithm?: keyof typeof ALGORITHMS;
  challenge?: string;
  aaguid?: string;
  transports?: string[];
  /** Signs with a key that is not the one of this id. */
  other_key?: boolean;
}

/** What a page asks of a browser, as far as it is read here. */
export interface Asked {
  challenge: string;
  rpId?: string;
  rp?: { id: string };
  user?: { id: string };
  allowCredentials?: Array<{ id: string }>;
  excludeCredentials?: Array<{ id: string }>;
}

/** One device with its keys. `counts` says whether its signatures have a count. */
export class Authenticator {
  readonly keys: Key[] = [];
  count = 0;
  readonly #origin: string;
  readonly #manner: Manner & { counts?: boolean };

  constructor(issuer: string, manner: Manner & { counts?: boolean } = {}) {
    this.#origin = new URL(issuer).origin;
    this.#manner = manner;
  }

  #clientData(type: string, challenge: string, { origin = this.#origin, cross_origin = false, ...manner }: Manner) {
    const data = {
      type: manner.type ?? type,
      challenge: manner.challenge ?? challenge,
      origin,
      crossOrigin: cross_origin,
    };
    return Buffer.from(JSON.stringify(data));
  }

  #authData(rp_id: string, manner: Manner, attested: Buffer = Buffer.alloc(0)): Buffer {
    const { user_present = true, user_verified = true, synchronised = false } = manner;
    const flags = [user_present && 0x01, user_verified && 0x04, synchronised && 0x18, attested.length > 0 && 0x40];
    const count = Buffer.alloc(4);
    if (this.#manner.counts === true) this.count += 1;
    count.writeUInt32BE(manner.sign_count ?? this.count);
    const hash = createHash('sha256')
      .update(manner.rp_id ?? rp_id)
      .digest();
    return Buffer.concat([
      hash,
      Buffer.from([flags.reduce<number>((all, flag) => all | (flag || 0), 0)]),
      count,
      attested,
    ]);
  }

  /** Makes a passkey: what the browser sends to the server, as JSON. */
  create(asked: Asked, given: Manner = {}): string {
    const manner = { ...this.#manner, ...given };
    const { make, cose, hash } = ALGORITHMS[manner.algorithm ?? 'ES256'];
    const { publicKey, privateKey } = make();
    const id = randomBytes(16);
    this.keys.push({ id, key: privateKey, hash, handle: asked.user!.id });
    const size = Buffer.from([0, id.length]);
    const aaguid = Buffer.from((manner.aaguid ?? '0'.repeat(32)).replaceAll('-', ''), 'hex');
    const attested = Buffer.concat([
      aaguid,
      size,
      id,
      cbor(new Map<number, Cbor>(cose(publicKey.export({ format: 'jwk' })))),
    ]);
    const authData = this.#authData(asked.rp!.id, manner, attested);
    const object = new Map<string, Cbor>([['fmt', 'none'], ['attStmt', new Map()], ['authData', authData]]); // prettier-ignore
    return this.#json(id, {
      clientDataJSON: this.#clientData('webauthn.create', asked.challenge, manner),
      attestationObject: cbor(object),
      transports: manner.transports ?? ['internal'],
    });
  }

  /** Uses a passkey: the last of those that are asked for. */
  use(asked: Asked, given: Manner = {}): string {
    const manner = { ...this.#manner, ...given };
    const allowed = asked.allowCredentials ?? [];
    const found = this.keys.findLast(
      ({ id }) => allowed.length === 0 || allowed.some((one) => one.id === id.toString('base64url')),
    );
    if (!found) throw new Error('none of these passkeys is here');
    const authenticatorData = this.#authData(asked.rpId!, manner);
    const clientDataJSON = this.#clientData('webauthn.get', asked.challenge, manner);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()]);
    const key = manner.other_key === true ? ALGORITHMS.ES256.make().privateKey : found.key;
    const userHandle = 'user_handle' in manner ? manner.user_handle : found.handle;
    return this.#json(found.id, {
      clientDataJSON,
      authenticatorData,
      signature: sign(found.hash, signed, key),
      ...(userHandle !== undefined && { userHandle }),
    });
  }

  #json(id: Buffer, response: Record<string, Buffer | string | string[]>): string {
    const encoded = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64url') : value,
    ]);
    const name = id.toString('base64url');
    return JSON.stringify({
      id: name,
      rawId: name,
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(encoded) as object,
    });
  }
}
