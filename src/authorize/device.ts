/** The device flow (RFC 8628): a request that has no browser of its own, and the person who decides about it in theirs. */
import { record, type Requester } from '../events/index.ts';
import type { DeviceRequest } from '../protocol/authorization-request.ts';
import { DEVICE_GRANT, isPublic } from '../protocol/client.ts';
import { pages } from '../protocol/endpoint.ts';
import { invalidRequest, tooManyRequests } from '../protocol/error.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { withoutOwn } from '../protocol/resource.ts';
import { isSubset, OFFLINE_ACCESS } from '../protocol/scope.ts';
import { sectorOf } from '../protocol/sector.ts';
import {
  blockedUntil,
  FADES_AFTER,
  USER_CODE_NETWORK_POLICY,
  USER_CODE_POLICY,
  type Lane,
} from '../protocol/throttle.ts';
import { readUserCode, showUserCode, userCodeFrom } from '../protocol/user-code.ts';
import type { Client } from '../store/clients.ts';
import * as deviceCodes from '../store/device-codes.ts';
import { transact } from '../store/postgres/db.ts';
import * as failures from '../store/failures.ts';
import { bucketOf, drawHandle, handleFrom, idInBucket, sha256 } from '../protocol/handle.ts';
import * as interactions from '../store/interactions.ts';
import { grantLife } from '../tokens/terms.ts';
import type { Needs, Outcome } from './answer.ts';
import { checkAgainUncached } from './again.ts';
import { runChecks } from './checks.ts';
import type { Opened } from './interaction.ts';

/** Seconds a device waits for its person. */
const DEVICE_CODE_TTL = 600;
/** Seconds between two polls. */
const INTERVAL = 5;
/** Tries until a user code is free; with so few in use at once the first one is. */
const DRAWS = 5;

/** RFC 8628 §3.2. */
export interface DeviceAuthorization {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

/** Starts a device's request. @throws OAuthError */
export async function startDevice(
  deps: Needs,
  client: Client,
  parameters: Parameters,
  now: Date,
): Promise<DeviceAuthorization> {
  const {
    scope,
    resource,
    authorization_details = null,
  } = await runChecks({ deps, client, parameters, now }, 'device_authorization', 'sent');
  const expires_at = secondsAfter(now, DEVICE_CODE_TTL);
  const bucket = bucketOf(secondsAfter(expires_at, await grantLife(deps, client, resource, DEVICE_CODE_TTL)));
  const { handle, ...key } = handleFrom(bucket, deps.random(32));
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const user_code = userCodeFrom(deps.random);
    const row = {
      ...key,
      user_code_hash: hashOfUserCode(user_code),
      client_id: client.client_id,
      scope,
      resource,
      authorization_details,
      poll_interval: INTERVAL,
      confidential: !isPublic(client),
      created_at: now,
      expires_at,
    };
    if (!(await deviceCodes.insert(deps.db, row))) continue;
    const verification_uri = `${deps.config.ISSUER}${pages.device}`;
    return {
      device_code: handle,
      user_code,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
      expires_in: DEVICE_CODE_TTL,
      interval: INTERVAL,
    };
  }
  throw new Error('no user code was free');
}

const hashOfUserCode = (user_code: string): Buffer => sha256(readUserCode(user_code) ?? '');

/** The outcome of a user code that no device waits for: mistyped, expired, or decided already. */
export const WRONG_CODE = 'wrong_code';

/**
 * Takes the code a person typed and starts the interaction in which they decide. Codes are counted before they are
 * looked for, per browser and per network: eight letters are few enough to be guessed by machines (§5.1).
 * @throws OAuthError too_many_requests
 */
