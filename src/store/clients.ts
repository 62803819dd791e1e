/** Clients and their secrets. */
import { sql, type Selectable } from 'kysely';
import { MACHINE_GRANTS, SECRET_METHODS } from '../protocol/client.ts';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { ClientsTable } from './clients-table.ts';
import { isLive, NOT_REVOKED } from './grants.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';
import { asSql } from './postgres/prepared.ts';

/** Each row is a secret of a client. */
export interface ClientSecretsTable {
  secret_id: string;
  client_id: string;
  hash: Buffer;
  created_at: Date;
  expires_at: Nullable<Date>;
}

export type ClientRow = Selectable<ClientsTable>;

/** A client as the flows know it: its row, and the hashes of the secrets that still count. */
export interface Client extends ClientRow {
  secrets: ReadonlyArray<{ hash: Buffer; expires_at: Date | null }>;
}

/** A client with its secrets, the expired ones too. */
export async function find(db: Db, client_id: string): Promise<Client | undefined> {
  const row = await db
    .selectFrom('clients')
    .selectAll()
    .select(
      sql<Array<{ hash: string; expires_at: string | null }>>`(
        select coalesce(json_agg(json_build_object('hash', encode(hash, 'hex'), 'expires_at', expires_at)), '[]')
        from client_secrets s where s.client_id = clients.client_id)`.as('secrets'),
    )
    .where('client_id', '=', client_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const secrets = row.secrets.map(({ hash, expires_at }) => ({
    hash: Buffer.from(hash, 'hex'),
    expires_at: expires_at === null ? null : new Date(expires_at),
  }));
  return { ...row, secrets };
}

/** The same, held until the transaction ends: for a change that depends on what is there. */
export async function findLocked(trx: Trx, client_id: string): Promise<Client | undefined> {
  // Two statements: the second sees what was waited for.
  await trx.selectFrom('clients').select('client_id').where('client_id', '=', client_id).forNoKeyUpdate().execute();
  return find(trx, client_id);
}

/** The longest that a grant of any client may be refreshed for, in seconds; 0 where none has a time of its own. */
export async function longestGrant(db: Db): Promise<number> {
  const { longest } = await db
    .selectFrom('clients')
    .select(({ fn }) => fn.max('refresh_token_ttl').as('longest'))
    .executeTakeFirstOrThrow();
  return longest ?? 0;
}

/** Clients by id, after `after`, at most `limit`. */
export const list = (db: Db, limit: number, after = ''): Promise<ClientRow[]> =>
  db.selectFrom('clients').selectAll().where('client_id', '>', after).orderBy('client_id').limit(limit).execute();

/** What a list of clients can be narrowed by. */
export interface ClientFilters {
  client_name?: string | undefined;
  registered_by?: 'operator' | 'self' | undefined;
  disabled?: boolean | undefined;
}

/** One page of them. */
export function page(
  db: Db,
  { client_name, registered_by, disabled }: ClientFilters,
  keyset: Keyset,
): Promise<KeysetPage<ClientRow>> {
  let query = db.selectFrom('clients').selectAll();
  if (client_name !== undefined) query = query.where('client_name', '=', client_name);
  if (registered_by !== undefined) query = query.where('registered_by', '=', registered_by);
  if (disabled !== undefined) query = query.where('disabled_at', disabled ? 'is not' : 'is', null);
  return keysetPage(query, keyset);
}

/** Confidential clients that have no secret which counts: they cannot authenticate. */
export async function withoutSecret(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('clients')
    .select('client_id')
    .where('token_endpoint_auth_method', 'in', SECRET_METHODS)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('client_secrets')
            .select('secret_id')
            .whereRef('client_secrets.client_id', '=', 'clients.client_id')
            .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)])),
        ),
      ),
    )
    .orderBy('client_id')
    .execute();
  return rows.map(({ client_id }) => client_id);
}

/**
 * Creates a client. False when the id is taken, by a client or by a person: a client's `sub` is its id (RFC 9700 §4.15).
 * The id of a client that is gone may be used for a client again, never for a person.
 */
