/** Telling clients that a session ended (OpenID Connect Back-Channel Logout): one attempt each, and what follows from it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { backchannelProblem } from '../protocol/sector.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as notices from '../store/logout-notices.ts';
import { issueLogoutToken } from '../tokens/logout-token.ts';
import { backOff, createLanes, FIRST_RETRY, type Lanes } from './lanes.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'clientKeys' | 'random' | 'fetch' | 'log' | 'clock'>;

/** Seconds a process has for a notice before others may take it over: longer than any fetch may last. */
const LEASE = 60;
/** Attempts until a notice is put aside. The last comes about three hours after the first. */
const ATTEMPTS = 10;
/** Milliseconds after which a delivery is slow; as often what became due meanwhile is looked for. */
const PATIENCE_MS = 1000;

/**
 * Delivers everything that is due, the next as soon as one is done: nobody waits for a slow client but itself. Returns how
 * many were taken. `lanes` remember from one call to the next which clients are slow or fail.
 */
export async function deliverNotices(
  deps: Needs,
  lanes: Lanes = createLanes(),
  patience_ms = PATIENCE_MS,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  const send = async (notice: notices.Due): Promise<void> => {
    const delivery = lanes.start(notice.client_id);
    const patience = setTimeout(() => lanes.delayed(delivery), patience_ms);
    let rest = false;
    try {
      rest = await deliver(deps, notice, deps.clock());
    } catch (error) {
      deps.log.warn({ err: error }, 'a notice could not be settled; it is sent again');
    } finally {
      clearTimeout(patience);
      lanes.done(delivery, { rest }, deps.clock());
    }
  };
  try {
    for (let taken = 0; ;) {
      const idle = underWay.size === 0;
      const now = deps.clock();
      const busy = lanes.busy(now);
      const notice = busy && (await notices.take(deps.db, busy, secondsAfter(now, LEASE), now));
      if (notice) {
        taken += 1;
        const sent: Promise<void> = send(notice).finally(() => underWay.delete(sent));
        underWay.add(sent);
      } else if (idle) return taken;
      // What ended while we looked may have made room for more; a slow one makes room by being slow.
      else if (underWay.size > 0) await Promise.race([...underWay, sleep(patience_ms, undefined, { ref: false })]);
    }
  } finally {
    await Promise.all(underWay);
  }
}

/** One attempt. Returns whether the client is to be left alone for a time: it did not answer, or said that it cannot. */
async function deliver(deps: Needs, notice: notices.Due, now: Date): Promise<boolean> {
  const { notice_id, client_id, attempts, backchannel_logout_uri } = notice;
  const client = await deps.directory.client(client_id);
  if (!client) return false;
  let status: number | undefined;
  try {
    // Looked at together: one of them may just have changed.
    const problem = backchannelProblem({ ...client, backchannel_logout_uri }, notice);
    if (problem !== undefined) throw new Error(problem);
    const logout_token = await issueLogoutToken(deps, client, notice, now);
    ({ status } = await deps.fetch(backchannel_logout_uri, {
      method: 'POST',
      trusted: client.registered_by === 'operator',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token }).toString(),
    }));
    // §2.8: 200; some frameworks answer 204.
    if (status !== 200 && status !== 204) throw new Error(`the client answered ${status}`);
    await notices.delivered(deps.db, notice_id);
    return false;
  } catch (error) {
    const dead = attempts >= ATTEMPTS;
    const last_failure = error instanceof Error ? error.message : 'unknown';
    const outcome = { next_at: secondsAfter(now, backOff(attempts)), dead_at: dead ? now : null, last_failure };
    const rest = status === undefined || status === 429 || status >= 500;
    await notices.failed(deps.db, notice_id, outcome);
    if (rest)
      await notices.postponeAllOf(deps.db, client_id, { last_failure, first: FIRST_RETRY, most: ATTEMPTS }, now);
    deps.log.warn({ err: error, client_id, attempts, dead }, 'a client could not be told of a sign-out');
    return rest;
  }
}

/** Sends a notice that was given up again, at the worker's next turn. False when there is none such. */
export async function retryNotice(trx: Trx, notice_id: string, by: Actor, now: Date): Promise<boolean> {
  const revived = await notices.revive(trx, notice_id, now);
  if (revived) await record(trx, { event: 'logout_notice_retried', ...revived, detail: { notice_id } }, by, now);
  return revived !== undefined;
}

/** Forgets a notice that was given up. False when there is none such. */
export async function removeNotice(trx: Trx, notice_id: string, by: Actor, now: Date): Promise<boolean> {
  const removed = await notices.removeDead(trx, notice_id);
  if (removed) await record(trx, { event: 'logout_notice_deleted', ...removed, detail: { notice_id } }, by, now);
  return removed !== undefined;
}
