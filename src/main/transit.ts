/**
 * Connections on their way from the primary to a process. node:cluster waits for the process to say that it has one, and
 * keeps it open until then: of a process that was killed it would wait for ever, and so would whoever connected.
 */
import type { Worker } from 'node:cluster';

/** What node:cluster sends along: the handle of a connection. */
interface Handle {
  close(): void;
}

/** A message of node:cluster's own. They are not part of what Node documents; one that looks otherwise is let through. */
interface Dealt {
  cmd?: unknown;
  act?: unknown;
  seq?: unknown;
  ack?: unknown;
}

const isDealt = (message: unknown, handle: unknown): message is Dealt & { seq: number } =>
  typeof message === 'object' &&
  message !== null &&
  (message as Dealt).cmd === 'NODE_CLUSTER' &&
  (message as Dealt).act === 'newconn' &&
  typeof (message as Dealt).seq === 'number' &&
  typeof (handle as Partial<Handle> | undefined)?.close === 'function';

/** Begins to watch. The returned function closes what is on its way to a process that has ended. */
export function watchTransit({ process: child }: Worker): () => void {
  const transit = new Map<number, Handle>();
  const send = child.send.bind(child) as (...given: unknown[]) => boolean;
  child.send = (...given: unknown[]) => {
    const [message, handle] = given;
    if (isDealt(message, handle)) transit.set(message.seq, handle as Handle);
    return send(...given);
  };
  // Whatever it says to it, that it has it or that another is to, the connection is node:cluster's again.
  child.on('internalMessage', ({ ack }: Dealt) => {
    if (typeof ack === 'number') transit.delete(ack);
  });
  return () => {
    for (const handle of transit.values()) handle.close();
    transit.clear();
  };
}
