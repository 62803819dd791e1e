/** What happened to types of authorization details (RFC 9396). */
import type { Change } from './change.ts';

export type DetailsEvent = {
  event: 'authorization_type_changed' | 'authorization_type_deleted';
  detail: { name: string } & Change;
};
