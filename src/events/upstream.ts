/** What happens with providers that people sign in with. */
import type { Change } from './change.ts';

/** Events of providers, and of the accounts that are connected with somebody there. */
export type UpstreamEvent =
  | { event: 'upstream_changed'; detail: { name: string; client_secret_changed?: boolean } & Change }
  | { event: 'upstream_deleted'; detail: { name: string } & Change }
  | { event: 'upstream_linked'; sub: string; detail: { upstream: string; registered: boolean } }
  | { event: 'upstream_unlinked'; sub: string; detail: { upstream: string } }
  | { event: 'upstream_signed_out'; sub: string | null; detail: { upstream: string; sessions_ended: number } };
