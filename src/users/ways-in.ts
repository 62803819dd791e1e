/** The ways into an account by oneself: the last of them is taken away by nobody but an operator. */
import type { Deps } from '../deps.ts';
import * as passkeys from '../store/passkeys.ts';
import type { Db, Trx } from '../store/postgres/db.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';
import { maySignInByMail } from './email-sign-in.ts';
import { isEmailSignInOn } from './sign-up-policy.ts';

type Needs = Pick<Deps, 'config'>;

/** How many of each kind a person has: a row a kind. */
const kinds: Readonly<Record<string, (trx: Trx, person: users.User, deps: Needs) => Promise<number> | number>> = {
  password: async (trx, { sub }) => ((await users.passwordChangedAt(trx, sub)) ? 1 : 0),
  passkey: (trx, { sub }) => passkeys.countOf(trx, sub),
  upstream: async (trx, { sub }) => (await upstreamLinks.ofPerson(trx, sub)).filter(({ works }) => works).length,
  mail: (_trx, person, { config }) => (isEmailSignInOn(config) && maySignInByMail(person) ? 1 : 0),
};

/** How many ways in a person has. The account's row is locked, so that nobody takes another one away meanwhile. */
export async function waysIn(trx: Trx, deps: Needs, sub: string): Promise<number> {
  const person = await users.findLocked(trx, sub);
  if (!person) return 0;
  let count = 0;
  for (const of of Object.values(kinds)) count += await of(trx, person, deps);
  return count;
}

/** Can somebody prove here that it is them, by what nobody else's session brings? */
export const canProveHere = async (db: Db | Trx, sub: string): Promise<boolean> =>
  (await users.passwordChangedAt(db, sub)) !== undefined || (await passkeys.countOf(db, sub)) > 0;
