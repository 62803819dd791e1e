/** A person makes a passkey of theirs, or removes one: not the last way in, and what else is signed in ends with it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { endOtherSessions } from '../sessions/of-person.ts';
import type { Passkey } from '../store/passkeys.ts';
import { createPasskey, removePasskey, type Creation } from '../users/passkeys.ts';
import { waysIn } from '../users/ways-in.ts';
import { changeIn, holdStanding, type Standing } from './standing.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** Makes a passkey for whoever this sign-in is of. @throws SignInOver, and as `createPasskey` */
export const createOwnPasskey = (
  deps: Needs,
  standing: Standing,
  creation: Omit<Creation, 'sub' | 'hold'>,
  by: Requester,
  now: Date,
): Promise<Passkey> => {
  const hold: Creation['hold'] = (trx) => holdStanding(trx, deps, standing, { fresh: true }, now);
  return createPasskey(deps, { ...creation, sub: standing.sub, hold }, by, now);
};

/** What came of it: `only_way` and `gone` changed nothing. */
export type Removal = 'removed' | 'only_way' | 'gone';

/** Removes a passkey of whoever this sign-in is of, and ends their other sessions, in one transaction. @throws SignInOver */
export const removeOwnPasskey = (
  deps: Needs,
  standing: Standing,
  passkey_id: string,
  by: Requester,
  now: Date,
): Promise<Removal> =>
  changeIn(deps, standing, { fresh: true, now }, async (trx) => {
    const ways = await waysIn(trx, deps, standing.sub);
    if (ways < 2) return 'only_way';
    if (!(await removePasskey(trx, deps, standing.sub, passkey_id, by, now))) return 'gone';
    await endOtherSessions(trx, standing, by, now);
    return 'removed';
  });
