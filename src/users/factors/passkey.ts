/**
 * Passkeys (WebAuthn): challenges, and the verification of what an authenticator signed. A challenge is not stored: it is
 * authenticated, and what it is spent by is an entry among the identifiers that were seen, so that a page which is only looked
 * at writes nothing.
 */
import type { Deps } from '../../deps.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { numericDate } from '../../protocol/numeric-date.ts';
import {
  ALGORITHMS,
  readClientData,
  relyingPartyOf,
  type Assertion,
  type Attestation,
} from '../../protocol/webauthn.ts';
import type { Trx } from '../../store/postgres/db.ts';
import type { Passkey } from '../../store/passkeys.ts';
import * as replays from '../../store/replays.ts';

type Needs = Pick<Deps, 'config' | 'secrets'>;

/** What a challenge is good for, in which browser, and on which page: an interaction's id, or a session's. */
export type ChallengeBinding = readonly [purpose: ChallengePurpose, browser: string, subject: string];
type ChallengePurpose = 'sign-in' | 'second-factor' | 'create';

/** Seconds from the page to the answer: time to look for a key, or to unlock another device. */
const CHALLENGE_TTL = 600;

const NONCE_BYTES = 16;
const TIME_BYTES = 6;

/** A challenge (§13.4.3): random, and good for this binding alone, once, for ten minutes. */
export function makeChallenge(
  { secrets, random }: Pick<Deps, 'secrets' | 'random'>,
  binding: ChallengeBinding,
  now: Date,
): string {
  const head = Buffer.concat([random(NONCE_BYTES), timeBytes(numericDate(now) + CHALLENGE_TTL)]);
  return Buffer.concat([head, secrets.mac('challenge', [head, ...binding])]).toString('base64url');
}

function timeBytes(seconds: number): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeUIntBE(seconds, 0, TIME_BYTES);
  return bytes;
}

/** When a challenge of ours expires; undefined when it is none of this binding. */
function expiryOf({ secrets }: Pick<Needs, 'secrets'>, challenge: string, binding: ChallengeBinding): Date | undefined {
  const all = Buffer.from(challenge, 'base64url');
  const head = all.subarray(0, NONCE_BYTES + TIME_BYTES);
  const mac = all.subarray(head.length);
  if (head.length < NONCE_BYTES + TIME_BYTES) return undefined;
  if (all.toString('base64url') !== challenge || !secrets.verifyMac('challenge', [head, ...binding], mac)) {
    return undefined;
  }
  return new Date(head.readUIntBE(NONCE_BYTES, TIME_BYTES) * 1000);
}

/** A challenge that was answered in time and on its own page. It is spent once what was signed with it is believed. */
export interface Answered {
  challenge: string;
  expires_at: Date;
}

/** @throws OAuthError when it is another page's, another browser's, or too late */
export function readChallenge(deps: Needs, clientDataJSON: string, binding: ChallengeBinding, now: Date): Answered {
  const data = readClientData(clientDataJSON);
  if (!data) throw refusedPasskey('client data that cannot be read');
  // A page of ours is in no frame; that somebody else's framed it is not for the library to allow.
  if (data.crossOrigin === true) throw refusedPasskey('an answer from within a frame of another site');
  const expires_at = expiryOf(deps, data.challenge, binding);
  if (!expires_at) throw staleChallenge('a challenge of another page, another browser, or none of ours');
  if (expires_at <= now) throw staleChallenge(`a challenge that expired at ${expires_at.toISOString()}`);
  return { challenge: data.challenge, expires_at };
}

/** Spends a challenge. False when it was spent before. */
export const isUnspent = (trx: Trx, { challenge, expires_at }: Answered): Promise<boolean> =>
  replays.claim(trx, `passkey:${challenge}`, expires_at);

/** Spends a challenge. @throws OAuthError when it was spent before */
export async function spendChallenge(trx: Trx, answered: Answered): Promise<void> {
  if (!(await isUnspent(trx, answered))) {
    throw staleChallenge('a challenge that was answered before');
  }
}

export const staleChallenge = (received: string): OAuthError =>
  invalidRequest('this took too long, or was sent twice: try again', {
    check: 'passkey_challenge',
    expected: 'an unspent challenge of this page, in the browser that was shown it',
    received,
  });

