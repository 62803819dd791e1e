/**
 * The sector of a client (OpenID Connect Core §8.1). A sector_identifier_uri (Registration §5) is fetched before a client is
 * written, and must name all its redirect URIs; a client that people have authorized stays where it is.
 */
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { ClientMetadata, ClientMetadataInput } from '../protocol/client-metadata.ts';
import { backchannelProblem, sectorOf } from '../protocol/sector.ts';
import type { ClientRow } from '../store/clients.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';

/** What was found at a sector_identifier_uri. */
export interface Sector {
  sector_identifier_uri: string;
  redirect_uris: ReadonlySet<string>;
}

/** The sector of an existing client, which need not be proven again. */
interface ProvenSector {
  sector_identifier_uri: string | null;
  redirect_uris: readonly string[];
}

const document = z.array(z.string().max(2000)).max(1000);

/** Fetches what a registration needs, outside of any transaction; undefined when it needs nothing. @throws ZodError */
export async function fetchSector(
  { fetch }: Pick<Deps, 'fetch'>,
  { sector_identifier_uri, redirect_uris = [] }: ClientMetadataInput,
  proven: ProvenSector | undefined,
  { trusted }: { trusted: boolean },
): Promise<Sector | undefined> {
  // What is malformed is refused when the metadata is parsed.
  if (typeof sector_identifier_uri !== 'string' || !sector_identifier_uri.startsWith('https://')) return undefined;
  if (!Array.isArray(redirect_uris) || isProven(sector_identifier_uri, redirect_uris, proven)) return undefined;
  try {
    const { status, media_type, text } = await fetch(sector_identifier_uri, { trusted });
    if (status !== 200) throw new Error(`${sector_identifier_uri} answered ${status}`);
    // Whoever serves it speaks for the sector: a page, or a file of somebody's, that happens to read so does not.
    if (media_type !== 'application/json') throw new Error(`${sector_identifier_uri} answered with ${media_type}`);
    return { sector_identifier_uri, redirect_uris: new Set(document.parse(JSON.parse(text))) };
  } catch {
    throw problem('could not be fetched, or is not a JSON array of strings', sector_identifier_uri);
  }
}

/** Refuses metadata whose sector does not list every redirect URI. @throws ZodError */
export function requireSector(
  { sector_identifier_uri, redirect_uris }: ClientMetadata,
  proven: ProvenSector | undefined,
  sector: Sector | undefined,
): void {
  if (sector_identifier_uri === undefined || isProven(sector_identifier_uri, redirect_uris, proven)) return;
  // The client was changed while we fetched.
  if (sector?.sector_identifier_uri !== sector_identifier_uri) throw problem('was not fetched', sector_identifier_uri);
  const missing = redirect_uris.find((uri) => !sector.redirect_uris.has(uri));
  if (missing !== undefined) throw problem(`does not list ${missing}`, sector_identifier_uri);
}

/** Refuses a backchannel_logout_uri outside of the client's sector. @throws ZodError */
export function requireOwnBackchannel(metadata: ClientMetadata, registered_by: 'operator' | 'self'): void {
  const { backchannel_logout_uri = null } = metadata;
  const message = backchannelProblem({ ...metadata, registered_by, backchannel_logout_uri });
  if (message === undefined) return;
  throw new z.ZodRealError([
    { code: 'custom', path: ['backchannel_logout_uri'], message, input: backchannel_logout_uri },
  ]);
}

/** Refuses a change of sector, and so of every `sub`, to a client that people have authorized. @throws ZodError */
export async function requireSameSector(
  trx: Trx,
  present: ClientRow,
  metadata: ClientMetadata,
  now: Date,
): Promise<void> {
  if (sectorOf(present) === sectorOf(metadata) || !(await grants.areLive(trx, present.client_id, now))) return;
  const member =
    present.subject_type !== metadata.subject_type
      ? 'subject_type'
      : present.sector_identifier_uri !== (metadata.sector_identifier_uri ?? null)
        ? 'sector_identifier_uri'
        : 'redirect_uris';
  const message = 'cannot change the sector of a client that has authorizations: to end them, disable and enable it';
  throw new z.ZodRealError([{ code: 'custom', path: [member], message, input: metadata[member] }]);
}

const isProven = (uri: string, redirect_uris: readonly string[], proven: ProvenSector | undefined): boolean =>
  proven?.sector_identifier_uri === uri && redirect_uris.every((value) => proven.redirect_uris.includes(value));

const problem = (message: string, input: string): z.ZodError =>
  new z.ZodRealError([{ code: 'custom', path: ['sector_identifier_uri'], message, input }]);
