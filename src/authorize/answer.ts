/** The answer to an authorization request: whether one can be given without asking anybody, and the code it holds. */
import type { Deps } from '../deps.ts';
import type { AuthorizationRequest, InteractionRequest } from '../protocol/authorization-request.ts';
import { metContext, readContexts } from '../protocol/acr.ts';
import { claimNames } from '../protocol/claims-request.ts';
import type { OAuthError } from '../protocol/error.ts';
import { isPublic } from '../protocol/client.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { registeredAs } from '../protocol/redirect-uri.ts';
import { withoutOwn } from '../protocol/resource.ts';
import { sectorOf } from '../protocol/sector.ts';
import { OFFLINE_ACCESS } from '../protocol/scope.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import type { Client } from '../store/clients.ts';
import * as consents from '../store/consents.ts';
import { drawHandle, drawId, type HandleKey } from '../protocol/handle.ts';
import * as interactions from '../store/interactions.ts';
import * as pushedRequests from '../store/pushed-requests.ts';
import type { LiveSession } from '../store/sessions.ts';
import { noteUse } from '../sessions/index.ts';
import { subjectFor } from '../tokens/subject.ts';
import { codeLife, grantLife } from '../tokens/terms.ts';
import { claimsOpenedBy } from '../users/claims.ts';
import { refusalAt, signedInMeanwhile, type Situation, type Step } from './next-step.ts';
import { candidatesFor, personFor } from './person.ts';
import { respond, type Delivery } from './response-modes.ts';
import { deliverRefusal } from './unapproved.ts';

export type Needs = Pick<Deps, 'clientKeys' | 'config' | 'db' | 'directory' | 'keys' | 'random' | 'requestUris'>;

/** Seconds a person has to finish: long enough for a lost phone, short enough for a shared one. */
export const INTERACTION_TTL = 3600;

/** What to do with a request: deliver an answer, or send the person to an interaction's page. */
export type Outcome =
  | { answer: Delivery; refusal?: OAuthError; needs_confirmation?: boolean }
  | { interaction: string; step: Step | 'unbound' };

/** The rows that one answer uses up, in the statement that writes it: each of them is answered once. */
export interface SingleUse {
  interaction: HandleKey | null;
  pushed: HandleKey | null;
}

/** The situation of a request: which of the people signed in it is about, and what that person agreed to before. */
export async function situationOf<Request extends InteractionRequest>(
  { config, db, directory, keys }: Needs,
  sent: Request,
  progress: Situation['progress'],
  client: Client,
  sessions: readonly LiveSession[],
  now: Date,
): Promise<Situation<Request>> {
  const scopes = await directory.scopes();
  const request = resolveSubjects({ keys }, sent, client, sessions);
  const candidates = candidatesFor(request, sessions);
  const session = personFor(request, progress, candidates, sessions);
  if (session) await noteUse({ db }, session, now);
  const agreed = (session && (await consents.find(db, consentKey(session.sub, request)))) ?? { scope: [], claims: [] };
  const opened = claimsOpenedBy(request.scope, scopes);
  const claims = claimNames(request.claims).filter((name) => !opened.has(name));
  const remembered = { scope: agreed.scope, claims: [...agreed.claims, ...claimsOpenedBy(agreed.scope, scopes)] };
  const contexts = readContexts(config.ACR_VALUES);
  return { request, progress, client, candidates, session, claims, remembered, contexts, policy: config, now };
}

/** A `sub` that no person has. */
const NO_SUBJECT = '';

/**
 * Replaces the `sub` in id_token_hint and `claims` by the real one of one of these people, else by nobody's. Only the client's
 * own form of a `sub` is matched: a client of pairwise subjects could otherwise probe with a public one (Core §8.1).
 */
