/** A page that waits until somebody read their mail: what was typed on it, for the browser it was typed in. */
import type { Deps } from '../deps.ts';
import { readHandle, type HandleKey } from '../protocol/handle.ts';
import type { Db, Trx } from '../store/postgres/db.ts';
import * as store from '../store/waiting-pages.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { drawRequest, PURPOSES, type Purpose } from './links.ts';

/** What was typed, and where the page leads to. */
export interface Typed {
  email: string;
  /** The interaction that goes on afterwards. */
  interaction?: string | undefined;
  name?: string | undefined;
  /** The hash of the password that was chosen: of use in the browser that chose it alone. */
  phc?: string | undefined;
  /** The language of the page, and so of the mail. */
  lang: string;
}

/** A page, with what was typed on it. */
export interface Waiting {
  row: store.WaitingPage;
  typed: Typed;
}

const labelOf = ({ hash }: HandleKey): string => `waiting page ${hash.toString('base64url')}`;

/** Keeps what was typed; returns the handle by which its page is found again. */
export async function startWaiting(
  db: Db | Trx,
  deps: Pick<Deps, 'random' | 'secrets'>,
  purpose: Purpose,
  browser_hash: Buffer,
  typed: Typed,
  now: Date,
): Promise<string> {
  const { handle, ...key } = drawRequest(deps, purpose, now);
  await store.insert(db, {
    ...key,
    purpose,
    browser_hash,
    sealed: deps.secrets.seal(Buffer.from(JSON.stringify(typed)), labelOf(key)),
    created_at: now,
    expires_at: secondsAfter(now, PURPOSES[purpose]),
  });
  return handle;
}

/** The page of this browser. Undefined for none, and where its key is lost: whoever waits begins again. */
export async function findWaiting(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  purpose: Purpose,
  key: HandleKey | undefined,
  browser_hash: Buffer,
  now: Date,
): Promise<Waiting | undefined> {
  const waiting = key && (await openWaiting(db, secrets, purpose, key, now));
  return waiting?.row.browser_hash.equals(browser_hash) ? waiting : undefined;
}

/** The page, in whichever browser. */
export async function openWaiting(
  db: Db | Trx,
  secrets: Deps['secrets'],
  purpose: Purpose,
  key: HandleKey,
  now: Date,
): Promise<Waiting | undefined> {
  const row = await store.find(db, key, purpose, now);
  if (!row) return undefined;
  try {
    return { row, typed: JSON.parse(secrets.open(row.sealed, labelOf(row)).toString()) as Typed };
  } catch {
    return undefined;
  }
}

/** The key of a page's handle; undefined for what is none. */
export const waitingKey = (request: string | undefined): HandleKey | undefined =>
  request === undefined ? undefined : readHandle(request);
