/**
 * Authorize: from an authorization request to an approved one. It owns the order of what happens to a request; how a
 * person proves who they are belongs to users, and what the answer looks like to the door.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { accessDenied, invalidRequest, OAuthError } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { OFFLINE_ACCESS } from '../protocol/scope.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import type { Client } from '../store/clients.ts';
import * as consents from '../store/consents.ts';
import { transact } from '../store/db.ts';
import { drawHandle, drawId, type HandleKey } from '../store/handle.ts';
import * as interactions from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';
import { termsOf } from '../tokens/terms.ts';
import { nextStep, prompts, type Situation, type Step } from './next-step.ts';
import { checkRequest, findTarget, RefusedAtTarget } from './request.ts';
import { respond, type Delivery } from './response-modes.ts';

export type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'random'>;

/** Seconds a person has to finish: long enough for a lost phone, short enough for a shared one. */
const INTERACTION_TTL = 3600;

/** Who is in front of the browser, as far as cookies tell. */
export interface Browser {
  session: LiveSession | undefined;
  /** Hash of the cookie that binds interactions; null when the request may have come without its cookies. */
  hash: Buffer | null;
}

/** What to do with a request: deliver an answer, or send the person to an interaction's page. */
export type Outcome = { answer: Delivery; refusal?: OAuthError } | { interaction: string; step: Step | 'unbound' };

/**
 * Takes an authorization request. With `browser.hash` null nothing is decided yet: it came from another site, without
 * cookies, and waits for a GET of ours.
 * @throws OAuthError for an error page
 */
export async function authorize(deps: Needs, parameters: Parameters, browser: Browser, now: Date): Promise<Outcome> {
  const { client, target } = await findTarget(deps, parameters);
  const request = await checkRequest(deps, client, target, parameters, now);
  if (request instanceof RefusedAtTarget) {
    return { answer: respond(target, deps.config.ISSUER, request.refusal), refusal: request.refusal };
  }
  const progress = {
    created_at: now,
    sign_in_after: request.prompt.includes('login') ? now : null,
    selected_sub: null,
    consented_sid: null,
  };
  if (browser.hash !== null) {
    const situation = await situate(deps, request, progress, client, browser.session, now);
    const step = nextStep(situation);
    const answer = await answerNow(deps, situation, step, null);
    if (answer) return answer;
    return { interaction: await wait(deps, request, progress, browser.hash), step };
  }
  return { interaction: await wait(deps, request, progress, null), step: 'unbound' };
}

/** Writes the interaction down and returns its id. */
async function wait(
  { db, random }: Needs,
  request: AuthorizationRequest,
  { created_at, sign_in_after }: Situation['progress'],
  browser_hash: Buffer | null,
): Promise<string> {
  const expires_at = secondsAfter(created_at, INTERACTION_TTL);
  const { handle, ...key } = drawHandle(random, expires_at);
  const { client_id } = request;
  await interactions.insert(db, { ...key, browser_hash, client_id, request, sign_in_after, created_at, expires_at });
  return handle;
}

async function situate(
  { db }: Needs,
  request: AuthorizationRequest,
  progress: Situation['progress'],
  client: Client,
  session: LiveSession | undefined,
  now: Date,
): Promise<Situation> {
  const remembered = session && (await consents.find(db, consentKey(session.sub, request)));
  return { request, progress, client, session, remembered: remembered ?? [], now };
}

const consentKey = (sub: string, { client_id, resource }: AuthorizationRequest): consents.ConsentKey => ({
  sub,
  client_id,
  resource: consents.resourceKey(resource),
});

/** The answer, when one can be given without asking anybody: a code, or what prompt=none says instead. */
async function answerNow(
  deps: Needs,
  { request, client, session, now }: Situation,
  step: Step,
  interaction: HandleKey | null,
): Promise<Outcome | undefined> {
  const { ISSUER } = deps.config;
  if (step !== 'done') {
    if (!request.prompt.includes('none')) return undefined;
    const refusal = new OAuthError(prompts[step].unattended, 'the request needs a person, and prompt=none allows none');
    if (interaction && !(await interactions.answer(deps.db, interaction, now))) return undefined;
    return { answer: respond(request, ISSUER, refusal), refusal };
  }
  const code = session && (await issueCode(deps, request, client, session, interaction, now));
  return code === undefined ? undefined : { answer: respond(request, ISSUER, { code }) };
}

