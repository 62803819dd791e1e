/** Pairwise subjects (OpenID Connect Core §8.1): which clients see the same `sub` of a person. */
import { isLoopbackHost, isWebUri, type ApplicationType } from './redirect-uri.ts';

export const SUBJECT_TYPES = ['public', 'pairwise'] as const;
type SubjectType = (typeof SUBJECT_TYPES)[number];

/** What of a client decides its sector. */
export interface SectorOf {
  subject_type: SubjectType;
  sector_identifier_uri?: string | null | undefined;
  redirect_uris: readonly string[];
}

/** The sector of all clients with public subjects: no host is empty. */
export const PUBLIC_SECTOR = '';

/** The sector of a client as it is registered now: a host, or the public one. */
export function sectorOf({ subject_type, sector_identifier_uri, redirect_uris }: SectorOf): string {
  if (subject_type === 'public') return PUBLIC_SECTOR;
  return new URL(sector_identifier_uri ?? redirect_uris[0]!).hostname;
}

/** The sector in which something was granted: as it was then, and of what was granted before that was noted, as it is now. */
export const sectorOfGrant = (granted: { sector: string | null }, client: SectorOf): string =>
  granted.sector ?? sectorOf(client);

/** What of a client decides what is told at its back-channel address. */
interface BackchannelOf extends SectorOf {
  registered_by: 'operator' | 'self';
  backchannel_logout_uri: string | null;
}

/**
 * Why a client is not told there that a session ended, with a `sub` of the sector of the grant; undefined when it is. Where it
 * registered itself, the address has to be at a host of its sector, since nobody else said that it is: at that of a
 * redirect URI, which the sector lists, or at the sector's own.
 */
export function backchannelProblem(client: BackchannelOf, granted?: { sector: string | null }): string | undefined {
  const { registered_by, backchannel_logout_uri: uri, redirect_uris } = client;
  const sector = sectorOf(client);
  if (granted && sectorOfGrant(granted, client) !== sector) return 'the client is in another sector now';
  if (registered_by === 'operator' || uri === null || sector === PUBLIC_SECTOR) return undefined;
  const hosts = redirect_uris.filter(isWebUri).map((redirect_uri) => new URL(redirect_uri).hostname);
  return [sector, ...hosts].includes(new URL(uri).hostname) ? undefined : 'must be at a host of the sector';
}

/** Why the redirect URIs alone do not name a sector, or undefined when they do. */
export function sectorProblem(redirect_uris: readonly string[], application_type: ApplicationType): string | undefined {
  const hosts = new Set(redirect_uris.map((uri) => (isWebUri(uri) ? new URL(uri).hostname : '')));
  if (hosts.size !== 1 || hosts.has('')) return 'is needed: the redirect URIs are not all at one host';
  // Every native application is at 127.0.0.1: they would all share one sector.
  const [host] = [...hosts] as [string];
  return application_type === 'native' && isLoopbackHost(host)
    ? 'is needed: a loopback host is nobody’s own'
    : undefined;
}
