/** Passkeys of people: made, used, renamed and removed. What an authenticator has to show is in factors/passkey.ts. */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { postNotice } from '../mail/outbox.ts';
import { newId } from '../protocol/handle.ts';
import { invalidRequest, OAuthError, tooManyRequests } from '../protocol/error.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { blockedUntil, FADES_AFTER, PASSKEY_NETWORK_POLICY } from '../protocol/throttle.ts';
import { creationOptions, readAssertion, readAttestation, type Assertion } from '../protocol/webauthn.ts';
import * as failures from '../store/failures.ts';
import * as store from '../store/passkeys.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import {
  makeChallenge,
  readChallenge,
  refusedPasskey,
  isUnspent,
  spendChallenge,
  staleChallenge,
  UnknownPasskey,
  verifyCreation,
  verifyUse,
  type Answered,
  type ChallengeBinding,
} from './factors/passkey.ts';
import { defaultName } from './passkey-names.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>;

/** Most passkeys that a person has: a browser is told of all of them. */
export const MAX_PASSKEYS = 25;
/** Most characters of a passkey's name. */
export const MAX_NAME = 64;

/** A passkey that was used, and how. */
export interface UsedPasskey {
  passkey: store.PasskeyOf;
  user_verified: boolean;
}

/** What is asked of a passkey that is used. */
export interface Use {
  /** What the browser sent, as JSON. */
  answer: string | undefined;
  challenge: ChallengeBinding;
  user_verification: 'required' | 'preferred';
  /** The person it has to be of, where that is known. */
  sub?: string | undefined;
}

/**
 * Uses a passkey: everything is verified, then one transaction spends the challenge and notes the use.
 * @throws OAuthError invalid_credentials, invalid_request, too_many_requests
 */
export async function usePasskey(deps: Needs, use: Use, by: Requester): Promise<UsedPasskey> {
  const now = deps.clock();
  const [since, lane] = [secondsAfter(now, -FADES_AFTER), `passkey:${by.network}`];
  const lanes = [{ key: lane, policy: PASSKEY_NETWORK_POLICY }];
  const failed = await failures.read(deps.db, [lane], since);
  const until = blockedUntil(failed, lanes, now);
  if (until) {
    throw tooManyRequests('too many failed attempts, wait and try again', {
      retry_after: Math.max(1, secondsUntil(until, now)),
      check: 'sign_in_attempts',
      expected: `a pause until ${until.toISOString()}`,
      received: `passkeys that failed before from this network: ${failed.get(lane)?.count ?? 0}`,
    });
  }
  try {
    const verified = await verifyPasskey(deps, use, by, now);
    await transact(deps.db, async (trx) => {
      if (!(await claimUse(trx, verified, now))) throw staleChallenge('a challenge that was answered before');
    });
    return verified;
  } catch (error) {
    if (error instanceof OAuthError && error.error === 'invalid_credentials') {
      await failures.count(deps.db, [lane], now, since);
    }
    throw error;
  }
}

/** A passkey whose signature is good. It counts once `claimUse` says so. */
export interface VerifiedPasskey extends UsedPasskey {
  sign_count: number;
  backed_up: boolean;
  answered: Answered;
}

/**
 * Verifies all of a use but whether it is the first of its challenge. A count that does not go on is recorded, and told to the person.
 * @throws OAuthError invalid_credentials, invalid_request
 */
export async function verifyPasskey(
  deps: Omit<Needs, 'clock'>,
  { answer, challenge, user_verification, sub }: Use,
  by: Requester,
  now: Date,
): Promise<VerifiedPasskey> {
  const assertion = readAssertion(answer);
  if (!assertion) throw refusedPasskey('nothing that a browser sends of a passkey');
  const answered = readChallenge(deps, assertion.response.clientDataJSON, challenge, now);
  const passkey = await findUsed(deps, assertion);
  const used = await verifyUse(deps, passkey, assertion, answered, { user_verification });
  if (passkey.disabled_at !== null) throw refusedPasskey('a passkey of a disabled account', passkey.sub);
  if (sub !== undefined && sub !== passkey.sub) throw refusedPasskey('the passkey of another account', passkey.sub);
  const verified = { passkey, answered, ...used };
  // Those that do not count send nothing but zeros (§6.1.1).
  const counts = passkey.sign_count > 0 || used.sign_count > 0;
  if (counts && used.sign_count <= passkey.sign_count) await refuseCount(deps, verified, answered, by, now);
  return verified;
}

