/** The table of clients, column by column, as Kysely sees it. */
import type { ClientMetadata } from '../protocol/client-metadata.ts';
import type { Localized } from '../protocol/localized.ts';
import type { PublicJwks } from '../protocol/jwks.ts';
import type { Json, Nullable } from './postgres/columns.ts';

/** What a client may leave out is null. */
type Column<T> = undefined extends T ? Nullable<Exclude<T, undefined>> : T;

/**
 * Client metadata by its registered names, a column a member: a new one needs nothing here but its migration. There is none
 * of response_types, which follows from the grant types.
 */
export type MetadataColumn = Exclude<keyof ClientMetadata, 'response_types'>;
type MetadataColumns = { [Member in MetadataColumn]: Column<ClientMetadata[Member]> };

/** Each row is a client: its metadata, and ours. */
export interface ClientsTable extends Omit<MetadataColumns, 'scope' | 'jwks'> {
  client_id: string;
  scope: string[];
  jwks: Json<Nullable<PublicJwks>>;
  /** The members that are said in several languages, by their names with the tag: `client_name#de`. */
  localized: Json<Localized>;
  registered_by: 'operator' | 'self';
  registration_token_hash: Nullable<Buffer>;
  software_statement: Nullable<string>;
  logo_hash: Nullable<string>;
  last_used_at: Nullable<Date>;
  disabled_at: Nullable<Date>;
  /** Access tokens issued before count for nothing. */
  tokens_since: Date;
  /** The same, of those that the client got for itself. */
  machine_tokens_since: Date;
  created_at: Date;
  updated_at: Date;
}
