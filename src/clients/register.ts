/** Registration: from metadata to a client, and its changes. Who may register what is decided before. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { changeOf } from '../events/change.ts';
import { record, type Actor } from '../events/index.ts';
import { clientId, clientSecret, isPublic, TLS_SUBJECTS, usesSecret } from '../protocol/client.ts';
import {
  clientMetadata,
  encryptionDefaults,
  localizedTexts,
  METADATA_MEMBERS,
  type ClientMetadata,
  type ClientMetadataInput,
} from '../protocol/client-metadata.ts';
import { splitLocalized, withLanguages, type Localized } from '../protocol/localized.ts';
import { numericDate, secondsAfter } from '../protocol/numeric-date.ts';
import { sectorOf } from '../protocol/sector.ts';
import { formatScope, parseScope } from '../protocol/scope.ts';
import { conflict } from '../protocol/write-error.ts';
import * as logos from '../store/client-logos.ts';
import * as clients from '../store/clients.ts';
import type { MetadataColumn } from '../store/clients-table.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';
import { newId, sha256 } from '../protocol/handle.ts';
import * as notices from '../store/logout-notices.ts';
import { missingFor, seesCertificates } from './certificates.ts';
import { fetchSector, requireOwnBackchannel, requireSameSector, requireSector, type Sector } from './sector.ts';

export type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'fetch'>;

/** A client as RFC 7591 §3.2.1 shows it. `client_secret` is there once, when it was made. */
export type ClientDocument = Record<string, unknown> & {
  client_id: string;
  client_id_issued_at: number;
  client_secret?: string;
};