/** Records that a count went back, once for each challenge, and refuses. */
async function refuseCount(
  deps: Omit<Needs, 'clock'>,
  { passkey: { passkey_id, sub, name, sign_count: stored }, sign_count: received }: VerifiedPasskey,
  answered: Answered,
  by: Requester,
  now: Date,
): Promise<never> {
  return transact(deps.db, async (trx) => {
    await spendChallenge(trx, answered);
    await record(trx, { event: 'passkey_count_went_back', sub, detail: { passkey_id, stored, received } }, by, now);
    await postNotice(trx, deps, { sub, notice: 'passkey_suspected', name }, now);
    throw new OAuthError('invalid_credentials', 'the passkey could not be verified', {
      check: 'passkey_count',
      expected: `a count beyond ${stored}`,
      received: String(received),
      sub,
    });
  });
}

/**
 * Spends the challenge and notes the use. False when the challenge was spent before, the passkey is gone, or a later use was noted
 * meanwhile: nothing that depends on it may stand then.
 */
export async function claimUse(trx: Trx, verified: VerifiedPasskey, now: Date): Promise<boolean> {
  const { passkey, sign_count, backed_up, answered } = verified;
  const { credential_id, sub } = passkey;
  return (await isUnspent(trx, answered)) && store.use(trx, { credential_id, sub, sign_count, backed_up }, now);
}

/** The passkey that an assertion names, whose handle it has to tell if it tells one (§7.2). */
async function findUsed({ db }: Pick<Needs, 'db'>, { id, response }: Assertion): Promise<store.PasskeyOf> {
  const handle = response.userHandle ? Buffer.from(response.userHandle, 'base64url') : undefined;
  const passkey = await store.findWithPerson(db, Buffer.from(id, 'base64url'));
  if (!passkey) throw new UnknownPasskey(id, handle !== undefined && (await store.isUserHandle(db, handle)));
  if (handle && !handle.equals(passkey.user_handle)) {
    throw refusedPasskey('the handle of another person than the passkey is of', passkey.sub);
  }
  return passkey;
}

/**
 * What a page needs that makes a passkey: what the browser is asked for, the passkeys there are, and what those who keep them may be
 * told of them.
 */
export async function readyToCreate(
  deps: Omit<Needs, 'clock'>,
  user: users.User,
  challenge: ChallengeBinding,
  now: Date,
) {
  const handle = await store.userHandle(deps.db, user.sub, deps.random(32));
  const passkeys = await store.allOf(deps.db, user.sub);
  const options = askedToCreate(deps, { user, handle, passkeys }, challenge, now);
  const ids = passkeys.map(({ credential_id }) => credential_id.toString('base64url'));
  const { id: userId, name, displayName } = options.user;
  const known = { rpId: options.rp.id, userId, ids, name, displayName };
  return { options, passkeys, known };
}

/** What a browser is asked for that makes a passkey. This writes nothing. */
export function askedToCreate(
  deps: Omit<Needs, 'clock' | 'db'>,
  { user, handle, passkeys }: { user: users.User; handle: Buffer; passkeys: readonly store.Passkey[] },
  challenge: ChallengeBinding,
  now: Date,
) {
  const { claims, email, username } = user;
  const display_name = typeof claims['name'] === 'string' ? claims['name'] : username;
  const person = { handle, name: email ?? username, display_name };
  return creationOptions(deps.config.ISSUER, makeChallenge(deps, challenge, now), person, passkeys);
}

/** What is asked for a new passkey. */
export interface Creation {
  sub: string;
  /** What the browser sent, as JSON. */
  answer: string | undefined;
  challenge: ChallengeBinding;
  /** What the person calls it; empty for a name that says what it is. */
  name: string;
  /** Holds the account, if its person may still have one made: first in the transaction. Undefined where it is gone. */
  hold(trx: Trx): Promise<users.User | undefined>;
}

/**
 * Registers a new passkey. @throws OAuthError invalid_credentials, invalid_request: also where the authenticator's credential is
 * registered already, whosever it is
 */
