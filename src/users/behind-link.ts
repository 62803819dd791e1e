/** Whose password is chosen behind the link of a mail: for the meter, which says what the form will say. */
import type { Deps } from '../deps.ts';
import type { PasswordContext } from './factors/verdict.ts';
import { openInvitation } from './invitations.ts';
import { openRegistration } from './registration.ts';
import { openReset } from './recovery.ts';
import { openVerification } from './verification.ts';

const NO_BROWSER = Buffer.alloc(0);

/** Undefined for a link that is not good any more, or never was. Looking changes nothing. */
export async function personBehind(
  deps: Pick<Deps, 'db' | 'secrets'>,
  token: string,
  now: Date,
): Promise<PasswordContext | undefined> {
  const user =
    (await openReset(deps, token, now)) ??
    (await openInvitation(deps, token, now)) ??
    (await openVerification(deps, token, now));
  if (user) return user;
  const opened = await openRegistration(deps, token, NO_BROWSER, now);
  if (!opened) return undefined;
  const { email, name } = opened.waiting.typed;
  return { email, claims: { name } };
}
