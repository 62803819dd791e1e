/**
 * What others changed of clients, scopes, resources and keys, as soon as they have committed it. A hint to read again and
 * never the truth: one that is lost costs what is kept its usual time to live.
 */
import type pg from 'pg';
import { Route, Session, type Connection } from './connection.ts';

const CHANNEL = 'postern_changes';
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** How often the connection is asked whether it is there: who only listens hears nothing of its loss. */
const HEARTBEAT_MS = 5000;
/** Milliseconds it has to answer, also when it is made. */
const PATIENCE_MS = 2000;

/** What was said to have changed. After each time without a connection that is everything. */
export type Changed = 'clients' | 'scopes' | 'resources' | 'keys' | 'everything';

/** Listens on a connection of its own until the returned function is called; connects again by itself, and never throws. */
export function listenForChanges(
  connection: Connection,
  heard: (what: Changed) => void,
  { heartbeat = HEARTBEAT_MS, patience = PATIENCE_MS } = {},
): () => Promise<void> {
  const route = new Route(connection);
  let closed = false;
  let pause = FIRST_PAUSE_MS;
  let again: NodeJS.Timeout | undefined;
  let current: Session | undefined;

  const connect = async (): Promise<void> => {
    const limits = { statement: patience, lock: 0 };
    const session = new Session(route, limits, {
      connectionTimeoutMillis: patience,
      application_name: 'postern changes',
    });
    current = session;
    let beat: NodeJS.Timeout | undefined;
    let over = false;
    const lost = (): void => {
      clearTimeout(beat);
      if (over) return;
      over = true;
      session.drop();
      if (closed) return;
      again = setTimeout(() => void connect(), pause).unref();
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    };
    const listen = async (): Promise<void> => {
      // Said again it changes nothing, and is answered.
      await session.query(`listen ${CHANNEL}`);
      if (!over) beat = setTimeout(() => void listen().catch(lost), heartbeat).unref();
    };
    session.on('error', lost).on('end', lost);
    session.on('notification', ({ payload }: pg.Notification) => heard((payload ?? 'everything') as Changed));
    try {
      await session.connect();
      await listen();
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
