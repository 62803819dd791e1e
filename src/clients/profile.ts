/** Whether a client keeps to its profile today: rules and settings may have changed since it was registered. */
import type { Deps } from '../deps.ts';
import { unauthorizedClient } from '../protocol/error.ts';
import { deviationsFrom, profileOf, type Deviation } from '../protocol/profile.ts';
import type { Client } from '../store/clients.ts';

const judged = new WeakMap<Client, Deviation | null>();

/**
 * Refuses a client that is registered against the profile that counts for it. Whoever asks for a client asks this as well.
 * @throws OAuthError unauthorized_client
 */
export function requireProfile({ config }: Pick<Deps, 'config'>, client: Client): void {
  const profile = profileOf(config.PROFILE, client);
  if (profile === null) return;
  let first = judged.get(client);
  if (first === undefined) judged.set(client, (first = deviationsFrom(profile, client)[0] ?? null));
  if (first === null) return;
  throw unauthorizedClient('the client is not registered as its profile wants', {
    check: 'client_profile',
    expected: `${first.problem} (${first.clause}): postern clients update ${client.client_id} ${first.mend}`,
    received: `${first.member} of profile ${profile}`,
    client_id: client.client_id,
  });
}
