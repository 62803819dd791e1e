/**
 * Nonces of DPoP proofs (RFC 9449 §8): the minute in which one was given, and a MAC of it. Every process makes and knows the same
 * ones, so that none is stored, and a proof that was made ahead is good for minutes only.
 */
import { decodeJwt } from 'jose';
import type { Deps } from '../deps.ts';

/** Seconds that one nonce is given out. */
const PERIOD = 60;
/** So many periods it is taken afterwards. */
const KEPT = 4;

type Needs = Pick<Deps, 'secrets'>;

const periodOf = (now: Date): number => Math.floor(now.getTime() / (PERIOD * 1000));
const PURPOSE = 'dpop-nonce';

/** The nonce to send in DPoP-Nonce. */
export function currentNonce({ secrets }: Needs, now: Date): string {
  const period = periodOf(now).toString(36);
  return `${period}.${secrets.mac(PURPOSE, [period]).toString('base64url')}`;
}

/** Is it one of ours that was given out a few minutes ago? A process whose clock is ahead may have. */
export function isCurrentNonce({ secrets }: Needs, nonce: string | undefined, now: Date): boolean {
  const [, period, mac] = /^([0-9a-z]{1,8})\.([\w-]{43})$/.exec(nonce ?? '') ?? [];
  if (period === undefined || mac === undefined) return false;
  const age = periodOf(now) - Number.parseInt(period, 36);
  return age >= -1 && age <= KEPT && secrets.verifyMac(PURPOSE, [period], Buffer.from(mac, 'base64url'));
}

/** Does the sender of a proof use nonces? Unproven: good for sending the next one and nothing else. */
export function usesNonces(proof: string): boolean {
  try {
    return decodeJwt(proof)['nonce'] !== undefined;
  } catch {
    return false;
  }
}
