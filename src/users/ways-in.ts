/** The ways into an account by oneself: the last of them is taken away by nobody but an operator. */
import * as passkeys from '../store/passkeys.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';

/** How many of each kind a person has: a row a kind. */
const kinds: Readonly<Record<string, (trx: Trx, sub: string) => Promise<number>>> = {
  password: async (trx, sub) => ((await users.passwordChangedAt(trx, sub)) ? 1 : 0),
  passkey: passkeys.countOf,
  upstream: async (trx, sub) => (await upstreamLinks.ofPerson(trx, sub)).filter(({ works }) => works).length,
};

/** How many ways in a person has. The account's row is locked, so that nobody takes another one away meanwhile. */
export async function waysIn(trx: Trx, sub: string): Promise<number> {
  await users.findLocked(trx, sub);
  let count = 0;
  for (const of of Object.values(kinds)) count += await of(trx, sub);
  return count;
}
