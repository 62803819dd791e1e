/** Sign-in by a passkey alone: what it proves, as `signIn` says it of a password. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { keyMethod } from '../protocol/webauthn.ts';
import { knownDevices } from './device.ts';
import type { ChallengeBinding } from './factors/passkey.ts';
import { usePasskey } from './passkeys.ts';
import type { SignedIn } from './sign-in.ts';

export interface PasskeyCredentials {
  /** What the browser sent of a passkey, as JSON. */
  passkey: string | undefined;
  challenge: ChallengeBinding;
  /** The person it has to be, where somebody confirms that it is them. */
  sub?: string | undefined;
  /** The device cookie, if the browser has one. */
  device: string | undefined;
}

/**
 * Signs in by a passkey that made sure who used it. Names and passwords are not asked for, so that nothing that was guessed for an
 * account slows its person down. @throws OAuthError as `usePasskey` does
 */
export async function signInByPasskey(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>,
  { passkey: answer, challenge, sub, device }: PasskeyCredentials,
  by: Requester,
): Promise<SignedIn> {
  const { passkey } = await usePasskey(deps, { answer, challenge, sub, user_verification: 'required' }, by);
  const amr = [keyMethod(passkey), 'user'];
  return {
    sub: passkey.sub,
    username: passkey.username,
    amr,
    acr: levelOf(amr),
    password_changed_at: null,
    credential_id: passkey.credential_id,
    second_factors: ['passkey'],
    device: knownDevices(deps.secrets, deps.random, device, passkey, deps.clock()),
  };
}
