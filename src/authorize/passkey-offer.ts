/** The offer of a passkey, on the way of a request: to whom it is made, and what came of it. */
import type { Deps } from '../deps.ts';
import * as interactions from '../store/interactions.ts';
import * as passkeys from '../store/passkeys.ts';
import type { LiveSession } from '../store/sessions.ts';
import * as users from '../store/users.ts';
import type { ChallengeBinding } from '../users/factors/passkey.ts';
import { readyToCreate } from '../users/passkeys.ts';
import type { Opened } from './interaction.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>;

/** Whom a request offers a passkey that somebody has just signed in to by password: who has none, and never said “not now”. */
export const offerTo = async ({ db }: Pick<Deps, 'db'>, sub: string): Promise<string | null> =>
  (await passkeys.isToBeOffered(db, sub)) ? sub : null;

/** What the page needs; undefined where the account is gone. */
export async function readyForOffer(deps: Needs, { sub }: LiveSession, challenge: ChallengeBinding) {
  const user = await users.find(deps.db, sub);
  return user && readyToCreate(deps, user, challenge, deps.clock());
}

/** The person does not want one, and is not asked again. */
export async function declinePasskey(
  deps: Pick<Deps, 'db' | 'random'>,
  opened: Opened,
  { sub }: LiveSession,
): Promise<void> {
  await passkeys.decline(deps.db, sub, deps.random(32), opened.now);
  await endPasskeyOffer(deps, opened);
}

/** The request goes on. */
export async function endPasskeyOffer({ db }: Pick<Deps, 'db'>, { row }: Opened): Promise<void> {
  await interactions.record(db, row, { passkey_offer_sub: null });
}
