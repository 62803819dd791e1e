/**
 * How second factors come and go. A secret that is being set up waits in the form that shows it, sealed and bound to the session it is
 * shown in: nobody sets one up for another, and nothing is kept of what nobody finished.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import * as grants from '../store/grants.ts';
import * as notices from '../store/logout-notices.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as recoveryCodes from '../store/recovery-codes.ts';
import * as sessions from '../store/sessions.ts';
import * as totps from '../store/totp-credentials.ts';
import * as users from '../store/users.ts';
import { endAll } from './access.ts';
import { secondFactors, type FactorName } from './factors/index.ts';
import { drawCodes, hashOfCode } from './factors/recovery-code.ts';
import { labelOf, SECRET_BYTES, stepOf } from './factors/totp.ts';

type Needs = Pick<Deps, 'random' | 'secrets'>;

/** Who sets something up, and in which session. */
export interface Owner {
  sub: string;
  sid: string;
}

/** Seconds that a page with a new secret is good for. That the sign-in was fresh was asked when it was shown. */
export const SETUP_TTL = 600;

const setupLabel = ({ sub, sid }: Owner): string => `an authenticator app that ${sub} sets up in ${sid}`;

/** A new secret, and the same sealed for the form that shows it. */
export function beginSetup({ random, secrets }: Needs, owner: Owner, now: Date): { secret: Buffer; sealed: string } {
  const secret = random(SECRET_BYTES);
  const begun = Buffer.alloc(8);
  begun.writeBigUInt64BE(BigInt(now.getTime()));
  return { secret, sealed: secrets.seal(Buffer.concat([begun, secret]), setupLabel(owner)).toString('base64url') };
}

/** The secret of such a form; undefined when it is another's, another session's, none of ours, or too old. */
export function readSetup({ secrets }: Needs, owner: Owner, sealed: string | undefined, now: Date): Buffer | undefined {
  try {
    const plain = secrets.open(Buffer.from(sealed ?? '', 'base64url'), setupLabel(owner));
    const begun = new Date(Number(plain.readBigUInt64BE()));
    return secondsAfter(begun, SETUP_TTL) > now ? plain.subarray(8) : undefined;
  } catch {
    return undefined;
  }
}

/** An authenticator app that showed a right code, ready to be kept. */
export interface NewTotp {
  sealed: Buffer;
  last_step: number;
}

/** What to keep of it; undefined when the code is wrong. */
export function checkSetup(
  { secrets }: Needs,
  { sub }: Owner,
  secret: Buffer,
  code: string,
  now: Date,
): NewTotp | undefined {
  const last_step = stepOf(secret, code, now);
  return last_step === undefined ? undefined : { sealed: secrets.seal(secret, labelOf(sub)), last_step };
}

/**
 * Keeps an authenticator app, and draws recovery codes for whoever has none: they are returned, to be shown once. Tokens that were
 * given for a password alone end. Undefined when the person has one already. The account's row is held.
 */
export async function addTotp(
  trx: Trx,
  { random }: Pick<Needs, 'random'>,
  sub: string,
  { sealed, last_step }: NewTotp,
  by: Requester,
  now: Date,
): Promise<{ codes: string[] | undefined } | undefined> {
  if (!(await totps.insert(trx, { sub, sealed, last_step, created_at: now }))) return undefined;
  const ended = await sessions.endTokensByOneFactor(trx, sub, now);
  await record(trx, { event: 'factor_added', sub, detail: { factor: 'totp', sessions_ended: ended.length } }, by, now);
  const left = (await recoveryCodes.count(trx, sub))?.left ?? 0;
  return { codes: left > 0 ? undefined : await renewCodes(trx, { random }, sub, by, now) };
}

/** Draws ten recovery codes in place of those there were, and returns them: to be shown once. */
export async function renewCodes(
  trx: Trx,
  { random }: Pick<Needs, 'random'>,
  sub: string,
  by: Requester,
  now: Date,
): Promise<string[]> {
  const codes = drawCodes(random);
  await recoveryCodes.replaceAll(
    trx,
    sub,
    codes.flatMap((code) => hashOfCode(code) ?? []),
    now,
  );
  await record(trx, { event: 'recovery_codes_made', sub, detail: { codes: codes.length } }, by, now);
  return codes;
}

/**
 * Removes one of somebody's second factors, with the recovery codes if it was the last, and ends their other sessions. False when
 * they did not have it.
 */
export async function removeFactor(
  trx: Trx,
  { sub, sid }: Owner,
  factor: FactorName,
  by: Actor,
  now: Date,
): Promise<boolean> {
  if (!(await users.findLocked(trx, sub))) return false;
  const row = secondFactors.find(([name]) => name === factor)?.[1];
  if (!row?.remove || !(await row.remove(trx, sub))) return false;
  if ((await users.secondFactorsOfPerson(trx, sub)).length === 0) await recoveryCodes.removeAll(trx, sub);
  const sids = await sessions.endAllOf(trx, sub, now, sid);
  await notices.enqueue(trx, sids, now);
  await users.update(trx, sub, { devices_reset_at: now });
  await grants.revokeOfSessions(trx, sids, 'sign_out', now);
  await record(trx, { event: 'factor_removed', sub, detail: { factor, sessions_ended: sids.length } }, by, now);
  return true;
}

/**
 * Takes all second factors away, for somebody who lost them: an operator has made sure who it is. Whoever found them is out: every
 * session and grant ends. Undefined when there is no such account.
 */
export async function resetFactors(
  trx: Trx,
  sub: string,
  by: Actor,
  now: Date,
): Promise<{ factors: string[]; sessions_ended: number; grants_revoked: number } | undefined> {
  if (!(await users.findLocked(trx, sub))) return undefined;
  const factors: string[] = [];
  for (const [name, { remove }] of secondFactors) if (await remove?.(trx, sub)) factors.push(name);
  const ended = await endAll(trx, sub, 'operator', now);
  await record(trx, { event: 'factors_reset', sub, detail: { factors, ...ended } }, by, now);
  return { factors, ...ended };
}