/** A client to be made; without an id or a secret these are drawn. */
export interface Registration {
  metadata: ClientMetadataInput;
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

/** Whose a client is: made by an operator, or by itself with a token to manage it by, perhaps with somebody's word for it. */
export interface Owner {
  registered_by: 'operator' | 'self';
  registration_token_hash: Buffer | null;
  /** As it was sent (RFC 7591 §3.2.1). */
  software_statement: string | null;
}

/** The owner of what is made at the command line or by the admin API. */
export const OPERATORS: Owner = { registered_by: 'operator', registration_token_hash: null, software_statement: null };

/** Creates a client. @throws WriteError, ZodError for metadata that is not valid */
export async function register(deps: Needs, registration: Registration, by: Actor, now: Date): Promise<ClientDocument> {
  const sector = await fetchSector(deps, registration.metadata, undefined, { trusted: true });
  return transact(deps.db, (trx) => insertClient(trx, deps, registration, sector, OPERATORS, by, now));
}

/** Seconds that servers' clocks may be apart: a token issued right after a change is not taken for one from before. */
export const CLOCK_SKEW = 5;

/** Creates a client whose sector was fetched before. @throws WriteError, ZodError */
export async function insertClient(
  trx: Trx,
  deps: Pick<Needs, 'config' | 'random'>,
  registration: Registration,
  sector: Sector | undefined,
  owner: Owner,
  by: Actor,
  now: Date,
): Promise<ClientDocument> {
  const metadata = parseMetadata(deps, registration.metadata);
  requireSector(metadata, undefined, sector);
  requireOwnBackchannel(metadata, owner.registered_by);
  identifiers.parse(registration);
  const client_id = registration.client_id ?? newId(deps.random, 16);
  const client_secret = usesSecret(metadata) ? (registration.client_secret ?? newSecret(deps)) : undefined;
  const made = { last_used_at: null, logo_hash: null, disabled_at: null, created_at: now, updated_at: now };
  // What another client of this id was given in its time is not this one's.
  const tokens_since = secondsAfter(now, -CLOCK_SKEW);
  const since = { tokens_since, machine_tokens_since: tokens_since };
  const row = { ...columnsOf(metadata), ...owner, client_id, ...made, ...since };
  // A client or a person has this id.
  if (!(await clients.insert(trx, row))) throw conflict(`the id ${client_id} is taken`);
  if (row.logo_uri !== null) await logos.requestFetch(trx, client_id, now);
  if (client_secret !== undefined) await addSecret(trx, deps, client_id, client_secret, now);
  const document = describeClient(row);
  await record(trx, { event: 'client_created', client_id, detail: changeOf(undefined, document) }, by, now);
  return withSecret(document, client_secret);
}

/** Replaces all metadata of a client, and gives it a secret when it now needs one. @throws ZodError */
export async function replaceClient(
  trx: Trx,
  deps: Pick<Needs, 'config' | 'random'>,
  present: clients.Client,
  document: ClientMetadataInput,
  sector: Sector | undefined,
  owner: Partial<Owner>,
  by: Actor,
  now: Date,
): Promise<ClientDocument> {
  const metadata = parseMetadata(deps, document, present);
  requireSector(metadata, present, sector);
  const columns = { ...columnsOf(metadata), ...owner, updated_at: now };
  const { client_id } = present;
  await change(trx, present, metadata, columns, now);
  const had = usesSecret(present) && present.secrets.length > 0;
  const client_secret = usesSecret(metadata) && !had ? newSecret(deps) : undefined;
  if (client_secret !== undefined) await addSecret(trx, deps, client_id, client_secret, now);
  const written = describeClient({ ...present, ...columns });
  const detail = changeOf(describeClient(present), written);
  await record(trx, { event: 'client_updated', client_id, detail }, by, now);
  return withSecret(written, client_secret);
}

/** Writes what changed, and what follows from it. @throws ZodError for what cannot change any more */
async function change(
  trx: Trx,
  present: clients.Client,
  metadata: ClientMetadata,
  columns: Columns,
  now: Date,
): Promise<void> {
  const { client_id, logo_uri } = present;
  requireOwnBackchannel(metadata, present.registered_by);
  await requireSameSector(trx, present, metadata, now);
  // A secret dies with its use: changed back, the client gets another.
  if (usesSecret(present) !== usesSecret(metadata)) await clients.removeSecrets(trx, client_id);
  if (!isPublic(present) && isPublic(metadata)) await grants.markConfidential(trx, client_id);
  const moved = columns.logo_uri !== logo_uri;
  if (losesProof(present, columns)) await clients.endMachineTokens(trx, client_id, now);
  await clients.update(trx, client_id, { ...columns, ...(moved && { logo_hash: null }) });
  if (moved) await logos.forget(trx, client_id);
  // Also where logo_uri stays: saving the client again retries a logo that was given up.
  if (columns.logo_uri !== null) await logos.requestFetch(trx, client_id, now);
  if (columns.backchannel_logout_uri === null || sectorOf(present) !== sectorOf(metadata))
    await notices.forget(trx, client_id);
}

/** Does the client lose a secret or key that authenticated it until now? */
function losesProof(before: clients.ClientRow, after: Columns): boolean {
  const remaining = after.jwks?.keys ?? [];
  const lacks = before.jwks?.keys.some((key) => !remaining.some((one) => isDeepStrictEqual(one, key))) ?? false;
  const moved = before.jwks_uri !== null && before.jwks_uri !== after.jwks_uri;
  const renamed = TLS_SUBJECTS.some((name) => before[name] !== null && before[name] !== after[name]);
  return usesSecret(before) !== usesSecret(after) || lacks || moved || renamed;
}

/** RFC 7591 §3.2.1: a secret comes with its expiry; 0 is never. */
const withSecret = (document: ClientDocument, client_secret: string | undefined): ClientDocument =>
  client_secret === undefined ? document : { ...document, client_secret, client_secret_expires_at: 0 };

/** Changes what is named; the rest stays. Undefined when there is no such client. @throws ZodError */
export async function updateClient(
  deps: Needs,
  client_id: string,
  changes: Partial<ClientMetadataInput>,
  by: Actor,
  now: Date,
): Promise<ClientDocument | undefined> {
  const before = await clients.find(deps.db, client_id);
  if (!before) return undefined;
  const document = { ...metadataOf(before), ...changes };
  // Who changes a client that registered itself does not make its address an operator's.
  const trusted = before.registered_by === 'operator';
  const sector = await fetchSector(deps, document, before, { trusted });
  return transact(deps.db, async (trx) => {
    const present = await clients.findLocked(trx, client_id);
    return present && replaceClient(trx, deps, present, { ...metadataOf(present), ...changes }, sector, {}, by, now);
  });
}

/** Deletes a client and ends everything it was granted. */
export async function removeClient(trx: Trx, client_id: string, by: Actor, now: Date): Promise<boolean> {
  const present = await clients.findLocked(trx, client_id);
  if (!present) return false;
  await clients.remove(trx, client_id);
  return endClient(trx, client_id, by, now, describeClient(present));
}

/** Ends everything that a deleted client was granted. */
export async function endClient(
  trx: Trx,
  client_id: string,
  by: Actor,
  now: Date,
  before?: ClientDocument,
): Promise<true> {
  await grants.revokeAllOf(trx, { client_id }, 'client_deleted', now);
  await record(trx, { event: 'client_deleted', client_id, detail: changeOf(before, undefined) }, by, now);
  return true;
}

export const identifiers = z.object({ client_id: clientId.optional(), client_secret: clientSecret.optional() });

const SIGNED = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'authorization_signed_response_alg',
] as const satisfies ReadonlyArray<keyof ClientMetadata>;

