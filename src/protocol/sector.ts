/** Pairwise subjects (OpenID Connect Core §8.1): which clients are told the same `sub` of a person. */
import { isLoopbackHost, isWebUri, type ApplicationType } from './redirect-uri.ts';

export const SUBJECT_TYPES = ['public', 'pairwise'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

/** What of a client decides its sector. */
export interface SectorOf {
  subject_type: SubjectType;
  sector_identifier_uri?: string | null | undefined;
  redirect_uris: readonly string[];
}

/** The sector of a client: a host; undefined when it is told the public subject. */
export function sectorOf({ subject_type, sector_identifier_uri, redirect_uris }: SectorOf): string | undefined {
  if (subject_type === 'public') return undefined;
  return new URL(sector_identifier_uri ?? redirect_uris[0]!).hostname;
}

/** Why the redirect URIs alone do not name a sector, or undefined when they do. */
export function sectorProblem(redirect_uris: readonly string[], application_type: ApplicationType): string | undefined {
  const hosts = new Set(redirect_uris.map((uri) => (isWebUri(uri) ? new URL(uri).hostname : '')));
  if (hosts.size !== 1 || hosts.has('')) return 'is needed: the redirect URIs are not all at one host';
  // Every native application is at 127.0.0.1: they would all be told the same.
  const [host] = [...hosts] as [string];
  return application_type === 'native' && isLoopbackHost(host)
    ? 'is needed: a loopback host is nobody’s own'
    : undefined;
}
