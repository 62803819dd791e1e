/**
 * One-time links and six-digit codes that people get by mail. A link is 256 bits, of which a hash is kept; it is good once, for one
 * purpose, and for the person or address it was made for. A page opens it without using it; a button uses it.
 */
import type { Deps } from '../deps.ts';
import { drawHandle, readHandle, type Handle } from '../protocol/handle.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import type { Db, Trx } from '../store/postgres/db.ts';
import * as links from '../store/person-links.ts';

export type { PersonLink } from '../store/person-links.ts';

/** What a link can be for, and for how many seconds. */
export const PURPOSES = {
  'reset-password': 3600,
  'verify-email': 3600,
  // OWASP ASVS 6.5.5: what signs somebody in by another way than their browser is good for ten minutes at most.
  'sign-in': 600,
  'change-email': 3600,
  'undo-email': 7 * DAY,
  invitation: 7 * DAY,
} as const satisfies Record<string, number>;
export type Purpose = keyof typeof PURPOSES;

/** Those that are asked for in a session, and not by whoever reads the mail. */
const ASKED_BY_SESSIONS: readonly Purpose[] = ['change-email'];

/** How often a code may be typed wrong: then the page has to ask for another one. */
export const CODE_TRIES = 5;

type Needs = Pick<Deps, 'random' | 'secrets'>;

/**
 * A page that waits for a code: its handle goes into the page's address, and into what is asked for. Made before anybody knows
 * whether there will be a code.
 */
export const drawRequest = ({ random }: Pick<Deps, 'random'>, purpose: Purpose, now: Date): Handle =>
  drawHandle(random, secondsAfter(now, PURPOSES[purpose]));

/** What a link is made for. */
export interface NewLink {
  purpose: Purpose;
  sub?: string | undefined;
  /** The address that it is sent to. */
  email?: string | undefined;
  /** What whoever uses it has to know. No secrets. */
  detail?: Record<string, string> | undefined;
  /** The page where a code may be typed instead, by its handle, and its browser. */
  page?: { request: string; browser_hash: Buffer } | undefined;
}

/** A link that was made: for its mail, and nobody else. */
export interface MadeLink {
  token: string;
  /** Six digits, where a page waits for them. */
  code: string | undefined;
  expires_at: Date;
  /** Seconds until then. */
  lifetime: number;
}

/** Makes a link. Where it is for a page, the page's handle says when it ends. */
export async function makeLink(
  trx: Trx,
  { random, secrets }: Needs,
  { purpose, sub, email, detail = {}, page }: NewLink,
  now: Date,
): Promise<MadeLink> {
  const lifetime = PURPOSES[purpose];
  const expires_at = secondsAfter(now, lifetime);
  const request = page && readHandle(page.request);
  const { handle, ...own } = drawHandle(random, expires_at);
  // In the day of its page, which finds it by that.
  const token = request ? handle.replace(/^[^_]*/, request.expires_bucket.toString(36)) : handle;
  const key = request ? readHandle(token)! : own;
  const code = request && drawCode(random);
  await links.insert(trx, {
    ...key,
    purpose,
    sub: sub ?? null,
    email: email ?? null,
    detail,
    request_hash: request?.hash ?? null,
    browser_hash: page?.browser_hash ?? null,
    code_mac: request && code !== undefined ? macOf(secrets, request.hash, code) : null,
    created_at: now,
    expires_at,
  });
  return { token, code, expires_at, lifetime };
}

/** A link that is good; this changes nothing. Undefined for one that was used, is void, has expired or is for something else. */
export async function openLink(
  db: Db,
  purpose: Purpose,
  token: string,
  now: Date,
): Promise<links.PersonLink | undefined> {
  const key = readHandle(token);
  return key && links.find(db, key, purpose, now);
}

/**
 * Uses a link up. Undefined where it is not good any more. Whoever changes an account locks that first, by what `openLink`
 * said: accounts come before links, everywhere.
 */
export async function useLink(
  trx: Trx,
  purpose: Purpose,
  token: string,
  now: Date,
): Promise<links.PersonLink | undefined> {
  const key = readHandle(token);
  return key && links.use(trx, key, purpose, now);
}

/** What came of a code: the link it stands for, which is used up now; or it was wrong; or nothing waits for one any more. */
export type CodeVerdict = links.PersonLink | 'wrong' | 'over';

/**
 * Takes a code that was typed on the page that asked for it. Wrong tries are counted in the same statement: it may not be in a
 * transaction that is rolled back.
 */
export async function useCode(
  db: Db | Trx,
  { secrets }: Pick<Deps, 'secrets'>,
  typed: { purpose: Purpose; request: string; browser_hash: Buffer; code: string },
  now: Date,
): Promise<CodeVerdict> {
  const request = readHandle(typed.request);
  if (!request) return 'over';
  const code_mac = macOf(secrets, request.hash, typed.code.replaceAll(/[\s-]/g, ''));
  const { purpose, browser_hash } = typed;
  const found = await links.tryCode(db, { request, browser_hash, code_mac, purpose, most: CODE_TRIES }, now);
  if (!found) return 'over';
  if (found.matched) return found;
  return found.attempts >= CODE_TRIES ? 'over' : 'wrong';
}

/** Makes links of a person void: those of these purposes, or every one. Their account is locked. */
export const voidLinks = (trx: Trx, sub: string, now: Date, purposes?: readonly Purpose[]): Promise<void> =>
  links.voidAllOf(trx, sub, now, purposes);

/** Makes links void that take back a change of address, those made since then. */
export const voidUndoSince = (trx: Trx, sub: string, since: Date, now: Date): Promise<void> =>
  links.voidAllOf(trx, sub, now, ['undo-email'], since);

/** What somebody asked for who may have been signed in as another: it ends with the sign-ins that it was asked in. */
export const voidAsked = (trx: Trx, sub: string, now: Date): Promise<void> =>
  links.voidAllOf(trx, sub, now, ASKED_BY_SESSIONS);

/** Six digits, each as likely as any other: a number that would make some likelier is drawn again. */
function drawCode(random: Deps['random']): string {
  const number = random(4).readUInt32BE();
  return number < 4_294_000_000 ? String(number % 1_000_000).padStart(6, '0') : drawCode(random);
}

// A million codes are tried in no time: without a key of ours nobody who reads the table learns one.
const macOf = (secrets: Needs['secrets'], request: Buffer, code: string): Buffer =>
  secrets.mac('code', [request, code]);
