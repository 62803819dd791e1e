/** The profile that people keep themselves: the standard claims that an operator lets them edit (`PROFILE_CLAIMS`). */
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/index.ts';
import { personClaims, type ProfileClaim } from '../protocol/claims.ts';
import { transact } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { updateAccount } from './accounts.ts';

type Needs = Pick<Deps, 'config' | 'db'>;

/** What is to be changed; null or empty takes a claim away. */
export type ProfileChanges = Partial<Record<ProfileClaim, string | null>>;

/** Why a profile was not changed, by the claims it is about; nothing of it was. */
export type ProfileProblems = Partial<Record<ProfileClaim, 'not_yours' | 'invalid'>>;

/** The claims a person may edit, with their values: empty where there is none. */
export const profileOf = (
  { config }: Pick<Needs, 'config'>,
  { claims }: Pick<users.User, 'claims'>,
): Array<{ name: ProfileClaim; value: string }> =>
  config.PROFILE_CLAIMS.map((name) => ({ name, value: claims[name] ?? '' }));

/** Changes a profile. Undefined when there is no such account. */
export async function updateProfile(
  { config, db }: Needs,
  sub: string,
  changes: ProfileChanges,
  by: Actor,
  now: Date,
): Promise<users.User | { problems: ProfileProblems } | undefined> {
  return transact(db, async (trx) => {
    const user = await users.findLocked(trx, sub);
    if (!user) return undefined;
    const claims: Record<string, unknown> = { ...user.claims };
    const problems: ProfileProblems = {};
    for (const [name, value] of Object.entries(changes) as Array<[ProfileClaim, string | null]>) {
      const wanted = value?.trim() ?? '';
      // A value of before stays as it is, whatever would be taken today.
      if (wanted === (user.claims[name] ?? '')) continue;
      if (!config.PROFILE_CLAIMS.includes(name)) problems[name] = 'not_yours';
      else if (wanted === '') delete claims[name];
      else if (isValid(name, wanted)) claims[name] = wanted;
      else problems[name] = 'invalid';
      // It was another number that was verified.
      if (name === 'phone_number') delete claims['phone_number_verified'];
    }
    if (Object.keys(problems).length > 0) return { problems };
    return updateAccount(trx, sub, { claims: personClaims.parse(claims) }, by, now);
  });
}

/** By the rules of the admin API; and of languages and time zones those that there are. */
function isValid(name: ProfileClaim, value: string): boolean {
  if (!personClaims.shape[name].safeParse(value).success) return false;
  try {
    // OpenID Connect Core §5.1: a language tag (RFC 5646), and a name of the time zone database.
    if (name === 'locale') Intl.getCanonicalLocales(value);
    if (name === 'zoneinfo') new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}
