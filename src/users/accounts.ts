/** Accounts: made, changed, disabled and removed, with everything that hangs off them. */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import type { PersonClaims } from '../protocol/claims.ts';
import { foldName, lowerName } from '../protocol/names.ts';
import { conflict, invalid, type WriteError } from '../protocol/write-error.ts';
import { transact, uniqueViolation, type Trx } from '../store/postgres/db.ts';
import { newId } from '../protocol/handle.ts';
import * as users from '../store/users.ts';
import { postNotice } from '../mail/outbox.ts';
import { voidLinks } from './links.ts';
import { endAll } from './access.ts';
import { describeChanges } from './changes.ts';
import { problemOf, verdictOn, type PasswordContext } from './factors/verdict.ts';

type Needs = Pick<Deps, 'random' | 'passwords' | 'config'>;

/** What it takes to tell people what happened to their account. */
type MailNeeds = Pick<Deps, 'config' | 'secrets' | 'random'>;

export interface NewAccount {
  username: string;
  email?: string | undefined;
  email_verified?: boolean | undefined;
  claims?: PersonClaims | undefined;
  password?: string | undefined;
  disabled?: boolean | undefined;
  /** Given by tests and migrations; drawn otherwise. */
  sub?: string | undefined;
}

// No spaces, controls or @: a name is typed by people and never mistaken for an address. Nothing that cannot be seen
// either: \p{C} and \p{DI} hold the zero-width ones and the fillers.
const USERNAME = /^[^\s@\p{C}\p{Z}\p{DI}]{1,128}$/u;
const EMAIL = /^[^\s@\p{C}\p{Z}\p{DI}]{1,64}@[^\s@\p{C}\p{Z}\p{DI}]{1,255}$/u;
// Scripts whose letters pass for each other's: a name keeps to one of them.
const LOOKALIKES = [/\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u, /\p{Script=Armenian}/u];

// OpenID Connect Core §2: at most 255 ASCII characters.
const SUB = /^[\x21-\x7E]{1,255}$/;
/** Is it a subject identifier that an account may have? */
export const isSub = (text: string): boolean => SUB.test(text);

/** Creates an account. @throws WriteError */
export async function createAccount(
  deps: Needs & Pick<Deps, 'db'>,
  account: NewAccount,
  by: Actor,
  now: Date,
): Promise<users.User> {
  const { password } = account;
  const phc = password === undefined ? undefined : await hashNewPassword(deps, password, account);
  return transact(deps.db, (trx) => insertAccount(trx, deps, account, phc, by, now));
}

/** Writes an account whose password is hashed already. @throws WriteError */
export async function insertAccount(
  trx: Trx,
  { random }: Pick<Deps, 'random'>,
  account: Omit<NewAccount, 'password'>,
  phc: string | undefined,
  by: Actor,
  now: Date,
): Promise<users.User> {
  const { username, email, claims = {}, disabled = false } = account;
  const names = checkNames({ username, email });
  if (account.sub !== undefined && !isSub(account.sub)) {
    throw invalid('sub must be 1 to 255 visible ASCII characters');
  }
  const user = {
    // 22 characters, 132 bits: never reused, never an address, says nothing of the person.
    sub: account.sub ?? newId(random, 17).slice(0, 22),
    ...names,
    email_verified: account.email_verified ?? false,
    claims,
    disabled_at: disabled ? now : null,
    devices_reset_at: null,
    erase_after: null,
    created_at: now,
    updated_at: now,
  };
  await naming(async () => {
    await refuseTakenName(trx, user.sub, user);
    if (!(await users.insert(trx, user))) throw conflict(`the sub ${user.sub} was given out before`);
    if (phc !== undefined) await users.setPassword(trx, user.sub, phc, now);
    await record(trx, { event: 'user_created', sub: user.sub }, by, now);
  });
  return user;
}

export type AccountChanges = Partial<Pick<NewAccount, 'username' | 'email_verified' | 'claims' | 'disabled'>> & {
  email?: string | null;
};

/**
 * Changes what is named. A new address is not verified unless that is said too; whoever is disabled loses sessions and
 * grants. Undefined when there is no such account. @throws WriteError
 */