function resolveSubjects<Request extends InteractionRequest>(
  deps: Pick<Deps, 'keys'>,
  request: Request,
  client: Client,
  people: ReadonlyArray<{ sub: string }>,
): Request {
  const { hinted_sub, requested_sub } = request;
  const sector = sectorOf(client);
  const realOf = (subjects: readonly string[]): string[] => {
    const matching = people.filter(({ sub }) => subjects.includes(subjectFor(deps, sector, sub)));
    return matching.length > 0 ? matching.map(({ sub }) => sub) : [NO_SUBJECT];
  };
  return {
    ...request,
    ...(hinted_sub !== undefined && { hinted_sub: realOf([hinted_sub])[0] }),
    ...(requested_sub !== undefined && { requested_sub: realOf(requested_sub) }),
  };
}

export const consentKey = (sub: string, { client_id, resource }: InteractionRequest): consents.ConsentKey => ({
  sub,
  client_id,
  resource: consents.resourceKey(resource),
});

/** The answer, when one can be given without asking anybody: a code, or the error of prompt=none (Core §3.1.2.6). */
export async function answerNow(
  deps: Needs,
  situation: Situation<AuthorizationRequest>,
  step: Step,
  single_use: SingleUse,
): Promise<Outcome | undefined> {
  const { request, client, session, now } = situation;
  if (step !== 'done') {
    const refusal = refusalAt(step, situation);
    if (!refusal) return undefined;
    const exempt = request.prompt.includes('none') || signedInMeanwhile(situation);
    const people = situation.candidates;
    const delivered = await deliverRefusal(deps, client, request, refusal, { people, exempt }, now);
    return (await claimAnswer(deps, single_use, now)) ? delivered : undefined;
  }
  const answer = session && (await issueCode(deps, situation, session, single_use));
  return answer && { answer };
}

/** Claims the one answer of a request for a refusal; false when it was answered already. */
export async function claimAnswer(
  { db }: Pick<Deps, 'db'>,
  { interaction, pushed }: SingleUse,
  now: Date,
): Promise<boolean> {
  if (interaction) return interactions.answer(db, interaction, pushed, now);
  return pushed === null || pushedRequests.use(db, pushed, now);
}

/**
 * Writes grant and code, and returns the answer that brings it. Undefined when just now the session ended, the client changed, or the
 * request was answered.
 */
async function issueCode(
  deps: Needs,
  { request, client, contexts, now }: Situation<AuthorizationRequest>,
  session: LiveSession,
  single_use: SingleUse,
): Promise<Delivery | undefined> {
  const { config, random } = deps;
  const code_life = codeLife(deps, client);
  const life = await grantLife(deps, client, request.resource, code_life);
  const grant_expires_at = secondsAfter(now, life);
  const { handle, ...code } = drawHandle(random, grant_expires_at);
  // Before anything is spent: a code whose answer cannot be made would be lost.
  const answer = await respond(deps, client, request, { code: handle }, now);
  const issued = await authorizationCodes.issue(
    deps.db,
    {
      ...single_use,
      code,
      grant: {
        grant_id: drawId(random, grant_expires_at),
        expires_at: grant_expires_at,
        client_id: client.client_id,
        scope: request.scope,
        resource: request.resource,
        acr: metContext(contexts, request.acr?.values ?? [], session.amr) ?? session.acr,
        requested_claims: request.claims ?? null,
        authorization_details: request.authorization_details ?? null,
        offline: request.scope.includes(OFFLINE_ACCESS),
        sector: sectorOf(client),
        confidential: !isPublic(client),
      },
      redirect_uri: request.redirect_uri,
      registered_uri: registeredAs(request.redirect_uri, client.redirect_uris, client.application_type) ?? null,
      registered_resources: withoutOwn(request.resource, config.ISSUER),
      code_challenge: request.code_challenge ?? null,
      dpop_jkt: request.dpop_jkt ?? null,
      nonce: request.nonce ?? null,
      expires_at: secondsAfter(now, code_life),
      session,
    },
    now,
  );
  return issued ? answer : undefined;
}
