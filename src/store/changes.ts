/**
 * What others changed of clients, scopes, resources and keys, as soon as they have committed it. A hint to read again and
 * never the truth: one that is lost costs what is kept its usual time to live.
 */
import pg from 'pg';
import type { Connection } from './db.ts';

const CHANNEL = 'postern_changes';
const CONNECT_MS = 5000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** What was said to have changed. After each time without a connection that is everything. */
export type Changed = 'clients' | 'scopes' | 'resources' | 'keys' | 'everything';

/** Listens on a connection of its own until the returned function is called; connects again by itself, and never throws. */
export function listenForChanges(connection: Connection, heard: (what: Changed) => void): () => Promise<void> {
  let closed = false;
  let pause = FIRST_PAUSE_MS;
  let again: NodeJS.Timeout | undefined;
  let current: pg.Client | undefined;

  const connect = async (): Promise<void> => {
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: 'postern changes',
    });
    current = client;
    let over = false;
    const lost = (): void => {
      if (over) return;
      over = true;
      client.end().catch(() => undefined);
      if (closed) return;
      again = setTimeout(() => void connect(), pause).unref();
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    };
    client.on('error', lost).on('end', lost);
    client.on('notification', ({ payload }) => heard((payload ?? 'everything') as Changed));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      pause = FIRST_PAUSE_MS;
      heard('everything');
    } catch {
      lost();
    }
  };
  void connect();
  return async () => {
    closed = true;
    clearTimeout(again);
    await current?.end().catch(() => undefined);
  };
}
