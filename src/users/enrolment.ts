/**
 * How second factors come and go. A secret that is being set up waits in the form that shows it, sealed and bound to the session it is
 * shown in: nobody sets one up for another, and nothing is kept of what nobody finished.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { postNotice } from '../mail/outbox.ts';
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
import { isLost, labelOf, SECRET_BYTES, stepOf } from './factors/totp.ts';

type Needs = Pick<Deps, 'config' | 'random' | 'secrets'>;

/** Who sets something up, and in which session. */
export interface Owner {
  sub: string;
  sid: string;
}

/** Seconds that a page with a new secret is good for. That the sign-in was fresh was asked when it was shown. */
const SETUP_TTL = 600;

const setupLabel = ({ sub, sid }: Owner): string => `an authenticator app that ${sub} sets up in ${sid}`;

/** A new secret, and the same sealed for the form that shows it. */
export function beginSetup(
  { random, secrets }: Pick<Needs, 'random' | 'secrets'>,
  owner: Owner,
  now: Date,
): { secret: Buffer; sealed: string } {
  const secret = random(SECRET_BYTES);
  const begun = Buffer.alloc(8);
  begun.writeBigUInt64BE(BigInt(now.getTime()));
  return { secret, sealed: secrets.seal(Buffer.concat([begun, secret]), setupLabel(owner)).toString('base64url') };
}

/** The secret of such a form; undefined when it is another's, another session's, none of ours, or too old. */
export function readSetup(
  { secrets }: Pick<Needs, 'secrets'>,
  owner: Owner,
  sealed: string | undefined,
  now: Date,
): Buffer | undefined {
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
  { secrets }: Pick<Needs, 'secrets'>,
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
  deps: Needs,
  sub: string,
  { sealed, last_step }: NewTotp,
  by: Requester,
  now: Date,
): Promise<{ codes: string[] | undefined } | undefined> {
  if (!(await totps.insert(trx, { sub, sealed, last_step, created_at: now }))) return undefined;
  const ended = await sessions.endTokensByOneFactor(trx, sub, now);
  await record(trx, { event: 'factor_added', sub, detail: { factor: 'totp', sessions_ended: ended.length } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'authenticator_added' }, now);
  return { codes: await firstCodes(trx, deps, sub, by, now) };
}

/** Recovery codes for who has just set up their first second factor: undefined where some are left. The account's row is held. */
export async function firstCodes(
  trx: Trx,
  deps: Needs,
  sub: string,
  by: Requester,
  now: Date,
): Promise<string[] | undefined> {
  const left = (await recoveryCodes.count(trx, sub))?.left ?? 0;
  return left > 0 ? undefined : drawNewCodes(trx, deps, sub, by, now);
}

/** Draws ten recovery codes in place of those there were, and returns them: to be shown once. */
async function drawNewCodes(trx: Trx, { random }: Needs, sub: string, by: Requester, now: Date): Promise<string[]> {
  const codes = drawCodes(random);
  const hashes = codes.flatMap((code) => hashOfCode(code) ?? []);
  await recoveryCodes.replaceAll(trx, sub, hashes, now);
  await record(trx, { event: 'recovery_codes_made', sub, detail: { codes: codes.length } }, by, now);
  return codes;
}

/** The same for somebody who asks for it. Undefined when they have no second factor that a code could stand in for. */
export async function renewCodes(
  trx: Trx,
  deps: Needs,
  sub: string,
  by: Requester,
  now: Date,
): Promise<string[] | undefined> {
  if (!(await users.findLocked(trx, sub)) || (await users.secondFactorsOfPerson(trx, sub)).length === 0)
    return undefined;
  await postNotice(trx, deps, { sub, notice: 'recovery_codes_made' }, now);
  return drawNewCodes(trx, deps, sub, by, now);
}

/**
 * Removes one of somebody's second factors, with the recovery codes if it was the last, and ends their other sessions. False when
 * they did not have it.
 */
export async function removeFactor(
  trx: Trx,
  deps: Needs,
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
  if (factor === 'totp') await postNotice(trx, deps, { sub, notice: 'authenticator_removed' }, now);
  return true;
}

/** Takes the authenticator app away from somebody, as an operator does: every session and grant ends. False when there was none. */
export async function removeTotp(trx: Trx, deps: Needs, sub: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await users.findLocked(trx, sub)) || !(await totps.remove(trx, sub))) return false;
  if ((await users.secondFactorsOfPerson(trx, sub)).length === 0) await recoveryCodes.removeAll(trx, sub);
  const { sessions_ended } = await endAll(trx, sub, 'operator', now);
  await record(trx, { event: 'factor_removed', sub, detail: { factor: 'totp', sessions_ended } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'authenticator_removed' }, now);
  return true;
}

/** Makes somebody's recovery codes void, as an operator does. False when there were none. */
export async function removeRecoveryCodes(trx: Trx, deps: Needs, sub: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await users.findLocked(trx, sub)) || !(await recoveryCodes.count(trx, sub))) return false;
  await recoveryCodes.removeAll(trx, sub);
  await record(trx, { event: 'factor_removed', sub, detail: { factor: 'recovery_codes' } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'recovery_codes_removed' }, now);
  return true;
}

/**
 * Takes all second factors away, for somebody who lost them: an operator has made sure who it is. Whoever found them is out: every
 * session and grant ends. Undefined when there is no such account.
 */
export async function resetFactors(
  trx: Trx,
  deps: Needs,
  sub: string,
  by: Actor,
  now: Date,
): Promise<{ factors: string[]; sessions_ended: number; grants_revoked: number } | undefined> {
  if (!(await users.findLocked(trx, sub))) return undefined;
  const factors: string[] = [];
  for (const [name, { remove }] of secondFactors) if (await remove?.(trx, sub)) factors.push(name);
  const ended = await endAll(trx, sub, 'operator', now);
  await record(trx, { event: 'factors_reset', sub, detail: { factors, ...ended } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'factors_reset' }, now);
  return { factors, ...ended };
}

/** How many people are looked at in a statement. */
const PAGE = 500;

/** Does something with each sealed secret of an authenticator app. */
async function eachSealed(
  { db }: Pick<Deps, 'db'>,
  work: (row: { sub: string; sealed: Buffer }) => Promise<void> | void,
): Promise<void> {
  for (let after = ''; ;) {
    const rows = await totps.pageOfSealed(db, PAGE, after);
    for (const row of rows) await work(row);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.sub;
  }
}

/** Seals what another of SECRET_KEYS sealed under the first one. What none opens is left as it is. */
export async function resealTotps({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<void> {
  await eachSealed({ db }, async (row) => {
    if (isLost({ secrets }, row)) return;
    const sealed = secrets.reseal(row.sealed, labelOf(row.sub));
    if (sealed) await totps.reseal(db, row.sub, row.sealed, sealed);
  });
}

/** How many people have an authenticator app whose secret SECRET_KEYS does not open. */
export async function countLostTotps({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<number> {
  let lost = 0;
  await eachSealed({ db }, (row) => void (lost += isLost({ secrets }, row) ? 1 : 0));
  return lost;
}
