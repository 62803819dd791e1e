/** Pushed authorization requests (RFC 9126): checked when the client pushes them, opened when the browser comes. */
import { invalidRequest, invalidRequestUri, type OAuthError } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { textOf, type Parameters } from '../protocol/parameters.ts';
import { kindOf } from '../protocol/redaction.ts';
import type { Confirmation } from '../protocol/confirmation.ts';
import type { Client } from '../store/clients.ts';
import { bucketOf, handleFrom, readHandle, type HandleKey } from '../protocol/handle.ts';
import * as pushedRequests from '../store/pushed-requests.ts';
import { checkAgain } from './again.ts';
import { INTERACTION_TTL, type Needs } from './answer.ts';
import { readRequest, RefusedAtTarget } from './request.ts';

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
/** Seconds until a browser has to come. */
const PUSHED_TTL = 90;

/** RFC 9126 §2.2. */
export interface PushedResponse {
  request_uri: string;
  /** Seconds. */
  expires_in: number;
}

/**
 * Checks a request as /authorize would and keeps it, for the key that the client proved to hold, where it did (RFC 9449 §10.1).
 * @throws OAuthError: there is no browser to send it by
 */
export async function push(
  deps: Needs,
  client: Client,
  parameters: Parameters,
  cnf: Confirmation | null,
  now: Date,
): Promise<PushedResponse> {
  // §2.1: a reference inside a reference.
  if (parameters['request_uri'] !== undefined)
    throw invalidRequest('request_uri cannot be pushed', { check: 'pushed_request' });
  const request = await readRequest(deps, client, parameters, now, 'par');
  if (request instanceof RefusedAtTarget) throw request.refusal;
  const { dpop_jkt = cnf?.jkt } = request;
  if (cnf?.jkt !== undefined && dpop_jkt !== cnf.jkt) {
    const detail = { check: 'dpop_jkt', expected: `dpop_jkt ${cnf.jkt}, or none`, received: dpop_jkt } as const;
    throw invalidRequest('dpop_jkt is not the key of the DPoP proof', detail);
  }
  // The row may live on once it is opened; its bucket has to hold that.
  const bucket = bucketOf(secondsAfter(now, PUSHED_TTL + INTERACTION_TTL));
  const { handle, ...key } = handleFrom(bucket, deps.random(32));
  await pushedRequests.insert(deps.db, {
    ...key,
    client_id: client.client_id,
    request: { ...request, dpop_jkt },
    created_at: now,
    expires_at: secondsAfter(now, PUSHED_TTL),
  });
  return { request_uri: `${PREFIX}${handle}`, expires_in: PUSHED_TTL };
}

export const isPushed = (request_uri: unknown): request_uri is string =>
  typeof request_uri === 'string' && request_uri.startsWith(PREFIX);

/** The request behind a request_uri of ours; nothing else the browser brought counts. @throws OAuthError for a page */
export async function openPushed(
  deps: Needs,
  client: Client,
  request_uri: string,
  now: Date,
): Promise<{ request: AuthorizationRequest | RefusedAtTarget; pushed: HandleKey }> {
  const pushed = readHandle(request_uri.slice(PREFIX.length));
  // §2.2: it can be opened for `expires_in` seconds. Once opened, it has the time of any interaction to finish.
  const life = { pushed_after: secondsAfter(now, -PUSHED_TTL), kept_until: secondsAfter(now, INTERACTION_TTL) };
  const stored = pushed && (await pushedRequests.open(deps.db, pushed, client.client_id, life, now));
  if (!stored) throw unusable(client, { request_uri });
  return { request: await checkAgain(deps, client, stored, 'par', now), pushed };
}

/** The refusal of a request_uri that nothing is behind for this client, or nothing any more. */
export const unusable = ({ client_id }: Client, parameters: Parameters): OAuthError =>
  invalidRequestUri('request_uri is not known, has expired or was used', {
    check: 'pushed_request',
    client_id,
    expected: `a request_uri that this client got from /par in the last ${PUSHED_TTL} seconds`,
    received: kindOf(textOf(parameters, 'request_uri')?.slice(PREFIX.length) ?? ''),
  });
