/** The device cookie: proof that a browser signed in to an account before, so that strangers' failures do not slow it. */
import type { Secrets } from '../keys/secrets.ts';
import { DAY, numericDate } from '../protocol/numeric-date.ts';
import type { Random } from '../protocol/handle.ts';

/** Seconds a browser stays known: one year. */
export const DEVICE_TTL = 365 * DAY;

/**
 * Lanes that the known browsers of one account have together. Each sign-in gives a browser one of them: however often somebody
 * who knew the password signed in, there are no more to guess in.
 */
export const DEVICE_LANES = 16;

/** Accounts that one browser is known to: those that signed in last. */
const MAX_ACCOUNTS = 5;
const SEPARATOR = '~';

/** Whose device it is, as of which password, and since when none that signed in before counts. */
export interface DeviceOf {
  sub: string;
  password_changed_at: Date | null;
  devices_reset_at: Date | null;
}

const ENTRY = /^(\d{1,2})\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

interface Entry {
  text: string;
  device: number;
  exp: string;
  mac: Buffer;
}

/** The entries of a cookie that may still count. Whose they are is not in them. */
const entriesOf = (cookie: string | undefined, now: Date): Entry[] =>
  (cookie ?? '').split(SEPARATOR, MAX_ACCOUNTS).flatMap((text) => {
    const [, device = '', exp = '', mac = ''] = ENTRY.exec(text) ?? [];
    if (Number(device) >= DEVICE_LANES || exp === '' || Number(exp) < numericDate(now)) return [];
    return [{ text, device: Number(device), exp, mac: Buffer.from(mac, 'base64url') }];
  });

// What ends everything of a person ends this too: another password, and whatever forgot their devices.
const macParts = ({ sub, password_changed_at, devices_reset_at }: DeviceOf, device: number, exp: string): string[] => [
  'device',
  sub,
  String(device),
  exp,
  String(password_changed_at?.getTime()),
  String(devices_reset_at?.getTime()),
];

const isOf = (secrets: Secrets, { device, exp, mac }: Entry, who: DeviceOf): boolean =>
  secrets.verifyMac('device', macParts(who, device, exp), mac);

/**
 * The cookie's new value for a browser that signed in to this account, beside the others that it did. Nothing of it is
 * stored: it is authenticated.
 */
export function knownDevices(
  secrets: Secrets,
  random: Random,
  cookie: string | undefined,
  who: DeviceOf,
  now: Date,
): string {
  const present = entriesOf(cookie, now);
  const own = present.find((entry) => isOf(secrets, entry, who));
  // A browser keeps its lane: signing in again gives it no other.
  const device = own?.device ?? random(1)[0]! % DEVICE_LANES;
  const exp = String(numericDate(now) + DEVICE_TTL);
  const entry = `${device}.${exp}.${secrets.mac('device', macParts(who, device, exp)).toString('base64url')}`;
  const others = present.filter((other) => other !== own).map(({ text }) => text);
  return [entry, ...others].slice(0, MAX_ACCOUNTS).join(SEPARATOR);
}

/** Which of the account's lanes the browser has, when it signed in to it before and not too long ago. */
export function readDevice(secrets: Secrets, cookie: string | undefined, who: DeviceOf, now: Date): number | undefined {
  return entriesOf(cookie, now).find((entry) => isOf(secrets, entry, who))?.device;
}
