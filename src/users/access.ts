/**
 * Access: what hangs off a person, their sessions, grants and consents, and how an operator takes it back. Sessions come
 * first, then grants: whoever is being granted something at this moment holds the session's row.
 */
import { record, type Actor } from '../events/index.ts';
import * as consents from '../store/consents.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';
import * as notices from '../store/logout-notices.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { voidAsked } from './links.ts';

/** How much was live and ended. */
export interface Ended {
  sessions_ended: number;
  grants_revoked: number;
}

/** Ends every session and grant of a person, and what was asked for in them, and forgets their browsers. */
export async function endAll(trx: Trx, sub: string, why: grants.RevokedFor, now: Date): Promise<Ended> {
  await users.update(trx, sub, { devices_reset_at: now });
  await voidAsked(trx, sub, now);
  const sids = await sessions.endAllOf(trx, sub, now);
  await notices.enqueue(trx, sids, now);
  return { sessions_ended: sids.length, grants_revoked: await grants.revokeAllOf(trx, { sub }, why, now) };
}

/**
 * Signs a person out everywhere: what their sign-outs would end, so grants with offline_access stay. Undefined when there
 * is no such account.
 */
export async function signOutEverywhere(trx: Trx, sub: string, by: Actor, now: Date): Promise<Ended | undefined> {
  // A sign-in at this moment holds the account's row: its session is seen by the next statement.
  if (!(await users.findLocked(trx, sub))) return undefined;
  await voidAsked(trx, sub, now);
  const sids = await sessions.endAllOf(trx, sub, now);
  await notices.enqueue(trx, sids, now);
  const grants_revoked = await grants.revokeOfSessions(trx, sids, 'sign_out', now);
  const ended = { sessions_ended: sids.length, grants_revoked };
  await record(trx, { event: 'sign_out_everywhere', sub, detail: ended }, by, now);
  return ended;
}

/** Ends every session and grant of a person, offline ones too, and forgets what they agreed to. The account stays. */
export async function revokeEverything(
  trx: Trx,
  sub: string,
  by: Actor,
  now: Date,
): Promise<(Ended & { consents_withdrawn: number }) | undefined> {
  if (!(await users.findLocked(trx, sub))) return undefined;
  const ended = await endAll(trx, sub, 'operator', now);
  const all = { ...ended, consents_withdrawn: await consents.removeAllOf(trx, sub) };
  await record(trx, { event: 'access_revoked', sub, detail: all }, by, now);
  return all;
}

/** Withdraws a person's consent to a client, and with it every grant of the pair. False when there was nothing of either. */
export async function withdrawConsent(
  trx: Trx,
  sub: string,
  client_id: string,
  by: Actor,
  now: Date,
): Promise<boolean> {
  await sessions.lockAllOf(trx, sub);
  const { consents: withdrawn, grants: grants_revoked } = await consents.withdraw(trx, sub, client_id, now);
  if (withdrawn === 0 && grants_revoked === 0) return false;
  await record(trx, { event: 'consent_withdrawn', sub, client_id, detail: { grants_revoked } }, by, now);
  return true;
}

/**
 * Takes one scope back from what a person agreed to with a client, and ends the grants that have it: the client is to ask for it
 * again. False when it was not agreed to.
 */
export async function narrowConsent(
  trx: Trx,
  agreed: { sub: string; client_id: string; scope: string },
  by: Actor,
  now: Date,
): Promise<boolean> {
  const { sub, client_id, scope } = agreed;
  await sessions.lockAllOf(trx, sub);
  const { consents: narrowed, grants: grants_revoked } = await consents.narrow(trx, agreed, now);
  if (narrowed === 0) return false;
  await record(
    trx,
    { event: 'consent_withdrawn', sub, client_id, detail: { grants_revoked, scope: [scope] } },
    by,
    now,
  );
  return true;
}

/** Revokes one grant, if it is this person's where one is named. False when there is no live one. */
export async function revokeGrant(
  trx: Trx,
  grant_id: string,
  whose: { sub?: string | undefined },
  by: Actor,
  now: Date,
): Promise<boolean> {
  const revoked = await grants.revoke(trx, grant_id, whose, 'operator', now);
  if (!revoked) return false;
  await record(trx, { event: 'authorization_revoked', ...revoked, detail: { gid: grant_id } }, by, now);
  return true;
}
