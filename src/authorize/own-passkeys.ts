/** A person removes a passkey of theirs: not the last way in, and what else is signed in ends with it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { endOtherSessions } from '../sessions/of-person.ts';
import { transact } from '../store/postgres/db.ts';
import { removePasskey } from '../users/passkeys.ts';
import { waysIn } from '../users/ways-in.ts';

/** What came of it: `only_way` and `gone` changed nothing. */
export type Removal = 'removed' | 'only_way' | 'gone';

/** Removes a passkey of whoever this session is of, and ends their other sessions, in one transaction. */
export const removeOwnPasskey = (
  deps: Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>,
  session: { sub: string; sid: string },
  passkey_id: string,
  by: Requester,
  now: Date,
): Promise<Removal> =>
  transact(deps.db, async (trx) => {
    const ways = await waysIn(trx, deps, session.sub);
    if (ways < 2) return 'only_way';
    if (!(await removePasskey(trx, deps, session.sub, passkey_id, by, now))) return 'gone';
    await endOtherSessions(trx, session, by, now);
    return 'removed';
  });