/**
 * Valid metadata that this server can serve: an algorithm without a key would fail at the token endpoint, and so would a client
 * whose certificate cannot come in. What a client
 * is registered with it may keep: that has a key for as long.
 */
function parseMetadata(
  { config }: Pick<Needs, 'config'>,
  document: ClientMetadataInput,
  present?: clients.ClientRow,
): Metadata {
  const { localized, others } = splitLocalized(document);
  const metadata = { ...clientMetadata.parse(others), localized: inLanguages.parse(localized) as Localized };
  const refuse = (member: string, message: string, input: unknown): never => {
    throw new z.ZodRealError([{ code: 'custom', path: [member], message, input }]);
  };
  for (const member of SIGNED) {
    const alg = metadata[member];
    if (alg === undefined || config.SIGNING_ALGS.includes(alg) || alg === present?.[member]) continue;
    refuse(member, `must be one of SIGNING_ALGS: ${config.SIGNING_ALGS.join(', ')}`, alg);
  }
  const { token_endpoint_auth_method: method } = metadata;
  const missing = method === present?.token_endpoint_auth_method ? undefined : missingFor(config, method);
  if (missing !== undefined) refuse('token_endpoint_auth_method', `${method} needs ${missing}`, method);
  const member = 'tls_client_certificate_bound_access_tokens';
  if (metadata[member] && !present?.[member] && !seesCertificates(config)) {
    refuse(member, 'needs MTLS_PROXY_FORMAT: no certificates of clients come in here', true);
  }
  return metadata;
}

/** What a client is, and what of it is said in several languages. */
type Metadata = ClientMetadata & { localized: Localized };
const inLanguages = withLanguages({}, localizedTexts);

/** A random secret, of characters that survive form-encoding as they are: clients that forget to encode still work. */
export const newSecret = ({ random }: Pick<Deps, 'random'>): string => random(32).toString('base64url');

/** Writes a secret down; returns its id. */
export async function addSecret(
  trx: Trx,
  { random }: Pick<Deps, 'random'>,
  client_id: string,
  secret: string,
  now: Date,
): Promise<string> {
  const secret_id = newId(random, 9);
  await clients.addSecret(trx, {
    secret_id,
    client_id,
    hash: sha256(secret),
    created_at: now,
    expires_at: null,
  });
  return secret_id;
}

type Columns = Pick<clients.ClientRow, MetadataColumn | 'localized'>;

const COLUMNS: readonly MetadataColumn[] = METADATA_MEMBERS.filter((name) => name !== 'response_types');

/** Metadata as columns: absent members are null, scope is a list. */
function columnsOf({ localized, ...metadata }: Metadata): Columns {
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, metadata[name] ?? null]));
  return { ...columns, localized, ...encryptionDefaults(metadata), scope: parseScope(metadata.scope) } as Columns;
}

const MEMBERS: ReadonlySet<string> = new Set(METADATA_MEMBERS);

/** A row as metadata again. */
export function metadataOf(row: clients.ClientRow): ClientMetadataInput {
  const { scope, localized } = row;
  const given = Object.entries(row).filter(([name, value]) => MEMBERS.has(name) && value !== null);
  return { ...Object.fromEntries(given), ...localized, scope: formatScope(scope) };
}

/** A client as an RFC 7591 document, without secrets. */
export function describeClient(row: clients.ClientRow): ClientDocument {
  return {
    client_id: row.client_id,
    client_id_issued_at: numericDate(row.created_at),
    ...metadataOf(row),
    response_types: row.grant_types.includes('authorization_code') ? ['code'] : [],
    ...(row.software_statement !== null && { software_statement: row.software_statement }),
  };
}
