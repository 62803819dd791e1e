// Talking to a Postgres over its socket: is it there, whose is it, does it have our database.
import pg from 'pg';
import { codeOf, messageOf } from './error.ts';

/** Where a Postgres is reached: a unix socket, no password. */
export interface PostgresConnection {
  /** the directory of the socket */
  host: string;
  port: number;
  user: string;
  database: string;
}

/** The superuser of every cluster we make. */
export const USER = 'postern';
/** Only part of the socket's file name: nothing listens on TCP. */
export const PORT = 5432;

/** The answer of a Postgres about itself. */
export type Answer =
  | { state: 'ready'; version: string; clusterName: string }
  /** it speaks, and is starting or stopping */
  | { state: 'busy' }
  /** nobody listens */
  | { state: 'silent' }
  /** ready, but without that database */
  | { state: 'no database' };

const INVALID_CATALOG_NAME = '3D000';
const DUPLICATE_DATABASE = '42P04';
const UNIQUE_VIOLATION = '23505';
const CANNOT_CONNECT_NOW = '57P03';
const SHUTDOWNS = ['57P01', '57P02'];
const NOBODY_THERE = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'];
/** Errors that pg gives no code. */
const NO_ANSWER = /^Connection terminated|^timeout expired/;

/**
 * Asks once.
 * @throws what Postgres answered, when that is none of the above (too many connections, for one)
 */
export async function askPostgres(connection: PostgresConnection): Promise<Answer> {
  try {
    return await withClient(connection, async (client) => {
      const { rows } = await client.query<{ version: string; cluster_name: string }>(
        `select split_part(current_setting('server_version'), ' ', 1) as version, current_setting('cluster_name') as cluster_name`,
      );
      const row = rows[0];
      return { state: 'ready', version: row?.version ?? '', clusterName: row?.cluster_name ?? '' };
    });
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === INVALID_CATALOG_NAME) return { state: 'no database' };
    if (code === CANNOT_CONNECT_NOW || SHUTDOWNS.includes(code)) return { state: 'busy' };
    if (NOBODY_THERE.includes(code) || NO_ANSWER.test(messageOf(error))) return { state: 'silent' };
    throw error;
  }
}

/** Makes the connection's database unless it is there; two may do so at once. */
export async function createDatabase(connection: PostgresConnection): Promise<void> {
  try {
    await withClient({ ...connection, database: 'postgres' }, (client) =>
      client.query(`create database ${pg.escapeIdentifier(connection.database)}`),
    );
  } catch (error) {
    if (![DUPLICATE_DATABASE, UNIQUE_VIOLATION].includes(codeOf(error) ?? '')) throw error;
  }
}

async function withClient<T>(connection: PostgresConnection, use: (client: pg.Client) => Promise<T>): Promise<T> {
  // PGSSLMODE and PGPASSWORD of the caller's shell are meant for another server.
  const client = new pg.Client({ ...connection, ssl: false, password: '', connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