/** Writes grant and code; undefined when the session ended, or the interaction was answered, at this very moment. */
async function issueCode(
  deps: Needs,
  request: AuthorizationRequest,
  client: Client,
  session: LiveSession,
  interaction: HandleKey | null,
  now: Date,
): Promise<string | undefined> {
  const { config, random } = deps;
  const expires_at = secondsAfter(now, config.AUTHORIZATION_CODE_TTL);
  const { ttl } = await termsOf(deps, client, request.resource);
  const life = client.grant_types.includes('refresh_token')
    ? Math.max(client.refresh_token_ttl ?? config.REFRESH_TOKEN_TTL, config.AUTHORIZATION_CODE_TTL)
    : config.AUTHORIZATION_CODE_TTL + ttl;
  const grant_expires_at = secondsAfter(now, life);
  const { handle, ...code } = drawHandle(random, grant_expires_at);
  const issued = await authorizationCodes.issue(
    deps.db,
    {
      code,
      grant: {
        grant_id: drawId(random, grant_expires_at),
        expires_at: grant_expires_at,
        client_id: client.client_id,
        scope: request.scope,
        resource: request.resource,
        offline: request.scope.includes(OFFLINE_ACCESS),
      },
      redirect_uri: request.redirect_uri,
      code_challenge: request.code_challenge ?? null,
      nonce: request.nonce ?? null,
      expires_at,
      session,
      interaction,
    },
    now,
  );
  return issued ? handle : undefined;
}

/** An interaction opened by its own browser, with everything its pages need. */
export interface Opened extends Situation {
  id: string;
  row: interactions.Interaction;
  step: Step;
}

/** Finds out where an interaction stands. @throws OAuthError for an error page, when its client is gone */
export async function open(
  deps: Needs,
  id: string,
  row: interactions.Interaction,
  session: LiveSession | undefined,
  now: Date,
): Promise<Opened> {
  const client = await deps.directory.client(row.client_id);
  if (!client) throw invalidRequest('the application is no longer registered here');
  const situation = await situate(deps, row.request, row, client, session, now);
  return { ...situation, id, row, step: nextStep(situation) };
}

/** Goes on from where the interaction stands: the answer, once, or the step that is next. */
export async function resume(deps: Needs, opened: Opened): Promise<Outcome> {
  const { row, request, now, id, step } = opened;
  if (row.refused_error !== null) {
    const refusal = accessDenied('the person did not allow the request');
    if (!(await interactions.answer(deps.db, row, now))) throw alreadyAnswered();
    return { answer: respond(request, deps.config.ISSUER, refusal), refusal };
  }
  const answer = await answerNow(deps, opened, step, row);
  if (answer) return answer;
  if (step === 'done') throw alreadyAnswered();
  return { interaction: id, step };
}

export const alreadyAnswered = (): OAuthError => invalidRequest('this request was answered already');

/** The person chose to go on as the one signed in. */
export async function selectAccount(deps: Needs, { row, session }: Opened): Promise<void> {
  if (session) await interactions.record(deps.db, row, { selected_sub: session.sub });
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
  const { row, request, session, client, now } = opened;
  if (!session) return;
  const { sub, sid } = session;
  const { client_id } = client;
  const key = consentKey(sub, request);
  await transact(deps.db, async (trx) => {
    const proof = approved ? { consented_sid: sid } : { refused_error: 'access_denied' };
    if (!(await interactions.record(trx, row, proof))) return;
    if (approved) await consents.remember(trx, key, request.scope, now);
    const detail = { scope: request.scope, resource: key.resource };
    await record(trx, { event: approved ? 'consent' : 'consent_denied', sub, client_id, detail }, by, now);
  });
}
