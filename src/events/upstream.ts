/** What happens with providers that people sign in with. */
import type { Change } from './change.ts';

/** Events of providers, and of the accounts that are connected with them. */
export type UpstreamEvent =
  | { event: 'upstream_changed'; detail: { name: string; client_secret_changed?: boolean } & Change }
  | { event: 'upstream_deleted'; detail: { name: string } & Change };
