/** Telling clients that a session ended (OpenID Connect Back-Channel Logout): one attempt each, and what follows from it. */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { transact } from '../store/db.ts';
import * as notices from '../store/logout-notices.ts';
import { issueLogoutToken } from '../tokens/logout-token.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'clientKeys' | 'random' | 'fetch' | 'log' | 'clock'>;

/** Deliveries under way at once, and how many of them one client may hold up. */
const LANES = 10;
const LANES_OF_ONE = 2;
/** Seconds a process has for a notice before others may take it over: longer than any fetch may last. */
const LEASE = 60;
/** Attempts until a notice is put aside. The last comes about three hours after the first. */
const ATTEMPTS = 10;

/** Seconds until the next try: 20, 40, 80, … */
const backOff = (attempts: number): number => 10 * 2 ** attempts;

/**
 * Delivers everything that is due, the next as soon as one is done: nobody waits for a slow client but itself. Returns how
 * many were taken.
 */
export async function deliverNotices(deps: Needs): Promise<number> {
  const underWay = new Map<Promise<void>, string>();
  const take = (): Promise<notices.Due | undefined> => {
    const busy = [...Map.groupBy(underWay.values(), (client_id) => client_id)]
      .filter(([, deliveries]) => deliveries.length >= LANES_OF_ONE)
      .map(([client_id]) => client_id);
    const now = deps.clock();
    return notices.take(deps.db, busy, secondsAfter(now, LEASE), now);
  };
  try {
    for (let taken = 0; ;) {
      const idle = underWay.size === 0;
      const notice = underWay.size < LANES ? await take() : undefined;
      if (notice) {
        taken += 1;
        const delivery: Promise<void> = deliver(deps, notice, deps.clock())
          .catch((error: unknown) => deps.log.warn({ err: error }, 'a notice could not be settled; it is sent again'))
          .finally(() => underWay.delete(delivery));
        underWay.set(delivery, notice.client_id);
      } else if (idle) return taken;
      // What ended while we looked may have made room for more.
      else if (underWay.size > 0) await Promise.race(underWay.keys());
    }
  } finally {
    await Promise.all(underWay.keys());
  }
}

async function deliver(deps: Needs, notice: notices.Due, now: Date): Promise<void> {
  const { notice_id, client_id, attempts, backchannel_logout_uri } = notice;
  const client = await deps.directory.client(client_id);
  if (!client) return;
  try {
    const logout_token = await issueLogoutToken(deps, client, notice, now);
    const { status } = await deps.fetch(backchannel_logout_uri, {
      method: 'POST',
      trusted: client.registered_by === 'operator',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token }).toString(),
    });
    // §2.8: 200; some frameworks answer 204.
    if (status !== 200 && status !== 204) throw new Error(`the client answered ${status}`);
    await notices.delivered(deps.db, notice_id);
  } catch (error) {
    const dead = attempts >= ATTEMPTS;
    const last_failure = error instanceof Error ? error.message : 'unknown';
    const outcome = { next_at: secondsAfter(now, backOff(attempts)), dead_at: dead ? now : null, last_failure };
    await notices.failed(deps.db, notice_id, outcome);
    deps.log.warn({ err: error, client_id, attempts, dead }, 'a client could not be told of a sign-out');
  }
}

/** Sends a notice that was given up again, at the worker's next turn. False when there is none such. */
export function retryNotice({ db }: Pick<Needs, 'db'>, notice_id: string, by: Actor, now: Date): Promise<boolean> {
  return transact(db, async (trx) => {
    const revived = await notices.revive(trx, notice_id, now);
    if (revived) await record(trx, { event: 'logout_notice_retried', ...revived, detail: { notice_id } }, by, now);
    return revived !== undefined;
  });
}

/** Forgets a notice that was given up. False when there is none such. */
export function removeNotice({ db }: Pick<Needs, 'db'>, notice_id: string, by: Actor, now: Date): Promise<boolean> {
  return transact(db, async (trx) => {
    const removed = await notices.removeDead(trx, notice_id);
    if (removed) await record(trx, { event: 'logout_notice_deleted', ...removed, detail: { notice_id } }, by, now);
    return removed !== undefined;
  });
}