export async function insert(trx: Trx, client: ClientRow): Promise<boolean> {
  const claimed = await sql`
    insert into subjects (sub, kind) values (${client.client_id}, 'client')
    on conflict (sub) do update set kind = 'client' where subjects.kind = 'client'
    returning sub`.execute(trx);
  if (claimed.rows.length === 0) return false;
  const inserted = await trx
    .insertInto('clients')
    .values({ ...client, jwks: asJson(client.jwks), localized: JSON.stringify(client.localized) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('client_id')
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Changes the columns named. False when there is no such client. */
export async function update(
  trx: Trx,
  client_id: string,
  { jwks, localized, ...changes }: Partial<ClientRow>,
): Promise<boolean> {
  const columns = {
    ...changes,
    ...(jwks !== undefined && { jwks: asJson(jwks) }),
    ...(localized !== undefined && { localized: JSON.stringify(localized) }),
  };
  const result = await trx.updateTable('clients').set(columns).where('client_id', '=', client_id).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

const asJson = (jwks: ClientRow['jwks']): string | null => (jwks === null ? null : JSON.stringify(jwks));

/** Deletes a client. False when there is none. */
export async function remove(trx: Trx, client_id: string): Promise<boolean> {
  const result = await trx.deleteFrom('clients').where('client_id', '=', client_id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Adds a secret beside those there are. */
export async function addSecret(
  trx: Trx,
  secret: { secret_id: string; client_id: string; hash: Buffer; created_at: Date; expires_at: Date | null },
): Promise<void> {
  await trx.insertInto('client_secrets').values(secret).execute();
}

export type SecretRow = Pick<Selectable<ClientSecretsTable>, 'secret_id' | 'created_at' | 'expires_at'>;

const SECRET_COLUMNS = ['secret_id', 'created_at', 'expires_at'] as const;

/** One page of a client's secrets, never their hashes. */
export const pageOfSecrets = (db: Db, client_id: string, keyset: Keyset): Promise<KeysetPage<SecretRow>> =>
  keysetPage(db.selectFrom('client_secrets').select(SECRET_COLUMNS).where('client_id', '=', client_id), keyset);

/** What is known of one secret. */
export const findSecret = (db: Db, client_id: string, secret_id: string): Promise<SecretRow | undefined> =>
  db
    .selectFrom('client_secrets')
    .select(SECRET_COLUMNS)
    .where('client_id', '=', client_id)
    .where('secret_id', '=', secret_id)
    .executeTakeFirst();

/** Takes a scope from every client that is registered for it; returns from how many. */
export async function dropScope(trx: Trx, name: string, now: Date): Promise<number> {
  // In one order: two that take away different scopes wait for each other only once.
  const { numAffectedRows = 0n } = await sql`
    with named as (
      select client_id from clients where scope @> array[${name}::text] order by client_id for no key update)
    update clients c set scope = array_remove(scope, ${name}), updated_at = ${now}
    from named where c.client_id = named.client_id`.execute(trx);
  return Number(numAffectedRows);
}

/** Takes a type of authorization details from every client that may ask for it. */
export async function dropDetailsType(trx: Trx, name: string): Promise<void> {
  await sql`
    with named as (
      select client_id from clients where authorization_details_types @> array[${name}::text] order by client_id
      for no key update)
    update clients c set authorization_details_types = array_remove(authorization_details_types, ${name})
    from named where c.client_id = named.client_id`.execute(trx);
}

/** Deletes every secret of a client. */
export async function removeSecrets(trx: Trx, client_id: string): Promise<void> {
  await trx.deleteFrom('client_secrets').where('client_id', '=', client_id).execute();
}

/** Deletes one secret; false when there is none such. */
export async function deleteSecret(trx: Trx, client_id: string, secret_id: string): Promise<boolean> {
  const result = await trx
    .deleteFrom('client_secrets')
    .where('client_id', '=', client_id)
    .where('secret_id', '=', secret_id)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Lets nothing count that the client got for itself before `now`; what a person allowed it stays. */
export async function endMachineTokens(trx: Trx, client_id: string, now: Date): Promise<void> {
  await trx
    .updateTable('clients')
    .set({ machine_tokens_since: now })
    .where('client_id', '=', client_id)
    .where('machine_tokens_since', '<', now)
    .execute();
}

/** Lets the client's present secrets live until `expires_at` at most: rotation with overlap. */
export async function expireSecrets(trx: Trx, client_id: string, expires_at: Date): Promise<void> {
  await trx
    .updateTable('client_secrets')
    .set({ expires_at })
    .where('client_id', '=', client_id)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', expires_at)]))
    .execute();
}

/**
 * Deletes up to `limit` clients that registered themselves before `created_before`, were never used and hold no live
 * grant; returns their ids. Those that act for themselves leave no trace of use, and stay.
 */
export async function takeUnused(trx: Trx, created_before: Date, limit: number, now: Date): Promise<string[]> {
  const { rows } = await sql<{ client_id: string }>`
    delete from clients where client_id in (
      select client_id from clients c
      where registered_by = 'self' and last_used_at is null and created_at < ${created_before}
        and not grant_types && ${[...MACHINE_GRANTS]}::text[]
        and not exists (
          select from grants g where g.client_id = c.client_id and ${asSql(isLive(now, NOT_REVOKED))})
      limit ${limit} for update skip locked)
    returning client_id`.execute(trx);
  return rows.map(({ client_id }) => client_id);
}
