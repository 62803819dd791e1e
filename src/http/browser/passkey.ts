/** Passkeys on sign-in pages: what the browser is asked for, and the credentials that its form brings. */
import type { Deps } from '../../deps.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import { requestOptions } from '../../protocol/webauthn.ts';
import * as passkeys from '../../store/passkeys.ts';
import { makeChallenge, UnknownPasskey, type ChallengeBinding } from '../../users/factors/passkey.ts';
import type { PasskeyCredentials } from '../../users/passkey-sign-in.ts';
import type { PasskeyFormProps } from '../../views/passkey.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>;

/** Does the form bring what a browser answered about a passkey? */
export const bringsPasskey = (form: Parameters): boolean => textOf(form, 'action') === 'passkey';

/**
 * What a sign-in page has for passkeys: any, or those of the person who confirms that it is them; undefined where they have none.
 * Whose name was typed or hinted at makes no difference: a list of theirs would tell who has an account.
 */
export async function passkeyProps(
  deps: Needs,
  binding: ChallengeBinding,
  confirms: { sub: string } | undefined,
  refusal?: unknown,
): Promise<Pick<PasskeyFormProps, 'options' | 'forget'> | undefined> {
  const theirs = confirms && (await passkeys.allOf(deps.db, confirms.sub));
  if (theirs?.length === 0) return undefined;
  const challenge = makeChallenge(deps, binding, deps.clock());
  return {
    options: JSON.stringify(requestOptions(deps.config.ISSUER, challenge, 'required', theirs)),
    forget: refusal instanceof UnknownPasskey ? refusal.forget : undefined,
  };
}

/** The credentials that the form of a sign-in page brings. */
export const passkeyCredentials = (
  form: Parameters,
  challenge: ChallengeBinding,
  confirms: { sub: string } | undefined,
  device: string | undefined,
): PasskeyCredentials => ({ passkey: textOf(form, 'passkey'), challenge, sub: confirms?.sub, device });

/** What a browser is asked for as a second factor: the passkeys of whoever showed the first. Undefined where they have none. */
export async function passkeysAsked(
  deps: Needs,
  { sub, second_factors }: { sub: string; second_factors: readonly string[] },
  [page, browser]: readonly [page: string, browser: string],
): Promise<string | undefined> {
  if (!second_factors.includes('passkey')) return undefined;
  const challenge = makeChallenge(deps, ['second-factor', browser, page], deps.clock());
  const theirs = await passkeys.allOf(deps.db, sub);
  return JSON.stringify(requestOptions(deps.config.ISSUER, challenge, 'preferred', theirs));
}
