/** The device cookie: proof that a browser signed in to an account before, so that strangers' failures do not slow it. */
import type { Secrets } from '../keys/secrets.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import type { Random } from '../store/handle.ts';

/** Seconds a browser stays known: one year. */
export const DEVICE_TTL = 365 * 86_400;

const macParts = (sub: string, id: string, exp: string): string[] => ['device', sub, id, exp];

/** A new cookie value for this account. Nothing of it is stored: it is authenticated. */
export function knownDevice(secrets: Secrets, random: Random, sub: string, now: Date): string {
  const id = random(12).toString('base64url');
  const exp = String(numericDate(now) + DEVICE_TTL);
  return `${id}.${exp}.${secrets.mac('device', macParts(sub, id, exp)).toString('base64url')}`;
}

/** The device's id, when the cookie was made for this account and is not too old. */
export function readDevice(secrets: Secrets, cookie: string | undefined, sub: string, now: Date): string | undefined {
  const [id, exp, mac, more] = (cookie ?? '').split('.');
  if (!id || !exp || !mac || more !== undefined || !/^\d{1,12}$/.test(exp) || Number(exp) < numericDate(now))
    return undefined;
  return secrets.verifyMac('device', macParts(sub, id, exp), Buffer.from(mac, 'base64url')) ? id : undefined;
}