/** What an authenticator sent is not what it has to be. What exactly is for operators. */
export const refusedPasskey = (received: string, sub?: string): OAuthError =>
  new OAuthError('invalid_credentials', 'the passkey could not be verified', { check: 'passkey', received, sub });

/**
 * A passkey that is not registered here, or not any more. Where its person is one of ours the browser may be told to forget it: other
 * servers at this host share its name, and their passkeys are none of our business.
 */
export class UnknownPasskey extends OAuthError {
  readonly forget: string | undefined;
  constructor(credential_id: string, isOurs: boolean) {
    super('invalid_credentials', 'the passkey is not known here', {
      check: 'passkey_unknown',
      received: isOurs ? 'a passkey that was removed' : 'a passkey that was never registered here',
    });
    this.forget = isOurs ? credential_id : undefined;
  }
}

/** What a used passkey says of itself. */
export interface VerifiedUse {
  sign_count: number;
  backed_up: boolean;
  user_verified: boolean;
}

/** Checks an assertion against the passkey it names (§7.2), all but its count. @throws OAuthError */
export async function verifyUse(
  { config }: Pick<Needs, 'config'>,
  passkey: Passkey,
  assertion: Assertion,
  { challenge }: Answered,
  { user_verification }: { user_verification: 'required' | 'preferred' },
): Promise<VerifiedUse> {
  const { rp_id, origin } = relyingPartyOf(config.ISSUER);
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { verified, authenticationInfo } = await judged(passkey.sub, () =>
    verifyAuthenticationResponse({
      response: assertion as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rp_id,
      requireUserVerification: user_verification === 'required',
      // Its count is judged by the statement that writes it, once the signature is known to be good.
      credential: { id: assertion.id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    }),
  );
  if (!verified) throw refusedPasskey('a signature by another key', passkey.sub);
  // §7.2: whether it can be synchronised is a property of the key, and never changes.
  if ((authenticationInfo.credentialDeviceType === 'multiDevice') !== passkey.backup_eligible) {
    throw refusedPasskey('another backup eligibility than when it was made', passkey.sub);
  }
  return {
    sign_count: authenticationInfo.newCounter,
    backed_up: authenticationInfo.credentialBackedUp,
    user_verified: authenticationInfo.userVerified,
  };
}

/** Checks a new passkey (§7.1). @throws OAuthError */
export async function verifyCreation(
  { config }: Pick<Needs, 'config'>,
  { id, rawId, type, response }: Attestation,
  { challenge }: Answered,
): Promise<Omit<Passkey, 'passkey_id' | 'sub' | 'name' | 'created_at' | 'last_used_at'>> {
  const { rp_id, origin } = relyingPartyOf(config.ISSUER);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const withoutStatement = await statementRemover();
  const { verified, registrationInfo } = await judged(undefined, async () => {
    const attestationObject = withoutStatement(response.attestationObject);
    return verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { ...response, attestationObject },
      } as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rp_id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
  });
  if (!verified) throw refusedPasskey('an attestation that does not hold');
  const { credential, aaguid, credentialDeviceType, credentialBackedUp, userVerified } = registrationInfo;
  if (credential.id !== id) throw refusedPasskey('a credential of another id');
  return {
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    sign_count: credential.counter,
    backup_eligible: credentialDeviceType === 'multiDevice',
    backed_up: credentialBackedUp,
    user_verified: userVerified,
    aaguid,
    transports: [...new Set(response.transports ?? [])],
  };
}

/**
 * Makes the same attestation object without the statement by its maker. None is asked for, and to judge one that comes anyway means
 * to fetch what its certificates name.
 */
async function statementRemover(): Promise<(attestationObject: string) => string> {
  const { decodeAttestationObject, isoCBOR } = await import('@simplewebauthn/server/helpers');
  return (attestationObject) => {
    const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'));
    const parts = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', decodeAttestationObject(bytes).get('authData')],
    ]);
    return Buffer.from(isoCBOR.encode(parts as Parameters<typeof isoCBOR.encode>[0])).toString('base64url');
  };
}

/** The library throws what it does not like, and what it cannot read: both are the sender's. */
async function judged<T>(sub: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusedPasskey(error instanceof Error ? error.message.slice(0, 200) : 'what cannot be read', sub);
  }
}
