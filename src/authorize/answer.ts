/** The answer to an authorization request: whether one can be given without asking anybody, and the code it holds. */
import type { Deps } from '../deps.ts';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { metContext, readContexts } from '../protocol/acr.ts';
import { claimNames } from '../protocol/claims-request.ts';
import type { OAuthError } from '../protocol/error.ts';
import { isPublic } from '../protocol/client-metadata.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { registeredAs } from '../protocol/redirect-uri.ts';
import { notOwn } from '../protocol/resource.ts';
import { sectorOf } from '../protocol/sector.ts';
import { OFFLINE_ACCESS } from '../protocol/scope.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import type { Client } from '../store/clients.ts';
import * as consents from '../store/consents.ts';
import { drawHandle, drawId, type HandleKey } from '../store/handle.ts';
import * as interactions from '../store/interactions.ts';
import * as pushedRequests from '../store/pushed-requests.ts';
import type { LiveSession } from '../store/sessions.ts';
import { noteUse } from '../sessions/index.ts';
import { subjectFor } from '../tokens/subject.ts';
import { grantLife } from '../tokens/terms.ts';
import { claimsOpenedBy } from '../users/claims.ts';
import { refusalAt, signedInMeanwhile, type Situation, type Step } from './next-step.ts';
import { candidatesFor, personFor } from './person.ts';
import { respond, type Delivery } from './response-modes.ts';
import { tell } from './unapproved.ts';

export type Needs = Pick<Deps, 'clientKeys' | 'config' | 'db' | 'directory' | 'keys' | 'random' | 'requestUris'>;

/** Seconds a person has to finish: long enough for a lost phone, short enough for a shared one. */
export const INTERACTION_TTL = 3600;

/** What to do with a request: deliver an answer, or send the person to an interaction's page. */
export type Outcome =
  { answer: Delivery; refusal?: OAuthError; held?: boolean } | { interaction: string; step: Step | 'unbound' };

/** What a code uses up in the statement that writes it: each of these gives one. */
export interface Claims {
  interaction: HandleKey | null;
  pushed: HandleKey | null;
}

/** Adds whom of those signed in the request is about, and what this person agreed to before. */
export async function situate(
  { config, db, directory, keys }: Needs,
  sent: AuthorizationRequest,
  progress: Situation['progress'],
  client: Client,
  sessions: readonly LiveSession[],
  now: Date,
): Promise<Situation> {
  const known = await directory.scopes();
  const request = resolveSubjects({ keys }, sent, client, sessions);
  const candidates = candidatesFor(request, sessions);
  const session = personFor(request, progress, candidates, sessions);
  if (session) await noteUse({ db }, session, now);
  const agreed = (session && (await consents.find(db, consentKey(session.sub, request)))) ?? { scope: [], claims: [] };
  const opened = claimsOpenedBy(request.scope, known);
  const claims = claimNames(request.claims).filter((name) => !opened.has(name));
  const remembered = { scope: agreed.scope, claims: [...agreed.claims, ...claimsOpenedBy(agreed.scope, known)] };
  const contexts = readContexts(config.ACR_VALUES);
  return { request, progress, client, candidates, session, claims, remembered, contexts, now };
}

/** Nobody's `sub`. */
const NOBODY = '';

/**
 * The request with the real `sub` of whom its hint and its `claims` are about, where that is one of these people; else
 * nobody's. A client that is told pairwise subjects could otherwise try a public one.
 */
function resolveSubjects(
  deps: Pick<Deps, 'keys'>,
  request: AuthorizationRequest,
  client: Client,
  people: ReadonlyArray<{ sub: string }>,
): AuthorizationRequest {
  const { hinted_sub, requested_sub } = request;
  const sector = sectorOf(client);
  const realOf = (told: readonly string[]): string[] => {
    const meant = people.filter(({ sub }) => told.includes(subjectFor(deps, sector, sub)));
    return meant.length > 0 ? meant.map(({ sub }) => sub) : [NOBODY];
  };
  return {
    ...request,
    ...(hinted_sub !== undefined && { hinted_sub: realOf([hinted_sub])[0] }),
    ...(requested_sub !== undefined && { requested_sub: realOf(requested_sub) }),
  };
}

export const consentKey = (sub: string, { client_id, resource }: AuthorizationRequest): consents.ConsentKey => ({
  sub,
  client_id,
  resource: consents.resourceKey(resource),
});

/** The answer, when one can be given without asking anybody: a code, or what prompt=none says instead. */
export async function answerNow(
  deps: Needs,
  situation: Situation,
  step: Step,
  claims: Claims,
): Promise<Outcome | undefined> {
  const { request, session, now } = situation;
  const { ISSUER } = deps.config;
  if (step !== 'done') {
    const refusal = refusalAt(step, situation);
    if (!refusal) return undefined;
    if (!(await useUp(deps, claims, now))) return undefined;
    const led = request.prompt.includes('none') || signedInMeanwhile(situation);
    return tell(deps, situation.client, request, refusal, { people: situation.candidates, led });
  }
  const code = session && (await issueCode(deps, situation, session, claims));
  return code === undefined ? undefined : { answer: respond(request, ISSUER, { code }) };
}

/** Claims the one answer for a refusal: from then on there is no other. False when it was given already. */
export async function useUp({ db }: Pick<Deps, 'db'>, { interaction, pushed }: Claims, now: Date): Promise<boolean> {
  if (interaction) return interactions.answer(db, interaction, pushed, now);
  return pushed === null || pushedRequests.use(db, pushed, now);
}

/** Writes grant and code; undefined when the session ended, the client lost what it asks with, or what it claims was used, just now. */
async function issueCode(
  deps: Needs,
  { request, client, contexts, now }: Situation,
  session: LiveSession,
  claims: Claims,
): Promise<string | undefined> {
  const { config, random } = deps;
  const life = await grantLife(deps, client, request.resource, config.AUTHORIZATION_CODE_TTL);
  const grant_expires_at = secondsAfter(now, life);
  const { handle, ...code } = drawHandle(random, grant_expires_at);
  const issued = await authorizationCodes.issue(
    deps.db,
    {
      ...claims,
      code,
      grant: {
        grant_id: drawId(random, grant_expires_at),
        expires_at: grant_expires_at,
        client_id: client.client_id,
        scope: request.scope,
        resource: request.resource,
        acr: metContext(contexts, request.acr?.values ?? [], session.amr) ?? session.acr,
        requested_claims: request.claims ?? null,
        offline: request.scope.includes(OFFLINE_ACCESS),
        sector: sectorOf(client),
        confidential: !isPublic(client),
      },
      redirect_uri: request.redirect_uri,
      registered_uri: registeredAs(request.redirect_uri, client.redirect_uris, client.application_type) ?? null,
      registered_resources: notOwn(request.resource, config.ISSUER),
      code_challenge: request.code_challenge ?? null,
      nonce: request.nonce ?? null,
      expires_at: secondsAfter(now, config.AUTHORIZATION_CODE_TTL),
      session,
    },
    now,
  );
  return issued ? handle : undefined;
}
