/**
 * The deletion of an account by its own person: everything ends at once, they may come back within a week, then it is erased
 * and what remains in the audit log names nobody.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { postNotice } from '../mail/outbox.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { eraseRowsOf, pseudonymise, tablesOfPeople, type TableOfPeople } from '../store/erasure.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { endAll } from './access.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** Seconds in which somebody may change their mind. */
const GRACE = 7 * DAY;

/** Members of an event's detail that say what happened and nothing of the person. Whatever else there is, is not kept. */
export const IMPERSONAL = [
  'amr',
  'claims',
  'consents_withdrawn',
  'factor',
  'grant_type',
  'grants_revoked',
  'group_id',
  'outcome',
  'resource',
  'role_id',
  'scope',
  'sessions_ended',
  'via',
] as const;

/**
 * Writes down that an account is to be erased, and ends its sessions, grants and tokens now. Who asked before is told the same
 * day again. The account is held: a sign-in at this moment is seen and ended, or begins when it is known what is to come.
 */
export async function requestDeletion(
  trx: Trx,
  deps: Needs,
  { sub, erase_after: before }: Pick<users.User, 'sub' | 'erase_after'>,
  by: Actor,
  now: Date,
): Promise<Date> {
  const erase_after = before ?? secondsAfter(now, GRACE);
  await users.update(trx, sub, { erase_after });
  await endAll(trx, sub, 'deletion_requested', now);
  if (before === null) {
    const detail = { erase_after: erase_after.toISOString() };
    await record(trx, { event: 'deletion_requested', sub, detail }, by, now);
    await postNotice(trx, deps, { sub, notice: 'account_deletion_asked', name: erase_after.toISOString() }, now);
  }
  return erase_after;
}

/** Keeps an account that was to be erased. False when there was nothing to take back, or it is gone. */
export const keepAccount = (deps: Needs, sub: string, by: Actor, now: Date): Promise<boolean> =>
  transact(deps.db, async (trx) => {
    const user = await users.findLocked(trx, sub);
    return user !== undefined && callOffDeletion(trx, deps, user, by, now);
  });

/** The same for an account that is held already. */
export async function callOffDeletion(
  trx: Trx,
  deps: Needs,
  { sub, erase_after }: Pick<users.User, 'sub' | 'erase_after'>,
  by: Actor,
  now: Date,
): Promise<boolean> {
  if (erase_after === null) return false;
  await users.update(trx, sub, { erase_after: null });
  await record(trx, { event: 'deletion_withdrawn', sub }, by, now);
  await postNotice(trx, deps, { sub, notice: 'account_deletion_cancelled' }, now);
  return true;
}

/** Accounts that one turn looks for. */
const BATCH = 50;

/** Erases the accounts whose time has come. Returns how many. */
export async function eraseDue({ db }: Pick<Deps, 'db'>, by: Actor, now: Date): Promise<number> {
  const subs = await users.dueForErasure(db, now, BATCH);
  if (subs.length === 0) return 0;
  const tables = await tablesOfPeople(db);
  let erased = 0;
  for (const sub of subs) if (await erase({ db }, sub, tables, by, now)) erased += 1;
  return erased;
}

/** Erases one of them, unless it is kept, or another process was first. */
const erase = (
  { db }: Pick<Deps, 'db'>,
  sub: string,
  tables: readonly TableOfPeople[],
  by: Actor,
  now: Date,
): Promise<boolean> =>
  transact(db, async (trx) => {
    const user = await users.findLocked(trx, sub);
    if (!user || user.erase_after === null || user.erase_after > now) return false;
    await endAll(trx, sub, 'user_deleted', now);
    await eraseRowsOf(trx, user, tables);
    await users.remove(trx, sub);
    const pseudonym = await pseudonymise(trx, sub, IMPERSONAL);
    if (pseudonym !== undefined) await record(trx, { event: 'user_erased', sub: pseudonym }, by, now);
    return true;
  });