export async function createPasskey(
  deps: Omit<Needs, 'clock'>,
  creation: Creation,
  by: Requester,
  now: Date,
): Promise<store.Passkey> {
  const made = await verifyNewPasskey(deps, creation, now);
  return transact(deps.db, async (trx) => {
    if (!(await creation.hold(trx))) throw refusedPasskey('an account that is gone', creation.sub);
    return keepNewPasskey(trx, deps, creation, made, by, now);
  });
}

/** A new passkey that was verified, and the challenge it answered. */
export interface NewPasskey {
  made: Awaited<ReturnType<typeof verifyCreation>>;
  answered: Answered;
}

/** Verifies all of a new passkey but whether it is the first answer to its challenge. @throws OAuthError */
export async function verifyNewPasskey(
  deps: Omit<Needs, 'clock'>,
  { sub, answer, challenge }: Omit<Creation, 'hold'>,
  now: Date,
): Promise<NewPasskey> {
  const attestation = readAttestation(answer);
  if (!attestation) throw refusedPasskey('nothing that a browser sends of a new passkey', sub);
  const answered = readChallenge(deps, attestation.response.clientDataJSON, challenge, now);
  return { made: await verifyCreation(deps, attestation, answered), answered };
}

/** Keeps a passkey that was verified, once for its challenge. The account is held, so one after the other. @throws OAuthError */
export async function keepNewPasskey(
  trx: Trx,
  deps: Omit<Needs, 'clock' | 'db'>,
  { sub, name }: Pick<Creation, 'sub' | 'name'>,
  { made, answered }: NewPasskey,
  by: Requester,
  now: Date,
): Promise<store.Passkey> {
  await spendChallenge(trx, answered);
  const present = await store.allOf(trx, sub);
  if (present.length >= MAX_PASSKEYS) {
    throw invalidRequest(`an account has at most ${MAX_PASSKEYS} passkeys`, { check: 'passkey', sub });
  }
  const passkey = {
    ...made,
    sub,
    passkey_id: newId(deps.random, 9),
    name: nameOf(name) || defaultName(made, present),
    created_at: now,
    last_used_at: null,
  };
  if (!(await store.insert(trx, passkey))) throw refusedPasskey('a credential that is registered already', sub);
  const { passkey_id, aaguid } = passkey;
  await record(trx, { event: 'passkey_created', sub, detail: { passkey_id, aaguid } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'passkey_added', name: passkey.name }, now);
  return passkey;
}

/** A name as it is kept: one line, without what cannot be seen. */
const nameOf = (name: string): string =>
  [...name.replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ').trim()].slice(0, MAX_NAME).join('');

/** Renames a passkey. False when the person has none of that id, or the name is empty. */
async function renamePasskey(
  trx: Trx,
  sub: string,
  passkey_id: string,
  name: string,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const kept = nameOf(name);
  if (kept === '' || !(await store.rename(trx, sub, passkey_id, kept))) return false;
  await record(trx, { event: 'passkey_renamed', sub, detail: { passkey_id } }, by, now);
  return true;
}

/** Renames a passkey for its person. */
export async function nameOwnPasskey(
  { db }: Pick<Needs, 'db'>,
  sub: string,
  passkey_id: string,
  name: string,
  by: Actor,
  now: Date,
): Promise<'renamed' | 'gone' | 'no_name'> {
  if (nameOf(name) === '') return 'no_name';
  const renamed = await transact(db, (trx) => renamePasskey(trx, sub, passkey_id, name, by, now));
  return renamed ? 'renamed' : 'gone';
}

/** Removes a passkey. False when the person has none of that id. What ends with it is the caller's to say. */
export async function removePasskey(
  trx: Trx,
  deps: Omit<Needs, 'clock' | 'db'>,
  sub: string,
  passkey_id: string,
  by: Actor,
  now: Date,
): Promise<boolean> {
  if (!(await users.findLocked(trx, sub))) return false;
  const removed = await store.remove(trx, sub, passkey_id);
  if (!removed) return false;
  await record(trx, { event: 'passkey_deleted', sub, detail: { passkey_id } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'passkey_removed', name: removed.name }, now);
  return true;
}