export async function enterUserCode(
  deps: Needs,
  typed: string,
  browser_hash: Buffer,
  by: Requester,
  now: Date,
): Promise<{ interaction: string } | typeof WRONG_CODE> {
  const lanes: Lane[] = [
    { key: `user_code:browser:${browser_hash.toString('base64url')}`, policy: USER_CODE_POLICY },
    { key: `user_code:network:${by.network}`, policy: USER_CODE_NETWORK_POLICY },
  ];
  const letters = readUserCode(typed);
  const { granted, failed } = await failures.reserve(deps.db, lanes, now, secondsAfter(now, -FADES_AFTER));
  if (!granted) {
    const until = blockedUntil(failed, lanes, now) ?? now;
    throw tooManyRequests('too many wrong codes, wait and try again', {
      retry_after: Math.max(1, secondsUntil(until, now)),
      check: 'user_code',
      expected: `a pause until ${until.toISOString()}`,
      received: `wrong codes before: ${lanes.map(({ key }) => failed.get(key)?.count ?? 0).join(' in this browser, ')} from this network`,
    });
  }
  const code = letters && (await deviceCodes.findPending(deps.db, sha256(letters), now));
  if (!code || !letters) return WRONG_CODE;
  // Its own count alone: whoever could start again with a code of their own could guess without end.
  await failures.release(
    deps.db,
    lanes.map(({ key }) => key),
  );
  const { expires_at, client_id, scope, resource } = code;
  const authorization_details = code.authorization_details ?? undefined;
  const request: DeviceRequest = {
    client_id,
    user_code: showUserCode(letters),
    scope,
    resource,
    authorization_details,
    prompt: [],
  };
  const { handle, ...key } = drawHandle(deps.random, expires_at);
  await interactions.insert(deps.db, {
    ...key,
    browser_hash,
    client_id,
    request,
    sign_in_after: null,
    pushed_bucket: null,
    pushed_hash: null,
    device_bucket: code.expires_bucket,
    device_hash: code.hash,
    created_at: now,
    expires_at,
  });
  return { interaction: handle };
}

/** Ends a device's interaction: writes what the person decided, for the device to poll, and shows the person a last page. */
export async function finishDevice(
  deps: Needs,
  { row, request, client, session, now, step, id }: Opened,
  by: Requester,
): Promise<Outcome> {
  const device = interactions.deviceOf(row);
  if (!device) throw decided();
  const done = (outcome: 'approved' | 'denied'): Outcome => ({
    answer: { kind: 'redirect', location: `${deps.config.ISSUER}${pages.device_done}?outcome=${outcome}` },
  });
  const { client_id } = client;
  if (row.refused_error !== null) {
    await transact(deps.db, async (trx) => {
      if (!(await interactions.answer(trx, row, null, now)) || !(await deviceCodes.deny(trx, device, now)))
        throw decided();
      const detail = { grant_type: DEVICE_GRANT, outcome: 'denied' };
      await record(trx, { event: 'device_decided', sub: session?.sub ?? null, client_id, detail }, by, now);
    });
    return done('denied');
  }
  if (step !== 'done' || !session) return { interaction: id, step };
  const grant = {
    grant_id: idInBucket(deps.random, device.expires_bucket),
    expires_at: secondsAfter(now, await grantLife(deps, client, request.resource, DEVICE_CODE_TTL)),
    client_id,
    scope: request.scope,
    resource: request.resource,
    authorization_details: request.authorization_details ?? null,
    offline: request.scope.includes(OFFLINE_ACCESS),
    sector: sectorOf(client),
    confidential: !isPublic(client),
  };
  const registered_resources = withoutOwn(request.resource, deps.config.ISSUER);
  const approved = await transact(deps.db, async (trx) => {
    if (!(await deviceCodes.approve(trx, { device, session, interaction: row, registered_resources, grant }, now)))
      return false;
    const detail = { grant_type: DEVICE_GRANT, outcome: 'approved' };
    await record(trx, { event: 'device_decided', sub: session.sub, client_id, detail }, by, now);
    return true;
  });
  if (approved) return done('approved');
  const rechecked = await checkAgainUncached(deps, row, now);
  if ('scope' in rechecked && !isSubset(request.scope, rechecked.scope)) return { interaction: id, step };
  throw decided();
}

const decided = () => invalidRequest('this code was decided already, or has expired', { check: 'user_code' });