export async function updateAccount(
  trx: Trx,
  sub: string,
  changes: AccountChanges,
  by: Actor,
  now: Date,
): Promise<users.User | undefined> {
  return naming(async () => {
    const present = await users.findLocked(trx, sub);
    if (!present) return undefined;
    const next = changed(present, changes, now);
    const after = { ...next, ...(await refold(trx, present, next, changes)) };
    const detail = describeChanges(present, after);
    const { sub: _sub, created_at: _created_at, claims, ...columns } = after;
    await users.update(trx, sub, { ...columns, claims: JSON.stringify(claims) });
    if (Object.keys(detail.after).length > 0 || detail.claims.length > 0) {
      await record(trx, { event: 'user_updated', sub, detail }, by, now);
    }
    const disabled = after.disabled_at !== null;
    if (disabled !== (present.disabled_at !== null)) await becomeDisabled(trx, sub, disabled, by, now);
    return after;
  });
}

function changed(present: users.User, { username, email, email_verified, ...changes }: AccountChanges, now: Date) {
  const { claims = present.claims, disabled = present.disabled_at !== null } = changes;
  const names = checkNames({
    username: username ?? present.username,
    email: email === undefined ? present.email : email,
  });
  return {
    ...present,
    ...names,
    email_verified: email_verified ?? (names.email === present.email && present.email_verified),
    claims,
    disabled_at: disabled ? (present.disabled_at ?? now) : null,
    updated_at: now,
  };
}

/** The folded forms of what an account is to be called. @throws WriteError when another has it */
async function refold(
  trx: Trx,
  present: users.User,
  next: users.User,
  changes: AccountChanges,
): Promise<users.FoldedNames> {
  const { username_folded, username_casefold, email_folded, email_casefold } = next;
  const names = { username_folded, username_casefold, email_folded, email_casefold };
  await refuseTakenName(trx, present.sub, {
    ...names,
    ...(next.username === present.username && { username_casefold: null }),
    ...(next.email === present.email && { email_casefold: null }),
  });
  for (const kind of ['username', 'email'] as const) {
    const column = `${kind}_casefold` as const;
    const folded = names[column];
    if (folded === null) continue;
    if (next[kind] !== present[kind]) {
      // The same folding of another name: that of before goes first, or it would pass for a name changed by an older server.
      if (folded === present[column]) await users.update(trx, present.sub, { [column]: null });
    } else if (present[column] === null) {
      // A name from before. Another account may have it by now, and keeps it.
      const holder = changes[kind] === undefined ? undefined : await users.findByName(trx, folded);
      if (changes[kind] === undefined || (holder && holder.sub !== present.sub)) names[column] = null;
    }
  }
  return names;
}

/** Names of before full folding are in no index of theirs: where folding changes a name, they are looked for. */
async function refuseTakenName(trx: Trx, sub: string, names: users.FoldedNames): Promise<void> {
  const differs = (folded: string | null, lower: string | null): string | null => (folded === lower ? null : folded);
  const username_casefold = differs(names.username_casefold, names.username_folded);
  const email_casefold = differs(names.email_casefold, names.email_folded);
  if (username_casefold === null && email_casefold === null) return;
  const [name] = await users.findTakenNames(trx, sub, { ...names, username_casefold, email_casefold });
  if (name !== undefined) throw taken(name);
}

/** Hashes a password that somebody chose for this account, if it may be set: slow, so before any transaction. @throws WriteError */
export async function hashNewPassword(
  deps: Pick<Needs, 'passwords' | 'config'>,
  password: string,
  person: PasswordContext,
): Promise<string> {
  const problem = problemOf(await verdictOn(deps, password, person));
  if (problem !== undefined) throw invalid(`the password ${problem}`);
  return hashPassword(deps, password);
}

/** Hashes a password that is not judged: one that was drawn, or judged already. */
export const hashPassword = ({ passwords }: Pick<Needs, 'passwords'>, password: string): Promise<string> =>
  passwords.turn(() => passwords.hash(password));

/** A password that nobody chose and nobody guesses: 144 bits. */
export const drawPassword = ({ random }: Pick<Deps, 'random'>): string => random(18).toString('base64url');

/** Sets a password and ends every session and grant made under the old one. False when there is no such account. */
export async function setPassword(
  deps: Needs & Pick<Deps, 'db' | 'secrets'>,
  sub: string,
  password: string,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const present = await users.find(deps.db, sub);
  if (!present) return false;
  const phc = await hashNewPassword(deps, password, present);
  return transact(deps.db, (trx) => storePassword(trx, deps, sub, phc, by, now));
}

