/** Sign-ins for tests of what people do in them, without a browser. */
import type { Deps } from '../../src/deps.ts';
import type { Actor } from '../../src/events/index.ts';
import { startSession } from '../../src/sessions/index.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as users from '../../src/store/users.ts';
import { requestDeletion } from '../../src/users/deletion.ts';
import type { Standing } from '../../src/authorize/standing.ts';
import type { TestApp } from './app.ts';

const BY = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'a test' };

/** Somebody who has just signed in. */
export async function aStanding(
  { deps, clock }: TestApp,
  { sub }: Pick<users.User, 'sub'>,
  amr: string[] = ['pwd'],
): Promise<Standing> {
  const auth_time = clock.now();
  const password_changed_at = (await users.passwordChangedAt(deps.db, sub)) ?? null;
  const proven = { sub, amr, acr: amr.includes('mfa') ? '2' : '1', password_changed_at };
  const { sid } = await startSession(deps, proven, { kind: 'login', ttl: 86_400, via: 'a test' }, BY, auth_time);
  return { sub, sid, auth_time, amr };
}

/** Has an account erased in a week, in no sign-in. */
export const deletionAsked = (deps: Deps, sub: string, by: Actor, now: Date): Promise<Date> =>
  transact(deps.db, async (trx) => requestDeletion(trx, deps, (await users.findLocked(trx, sub))!, by, now));
