/**
 * Authorize: from an authorization request to an approved one. It owns the order of what happens to a request; how a
 * person proves who they are belongs to users, and what the answer looks like to the door.
 */
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { drawHandle, type HandleKey } from '../protocol/handle.ts';
import * as interactions from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';
import type { Client } from '../store/clients.ts';
import { answerNow, claimAnswer, INTERACTION_TTL, situationOf, type Needs, type Outcome } from './answer.ts';
import { nextStep, noProgress, type Progress } from './next-step.ts';
import { isPushed, openPushed, unusable } from './pushed.ts';
import { findClient, readRequest, RefusedAtTarget } from './request.ts';
import { deliverRefusal } from './unapproved.ts';

/** The browser of a request, by its cookies. */
export interface Browser {
  /** The sessions of everybody signed in there, the current person's first. */
  sessions: readonly LiveSession[];
  /** Hash of the cookie that binds interactions; null when the request may have come without its cookies. */
  hash: Buffer | null;
}

/**
 * Takes an authorization request. With `browser.hash` null nothing is decided yet: it came from another site, without
 * cookies, and waits for a GET of ours.
 * @throws OAuthError for an error page
 */
export async function authorize(deps: Needs, parameters: Parameters, browser: Browser, now: Date): Promise<Outcome> {
  const client = await findClient(deps, parameters);
  const { request, pushed } = await findRequest(deps, client, parameters, now);
  if (request instanceof RefusedAtTarget) {
    const { target, refusal, silent } = request;
    const by = { people: browser.sessions, exempt: silent };
    const delivered = await deliverRefusal(deps, client, target, refusal, by, now);
    if (!(await claimAnswer(deps, { interaction: null, pushed }, now))) throw unusable(client, parameters);
    return delivered;
  }
  const progress = noProgress(request, now);
  if (browser.hash === null) return { interaction: await wait(deps, request, pushed, progress, null), step: 'unbound' };

  const situation = await situationOf(deps, request, progress, client, browser.sessions, now);
  const step = nextStep(situation);
  const answer = await answerNow(deps, situation, step, { interaction: null, pushed });
  return answer ?? { interaction: await wait(deps, request, pushed, progress, browser.hash), step };
}

/** The checked request: pushed before, or brought by the browser now. */
async function findRequest(
  deps: Needs,
  client: Client,
  parameters: Parameters,
  now: Date,
): Promise<{ request: AuthorizationRequest | RefusedAtTarget; pushed: HandleKey | null }> {
  const { request_uri } = parameters;
  if (isPushed(request_uri)) return openPushed(deps, client, request_uri, now);
  return { request: await readRequest(deps, client, parameters, now, 'authorize'), pushed: null };
}

/** Writes the interaction down and returns its id. */
async function wait(
  { db, random }: Needs,
  request: AuthorizationRequest,
  pushed: HandleKey | null,
  { created_at, sign_in_after }: Progress,
  browser_hash: Buffer | null,
): Promise<string> {
  const expires_at = secondsAfter(created_at, INTERACTION_TTL);
  const { handle, ...key } = drawHandle(random, expires_at);
  await interactions.insert(db, {
    ...key,
    browser_hash,
    client_id: request.client_id,
    request,
    sign_in_after,
    pushed_bucket: pushed?.expires_bucket ?? null,
    pushed_hash: pushed?.hash ?? null,
    device_bucket: null,
    device_hash: null,
    created_at,
    expires_at,
  });
  return handle;
}
