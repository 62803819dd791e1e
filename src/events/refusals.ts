/**
 * Why requests were refused, kept with their ids so that an operator can explain them later. Refusals are noted in memory
 * and written by a worker: no request waits for it, and a database that is away costs what does not fit here. Whoever
 * collects refusals on purpose fills neither this nor the table, and pushes nobody else's out.
 */
import { clauseOf } from '../protocol/check.ts';
import type { Explanation } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { printable, redact } from '../protocol/redaction.ts';
import { isUnavailable, type Db } from '../store/postgres/db.ts';
import { bucketOf } from '../protocol/handle.ts';
import * as store from '../store/refusals.ts';
import type { Requester } from './index.ts';

/** A request that was refused, as its door knows it. */
export interface RefusedRequest extends Requester {
  method: string;
  /** The pattern, never the address: that has ids and codes in it. */
  route: string;
  status: number;
  /** What the caller calls the request. */
  caller_request_id?: string | undefined;
  /** The client_id of the request, unproven: stored only where there is such a client. */
  claimed?: string | undefined;
}

/** A refusal, in whatever form its reader gets it: an OAuthError is one. */
export interface Refusal {
  error: string;
  error_description: string;
  /** The check that failed. */
  failed: { check: string };
  explanation: Explanation;
  cause?: unknown;
}

/** Where refusals are noted. */
export interface Refusals {
  /** Notes one; never waits and never throws. */
  note(refusal: Refusal, request: RefusedRequest, now: Date): void;
  /** Writes a batch of what was noted; returns how many rows. @throws what the database does; the rows wait for it */
  flush(now: Date): Promise<number>;
  /** Writes everything, and how much was not kept: for the end of a process. */
  close(now: Date): Promise<void>;
}

/** How much is kept. */
export interface Limits {
  /** Seconds; 0 keeps nothing. */
  retention: number;
  /** Rows waiting to be written. */
  waiting?: number;
  /** Rows a minute: in all, of one network, and of one network, client and check. */
  a_minute?: { all: number; network: number; same: number };
}

const BATCH = 200;
const WAITING = 1000;
const A_MINUTE = { all: 600, network: 60, same: 15 };

// A device that waits asks on and on: that is how it works, and nothing has failed.
const UNREMARKABLE: ReadonlySet<string> = new Set(['authorization_pending']);

/** Refusals over the database. */
export function createRefusals(db: Db, limits: Limits): Refusals {
  const { retention, waiting: most = WAITING, a_minute = A_MINUTE } = limits;
  const waiting: store.NewRefusal[] = [];
  /** Batches that somebody else writes at this moment: what is in them is not written yet. */
  const underWay = new Set<Promise<void>>();
  let minute = { number: 0, kept: 0, lanes: new Map<string, number>(), dropped: 0 };

  const rowOf = (now: Date, row: Omit<store.NewRefusal, 'expires_bucket' | 'at'>): store.NewRefusal => ({
    expires_bucket: bucketOf(secondsAfter(now, retention)),
    at: now,
    ...row,
  });

  /** Starts a new minute, with a row for what the last one dropped. */
  const turn = (now: Date, over = false): void => {
    const number = Math.floor(now.getTime() / 60_000);
    if (number === minute.number && !over) return;
    // While nothing can be written the number waits, too, and grows in place.
    const isWritten = minute.dropped > 0 && (over || waiting.length < most);
    if (isWritten) waiting.push(rowOf(now, { network: '', dropped: minute.dropped }));
    minute = { number, kept: 0, lanes: new Map(), dropped: isWritten ? 0 : minute.dropped };
  };

  /** The lanes cannot outgrow what a minute keeps: a refusal over a limit opens none. */
  const isRoom = (lanes: ReadonlyArray<readonly [name: string, most: number]>): boolean => {
    if (waiting.length >= most || minute.kept >= a_minute.all) return false;
    if (lanes.some(([name, limit]) => (minute.lanes.get(name) ?? 0) >= limit)) return false;
    for (const [name] of lanes) minute.lanes.set(name, (minute.lanes.get(name) ?? 0) + 1);
    minute.kept += 1;
    return true;
  };

  const flush = async (now: Date): Promise<number> => {
    turn(now);
    // Taken out first: two that flush at once write each row once.
    const batch = waiting.splice(0, BATCH);
    const written = store.insert(db, batch);
    underWay.add(written);
    try {
      await written;
    } catch (error) {
      // Rows that the database does not take would be in the way for ever.
      if (isUnavailable(error)) waiting.unshift(...batch);
      else minute.dropped += batch.length;
      throw error;
    } finally {
      underWay.delete(written);
    }
    return batch.length;
  };

  return {
    note(refusal, { network, claimed = null, request_id, caller_request_id = null, ip, method, route, status }, now) {
      if (retention === 0 || UNREMARKABLE.has(refusal.error)) return;
      turn(now);
      const { client_id = null, sub = null, expected = null, received = null } = explained(refusal);
      const { check } = refusal.failed;
      const lanes = [
        [network, a_minute.network],
        [`${network} ${client_id ?? claimed ?? ''} ${check}`, a_minute.same],
      ] as const;
      if (!isRoom(lanes)) {
        minute.dropped += 1;
        return;
      }
      const { error, error_description } = refusal;
      const why = { error, error_description: redact(error_description), check, expected, received };
      const who = { client_id, claimed, sub };
      waiting.push(rowOf(now, { request_id, caller_request_id, ...who, ip, network, method, route, status, ...why }));
    },
    flush,
    async close(now) {
      turn(now, true);
      while ((await flush(now)) > 0 || underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

/** What may be kept of why: bounded, printable, and without anything that could be a secret. */
export function explained(
  refusal: Pick<Refusal, 'explanation' | 'cause'>,
): Record<'client_id' | 'sub' | 'expected' | 'received', string | undefined> {
  const { client_id, sub, expected, received = reasonOf(refusal.cause) } = refusal.explanation;
  return {
    client_id,
    sub,
    // Ours: what is registered and configured.
    expected: expected && printable(expected),
    received: received && redact(received, expected),
  };
}

/** A cause in words; of one that is a chain, the last. */
function reasonOf(cause: unknown): string | undefined {
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' ? cause : undefined;
}

/** A refusal as operators see it. */
export interface ExplainedRefusal extends Omit<store.Refusal, 'expires_bucket'> {
  /** The clause that asks for the check. */
  clause: string | null;
}

const withClause = ({ expires_bucket: _bucket, ...refusal }: store.Refusal): ExplainedRefusal => ({
  ...refusal,
  clause: (refusal.check !== null && clauseOf(refusal.check)) || null,
});

/** A caller calls requests what it likes: of a name that came more than once, only the last so many. */
const MOST_OF_ONE = 20;

/** The refusals of a request by our id, or else by what its caller calls it, newest first; none when it was not refused, or is not kept (any more). */
export const findRefusals = async ({ db }: { db: Db }, request_id: string): Promise<ExplainedRefusal[]> =>
  (await store.findByRequest(db, request_id, MOST_OF_ONE)).map(withClause);

/** A page of refusals, newest first; rows without a request id say how many were not kept. */
export const listRefusals = async (
  { db }: { db: Db },
  filter: store.RefusalFilter,
  limit: number,
): Promise<ExplainedRefusal[]> => (await store.list(db, filter, limit)).map(withClause);
