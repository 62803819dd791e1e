/**
 * Notifications of changed clients, scopes, resources and keys (LISTEN). They are hints to read again: where one is lost, caches
 * live their usual time.
 */
import type pg from 'pg';
import { Route, Session, type Connection } from './connection.ts';

const CHANNEL = 'postern_changes';
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** Milliseconds between two checks of the connection: one that only listens does not notice that it was lost. */
const HEARTBEAT_MS = 5000;
/** Milliseconds it has to answer, also when it is made. */
const PATIENCE_MS = 2000;

/** What a notification names: a table, or with `mails` that there are some to be sent, with `user_imports` some to be carried out; `everything` after each time without a connection. */
export type Changed = 'clients' | 'scopes' | 'resources' | 'keys' | 'mails' | 'user_imports' | 'everything';

/** Listens on a connection of its own until the returned function is called; connects again by itself, and never throws. */
export function listenForChanges(
  connection: Connection,
  onChange: (what: Changed) => void,
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
      // Repeating LISTEN changes nothing, and the answer proves that the connection works.
      await session.query(`listen ${CHANNEL}`);
      if (!over) beat = setTimeout(() => void listen().catch(lost), heartbeat).unref();
    };
    session.on('error', lost).on('end', lost);
    session.on('notification', ({ payload }: pg.Notification) => onChange((payload ?? 'everything') as Changed));
    try {
      await session.connect();
      await listen();
      pause = FIRST_PAUSE_MS;
      onChange('everything');
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