/** The same, with a password that is hashed already. `drawn`: it is for a first sign-in (drawn-password.ts). */
export async function storePassword(
  trx: Trx,
  deps: MailNeeds,
  sub: string,
  phc: string,
  by: Actor,
  now: Date,
  { drawn = false }: { drawn?: boolean } = {},
): Promise<boolean> {
  if (!(await users.findLocked(trx, sub))) return false;
  await users.setPassword(trx, sub, phc, now, { drawn });
  await endAll(trx, sub, 'password_change', now);
  await voidLinks(trx, sub, now, ['reset-password', 'invitation']);
  await record(trx, { event: 'password_changed', sub }, by, now);
  await postNotice(trx, deps, { sub, notice: 'password_changed' }, now);
  return true;
}

/** Takes the password away, and ends every session and grant. False when there was none. */
export async function removePassword(trx: Trx, deps: MailNeeds, sub: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await users.findLocked(trx, sub)) || !(await users.removePassword(trx, sub))) return false;
  await endAll(trx, sub, 'password_deleted', now);
  await record(trx, { event: 'password_deleted', sub }, by, now);
  await postNotice(trx, deps, { sub, notice: 'password_removed' }, now);
  return true;
}

/** Disables an account, its sessions and its grants at once; or lets it sign in again. */
export async function setDisabled(trx: Trx, sub: string, disabled: boolean, by: Actor, now: Date): Promise<boolean> {
  if (!(await users.update(trx, sub, { disabled_at: disabled ? now : null, updated_at: now }))) return false;
  await becomeDisabled(trx, sub, disabled, by, now);
  return true;
}

/** What follows once an account is written down as disabled, or as enabled again: nothing of the former goes on. */
async function becomeDisabled(trx: Trx, sub: string, disabled: boolean, by: Actor, now: Date): Promise<void> {
  if (disabled) await endAll(trx, sub, 'user_disabled', now);
  await record(trx, { event: disabled ? 'user_disabled' : 'user_enabled', sub }, by, now);
}

/** Deletes an account and ends what hangs off it. Its `sub` is never given out again. */
export async function removeAccount(trx: Trx, sub: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await users.remove(trx, sub))) return false;
  await endAll(trx, sub, 'user_deleted', now);
  await record(trx, { event: 'user_deleted', sub }, by, now);
  return true;
}

/** An account as it is shown: never how its names are folded, and nothing of its credentials. */
export const describeAccount = ({ sub, username, email, email_verified, claims, ...user }: users.User) => ({
  sub,
  username,
  email,
  email_verified,
  claims,
  disabled: user.disabled_at !== null,
  created_at: user.created_at,
  updated_at: user.updated_at,
});

/** The names of an account, and their folded forms. @throws WriteError */
export function checkNames({
  username,
  email = null,
}: {
  username: string;
  email?: string | null | undefined;
}): Pick<users.User, 'username' | 'email'> & users.FoldedNames {
  // The folded forms too: compatibility characters can unfold to a space or an @.
  const [username_casefold, username_folded] = [foldName(username), lowerName(username)];
  const [email_casefold, email_folded] = email === null ? [null, null] : [foldName(email), lowerName(email)];
  if (!USERNAME.test(username) || !USERNAME.test(username_folded)) {
    throw invalid('username must be 1 to 128 visible characters without spaces or @');
  }
  if (LOOKALIKES.filter((script) => script.test(username_folded)).length > 1) {
    throw invalid('username must not mix letters of scripts that look alike');
  }
  if (email !== null && !isAddress(email)) {
    throw invalid('email is not an e-mail address');
  }
  return { username, username_folded, username_casefold, email, email_folded, email_casefold };
}

/** Is it an e-mail address, as accounts have them? In its folded form too. */
export const isAddress = (email: string): boolean => EMAIL.test(email) && EMAIL.test(lowerName(email));

async function naming<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const constraint = uniqueViolation(error);
    if (constraint === undefined) throw error;
    throw taken(constraint.includes('email') ? 'email' : 'username');
  }
}

const taken = (kind: 'username' | 'email'): WriteError =>
  conflict(`the ${kind === 'email' ? 'e-mail address' : 'username'} is taken`);
