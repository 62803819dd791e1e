/**
 * What a stranger may ask for by a name: the door writes it down and answers, always the same and after the same work; a worker
 * then looks whether there is such an account, and posts the mail.
 */
import type { Deps } from '../deps.ts';
import { newId } from '../protocol/handle.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { transact, type Db, type Trx } from '../store/postgres/db.ts';
import * as requests from '../store/mail-requests.ts';

/** What is to be answered: what was typed, and what the answer needs beside it. */
export type Asked = Readonly<Record<string, string | undefined>>;

/** Answers one kind of request, in the transaction that removes it. */
export type Answer<Needs> = (trx: Trx, deps: Needs, asked: Asked, now: Date) => Promise<void>;

const labelOf = (request_id: string): string => `mail request ${request_id}`;
/** Seconds a process has for an answer before others may give it. */
const LEASE = 60;
/** Seconds after which nobody waits for an answer any more. */
const FORGOTTEN = 3600;

/** Writes a request down: what is in it is sealed, since people type passwords into every field. */
export async function askForMail(
  db: Db | Trx,
  { secrets, random }: Pick<Deps, 'secrets' | 'random'>,
  kind: string,
  asked: Asked,
  now: Date,
): Promise<void> {
  const request_id = newId(random, 16);
  const sealed = secrets.seal(Buffer.from(JSON.stringify(asked)), labelOf(request_id));
  await requests.insert(db, { request_id, kind, sealed, next_at: now, created_at: now });
}

/** Answers everything that was asked. Returns how many were taken. */
export async function answerMailRequests<Needs extends Pick<Deps, 'db' | 'secrets' | 'clock' | 'log'>>(
  deps: Needs,
  answers: Readonly<Record<string, Answer<Needs>>>,
): Promise<number> {
  const { db, secrets, clock, log } = deps;
  for (let taken = 0; ; taken += 1) {
    const now = clock();
    const request = await requests.take(db, secondsAfter(now, LEASE), now);
    if (!request) return taken;
    const { request_id, kind, sealed, created_at } = request;
    const answer = answers[kind];
    let asked: Asked | undefined;
    try {
      asked = JSON.parse(secrets.open(sealed, labelOf(request_id)).toString()) as Asked;
    } catch {
      log.warn({ kind }, 'a request for mail was sealed under a key that is not in SECRET_KEYS: it is forgotten');
    }
    if (asked === undefined || created_at <= secondsAfter(now, -FORGOTTEN)) await requests.remove(db, request_id);
    // A newer version may have asked for what this one does not know.
    else if (answer) await answerOne(deps, request_id, (trx) => answer(trx, deps, asked, now));
  }
}

async function answerOne(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  request_id: string,
  answer: (trx: Trx) => Promise<void>,
): Promise<void> {
  try {
    await transact(db, async (trx) => {
      if (await requests.remove(trx, request_id)) await answer(trx);
    });
  } catch (error) {
    log.warn({ err: error }, 'a request for mail could not be answered; it is tried again');
  }
}
