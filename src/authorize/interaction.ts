/** Interactions: requests that wait for a person. Each verb records one proof; `resume` goes on from where that leads. */
import { record, type Requester } from '../events/index.ts';
import { typesOf } from '../protocol/authorization-details.ts';
import type { AuthorizationRequest, InteractionRequest } from '../protocol/authorization-request.ts';
import { accessDenied, invalidRequest, type OAuthError } from '../protocol/error.ts';
import * as consents from '../store/consents.ts';
import { transact } from '../store/postgres/db.ts';
import * as interactions from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';
import { isSubset } from '../protocol/scope.ts';
import { checkAgain, checkAgainUncached, clientOf, endpointOf } from './again.ts';
import { answerNow, consentKey, situationOf, claimAnswer, type Needs, type Outcome } from './answer.ts';
import { finishDevice } from './device.ts';
import { offerTo } from './passkey-offer.ts';
import { nextStep, signedInMeanwhile, type Situation, type Step } from './next-step.ts';
import { grantLife } from '../tokens/terms.ts';
import { RefusedAtTarget } from './request.ts';
import { respond } from './response-modes.ts';
import { deliverRefusal } from './unapproved.ts';

/** An interaction opened by its own browser, with everything its pages need. */
export interface Opened extends Situation {
  id: string;
  row: interactions.Interaction;
  step: Step;
  /** The refusal for the client where the request does not pass its checks any more. */
  refused: RefusedAtTarget | undefined;
}

/** Is an interaction this browser's? One that came without a cookie is bound to the first browser that opens it. */
export async function isOfBrowser(
  { db }: Pick<Needs, 'db'>,
  interaction: interactions.Interaction,
  browser_hash: Buffer,
): Promise<boolean> {
  if (interaction.browser_hash === null) return interactions.bind(db, interaction, browser_hash);
  return interaction.browser_hash.equals(browser_hash);
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
  const checked = await checkAgain(deps, client, row.request, endpointOf(row), now);
  const refused = checked instanceof RefusedAtTarget ? checked : undefined;
  const request = checked instanceof RefusedAtTarget ? row.request : checked;
  const situation = await situationOf(deps, request, row, client, sessions, now);
  return { ...situation, id, row, step: refused ? 'done' : nextStep(situation), refused };
}

/** Goes on from where the interaction stands: the answer, once, or the step that is next. */
export async function resume(deps: Needs, opened: Opened, by: Requester): Promise<Outcome> {
  if (!goesToClient(opened)) return finishDevice(deps, opened, by);
  const { row, request, now, id, step, refused } = opened;
  if (refused) return refuse(deps, opened, refused);
  const single_use = { interaction: row, pushed: interactions.pushedOf(row) };
  if (row.refused_error !== null) {
    const refusal = accessDenied('the person did not allow the request', {
      check: 'consent',
      client_id: row.client_id,
      sub: opened.session?.sub,
      received: 'the person cancelled or declined',
    });
    const answer = await respond(deps, opened.client, request, refusal, now);
    if (!(await claimAnswer(deps, single_use, now))) throw alreadyAnswered();
    return { answer, refusal };
  }
  const answer = await answerNow(deps, opened, step, single_use);
  if (answer) return answer;
  if (step !== 'done') return { interaction: id, step };
  const rechecked = await checkAgainUncached(deps, row, now);
  if (rechecked instanceof RefusedAtTarget) return refuse(deps, opened, rechecked);
  if (isSubset(request.scope, rechecked.scope)) throw alreadyAnswered();
  return { interaction: id, step };
}

/** Does its answer go to the client by the browser, and not to a device that polls? */
const goesToClient = (opened: Opened): opened is Opened & { request: AuthorizationRequest } =>
  opened.request.user_code === undefined;

/** Answers the client that its request cannot go on: once, like any answer. */
async function refuse(deps: Needs, opened: Opened, { target, refusal, silent }: RefusedAtTarget): Promise<Outcome> {
  const { row, client, candidates, now } = opened;
  const exempt = silent || signedInMeanwhile(opened);
  const delivered = await deliverRefusal(deps, client, target, refusal, { people: candidates, exempt }, now);
  const single_use = { interaction: row, pushed: interactions.pushedOf(row) };
  if (!(await claimAnswer(deps, single_use, now))) throw alreadyAnswered();
  return delivered;
}

export const alreadyAnswered = (): OAuthError =>
  invalidRequest('this request was answered already', { check: 'interaction', expected: 'one answer to a request' });

/** Does it refuse because the request was answered before, and not because a check failed? */
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
export async function signedIn(
  deps: Needs,
  { row }: Opened,
  sub: string,
  { offers = false }: { offers?: boolean } = {},
): Promise<void> {
  const offer = offers ? { passkey_offer_sub: await offerTo(deps, sub) } : {};
  await interactions.record(deps.db, row, { selected_sub: sub, ...offer });
}

/** The person wants to sign in as somebody else: only a sign-in from now on counts. */
export async function switchAccount(deps: Needs, { row, now }: Opened): Promise<void> {
  await interactions.record(deps.db, row, {
    sign_in_after: now,
    selected_sub: null,
    consented_sid: null,
    second_factor_later_sid: null,
  });
}

/** The person goes on without the second factor that the client only wished for. */
export async function goOnWithout(deps: Needs, { row, session }: Opened): Promise<void> {
  if (session) await interactions.record(deps.db, row, { second_factor_later_sid: session.sid });
}

/** The person has to sign in again before they set something up: only a sign-in from now on counts. */
export async function signInAgain(deps: Needs, { row, now, session }: Opened): Promise<void> {
  await interactions.record(deps.db, row, { sign_in_after: now, selected_sub: session?.sub ?? null });
}

/** The person left the sign-in page. */
export async function cancel(deps: Needs, { row }: Opened): Promise<void> {
  await interactions.record(deps.db, row, { refused_error: 'access_denied' });
}

/** For how many seconds at most a client keeps what it is allowed: as long as it can refresh, or as its access token lives. */
export const accessLasts = (deps: Needs, { client, request }: Opened): Promise<number> =>
  grantLife(deps, client, request.resource, 0);

/** Their types alone: what is in them is about people, and stands in the grant. */
const detailsOf = ({
  authorization_details,
}: InteractionRequest): { authorization_details_types?: readonly string[] } =>
  authorization_details ? { authorization_details_types: typesOf(authorization_details) } : {};

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
    const detail = {
      scope: request.scope,
      resource: key.resource,
      ...(claims.length > 0 && { claims }),
      ...detailsOf(request),
    };
    await record(trx, { event: approved ? 'consent' : 'consent_denied', sub, client_id, detail }, by, now);
  });
}
