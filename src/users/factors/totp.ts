/** One-time codes of an authenticator app (RFC 6238): each time step once, also over several servers. */
import { Secret, TOTP } from 'otpauth';
import type { Deps } from '../../deps.ts';
import * as store from '../../store/totp-credentials.ts';
import { LostKey, type Factor } from './factor.ts';

/** What every authenticator app reads: SHA-1 (RFC 6238 §1.2), six digits, half a minute. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

/** RFC 4226 §4 R6: 160 bits. */
export const SECRET_BYTES = 20;

/** RFC 6238 §5.2: a code of the step before or after counts too, for clocks that go wrong and people who type slowly. */
const WINDOW = 1;

/** The time step of a code, when it is one of this secret now; undefined when it is not. */
export function stepOf(secret: Buffer, code: string, now: Date): number | undefined {
  // People type the space that apps show in the middle.
  const token = code.replaceAll(/[\s-]/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const totp = totpOf(secret);
  const timestamp = now.getTime();
  const delta = totp.validate({ token, timestamp, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}

/** What an authenticator app is given: the address in its QR code, and the secret for those who type. */
export function setupOf(secret: Buffer, { issuer, label }: { issuer: string; label: string }) {
  const totp = totpOf(secret, { issuer, label });
  return { uri: totp.toString(), secret: totp.secret.base32 };
}

const totpOf = (secret: Buffer, named: { issuer?: string; label?: string } = {}): TOTP =>
  // Its bytes alone: a small Buffer is a view of a pool that others are in.
  new TOTP({ ...SETTINGS, ...named, secret: new Secret({ buffer: new Uint8Array(secret).buffer }) });

/** Bound into the sealing: nobody's secret can stand in for another's. */
export const labelOf = (sub: string): string => `the authenticator app of ${sub}`;

/** @throws LostKey */
function openSecret({ secrets }: Pick<Deps, 'secrets'>, { sub, sealed }: { sub: string; sealed: Buffer }): Buffer {
  try {
    return secrets.open(sealed, labelOf(sub));
  } catch (cause) {
    throw new LostKey(`${labelOf(sub)} was sealed under a key that is not in SECRET_KEYS`, { cause });
  }
}

export const totp: Factor = {
  amr: [['otp']],
  first: false,
  second: true,
  enrols: true,
  field: 'otp',
  async prove(deps, { sub, given }, now) {
    const credential = await store.find(deps.db, sub);
    if (!credential) return undefined;
    const step = stepOf(openSecret(deps, credential), given, now);
    if (step === undefined) return undefined;
    const { sealed } = credential;
    return { amr: ['otp'], claim: (trx, _by, time) => store.claimStep(trx, { sub, sealed, step }, time) };
  },
  remove: (trx, sub) => store.remove(trx, sub),
  async list(deps, sub) {
    const credential = await store.find(deps.db, sub);
    if (!credential) return [];
    const { created_at, used_at } = credential;
    return [{ factor: 'totp', created_at, used_at, ...(isLost(deps, credential) && { lost: true }) }];
  },
};

/** Can it not be checked any more, since its key is not in SECRET_KEYS? */
export function isLost(deps: Pick<Deps, 'secrets'>, credential: { sub: string; sealed: Buffer }): boolean {
  try {
    openSecret(deps, credential);
    return false;
  } catch {
    return true;
  }
}
