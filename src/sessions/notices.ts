/** Telling clients that a session ended (OpenID Connect Back-Channel Logout): one attempt each, and what follows from it. */
import type { Deps } from '../deps.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import * as notices from '../store/logout-notices.ts';
import { issueLogoutToken } from '../tokens/logout-token.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'clientKeys' | 'random' | 'fetch' | 'log' | 'clock'>;

const BATCH = 10;
/** Seconds a process has for its batch before others may take it over: longer than any fetch may last. */
const LEASE = 60;
/** Attempts until a notice is put aside. The last comes about three hours after the first. */
const ATTEMPTS = 10;

/** Seconds until the next try: 20, 40, 80, … */
const backOff = (attempts: number): number => 10 * 2 ** attempts;

/** Delivers what is due, a batch at a time; returns how many were taken. */
export async function deliverNotices(deps: Needs): Promise<number> {
  const now = deps.clock();
  const due = await notices.take(deps.db, BATCH, secondsAfter(now, LEASE), now);
  await Promise.all(due.map((notice) => deliver(deps, notice, now)));
  return due.length;
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
