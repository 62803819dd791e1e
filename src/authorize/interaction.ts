/** Interactions: requests that wait for a person. Each verb records one proof; `resume` goes on from where that leads. */
import { record, type Requester } from '../events/index.ts';
import { accessDenied, invalidRequest, type OAuthError } from '../protocol/error.ts';
import * as consents from '../store/consents.ts';
import { transact } from '../store/db.ts';
import * as interactions from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';
import { isSubset } from '../protocol/scope.ts';
import { checkAgain, checkAnew, clientOf } from './again.ts';
import { answerNow, consentKey, situate, useUp, type Needs, type Outcome } from './answer.ts';
import { finishDevice } from './device.ts';
import { nextStep, signedInMeanwhile, type Situation, type Step } from './next-step.ts';
import { RefusedAtTarget } from './request.ts';
import { respond } from './response-modes.ts';
import { tell } from './unapproved.ts';

/** An interaction opened by its own browser, with everything its pages need. */
export interface Opened extends Situation {
  id: string;
  row: interactions.Interaction;
  step: Step;
  /** What the client is told instead of going on: by today's rows it may not ask for this. */
  refused: RefusedAtTarget | undefined;
}

/**
 * Finds out where an interaction stands today. @throws OAuthError for an error page, when its client is gone, or the address
 * that its answer would go to
 */
export async function open(
  deps: Needs,
  id: string,
  row: interactions.Interaction,
  sessions: readonly LiveSession[],
  now: Date,
): Promise<Opened> {
  const client = await clientOf(deps, row.client_id);
  const checked = await checkAgain(deps, client, row.request, { pushed: row.pushed_hash !== null }, now);
  const refused = checked instanceof RefusedAtTarget ? checked : undefined;
  const request = checked instanceof RefusedAtTarget ? row.request : checked;
  const situation = await situate(deps, request, row, client, sessions, now);
  return { ...situation, id, row, step: refused ? 'done' : nextStep(situation), refused };
}

/** Goes on from where the interaction stands: the answer, once, or the step that is next. */
export async function resume(deps: Needs, opened: Opened, by: Requester): Promise<Outcome> {
  const device = interactions.deviceOf(opened.row);
  if (device) return finishDevice(deps, opened, device, by);
  const { row, request, now, id, step, refused } = opened;
  if (refused) return refuse(deps, opened, refused);
  const claims = { interaction: row, pushed: interactions.pushedOf(row) };
  if (row.refused_error !== null) {
    const refusal = accessDenied('the person did not allow the request', {
      check: 'consent',
      client_id: row.client_id,
      sub: opened.session?.sub,
      received: 'the person cancelled or declined',
    });
    if (!(await useUp(deps, claims, now))) throw alreadyAnswered();
    return { answer: respond(request, deps.config.ISSUER, refusal), refusal };
  }
  const answer = await answerNow(deps, opened, step, claims);
  if (answer) return answer;
  if (step !== 'done') return { interaction: id, step };
  const anew = await checkAnew(deps, row, now);
  if (anew instanceof RefusedAtTarget) return refuse(deps, opened, anew);
  if (isSubset(request.scope, anew.scope)) throw alreadyAnswered();
  return { interaction: id, step };
}

/** Tells the client that its request cannot go on: once, like any answer. */
async function refuse(deps: Needs, opened: Opened, { target, refusal, silent }: RefusedAtTarget): Promise<Outcome> {
  const { row, client, candidates, now } = opened;
  if (!(await useUp(deps, { interaction: row, pushed: interactions.pushedOf(row) }, now))) throw alreadyAnswered();
  return tell(deps, client, target, refusal, { people: candidates, led: silent || signedInMeanwhile(opened) });
}

export const alreadyAnswered = (): OAuthError =>
  invalidRequest('this request was answered already', { check: 'interaction', expected: 'one answer to a request' });

/** Is it that an answer was given before, and not that by today's rows there may be none? */
export const isAnswered = ({ failed }: OAuthError): boolean => ['interaction', 'user_code'].includes(failed.check);

/** The person chose to go on as one of those signed in; returns whose session that is. Nobody else can be chosen. */
export async function selectAccount(
  deps: Needs,
  { row, candidates }: Opened,
  sub: string | undefined,
): Promise<LiveSession | undefined> {
  const chosen = candidates.find((session) => session.sub === sub);
  if (chosen) await interactions.record(deps.db, row, { selected_sub: chosen.sub });
  return chosen;
}

/** Somebody signed in on the page of this request: it is about them from here on. */
export async function signedIn(deps: Needs, { row }: Opened, sub: string): Promise<void> {
  await interactions.record(deps.db, row, { selected_sub: sub });
}

/** The person wants to sign in as somebody else: only a sign-in from now on counts. */
export async function switchAccount(deps: Needs, { row, now }: Opened): Promise<void> {
  await interactions.record(deps.db, row, { sign_in_after: now, selected_sub: null, consented_sid: null });
}

/** The person left the sign-in page. */
export async function cancel(deps: Needs, { row }: Opened): Promise<void> {
  await interactions.record(deps.db, row, { refused_error: 'access_denied' });
}

/** The person answered the consent page. A consent is remembered per person, client and resource. */
export async function decideConsent(deps: Needs, opened: Opened, approved: boolean, by: Requester): Promise<void> {
  const { row, request, session, client, claims, now, refused } = opened;
  if (!session || refused) return;
  const { sub, sid } = session;
  const { client_id } = client;
  const key = consentKey(sub, request);
  await transact(deps.db, async (trx) => {
    // From here on it is about whoever agreed, also where somebody else becomes the browser's current person meanwhile.
    const proof = approved ? { consented_sid: sid, selected_sub: sub } : { refused_error: 'access_denied' };
    if (!(await interactions.record(trx, row, proof))) return;
    if (approved) await consents.remember(trx, key, { scope: request.scope, claims }, now);
    const detail = { scope: request.scope, resource: key.resource, ...(claims.length > 0 && { claims }) };
    await record(trx, { event: approved ? 'consent' : 'consent_denied', sub, client_id, detail }, by, now);
  });
}
