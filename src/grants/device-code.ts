/** grant_type=urn:ietf:params:oauth:grant-type:device_code (RFC 8628 §3.4): the device asks until its person has decided. */
import { z } from 'zod';
import { isPublic } from '../protocol/client-metadata.ts';
import {
  expiredToken,
  accessDenied,
  authorizationPending,
  invalidGrant,
  invalidScope,
  invalidTarget,
  slowDown,
} from '../protocol/error.ts';
import type { OAuthError } from '../protocol/error.ts';
import { kindOf } from '../protocol/redaction.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import * as deviceCodes from '../store/device-codes.ts';
import type { GrantedToPerson } from '../store/granted.ts';
import { readHandle } from '../store/handle.ts';
import { drawRefreshToken } from '../tokens/prepare.ts';
import { membershipsWanted } from '../tokens/memberships.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { authorizationOf, closed, openScopes, type Grant } from './grant.ts';

const parameters = z.object({ device_code: z.string(), resource: z.array(z.string()).optional() });

export const deviceCode: Grant<z.infer<typeof parameters>> = {
  parameters,
  async read(context, { device_code, resource: sent }) {
    const { deps, client, known, now } = context;
    const resource = parseResource(sent);
    const device = readHandle(device_code);
    if (!device) throw REFUSALS.unknown().explain({ received: kindOf(device_code) });
    const refresh = drawRefreshToken(deps, client, device.expires_bucket, now);
    const open_scopes = openScopes(context, resource);
    const memberships = membershipsWanted(known);
    const { client_id } = client;
    const poll = {
      device,
      client_id,
      proven: !isPublic(client),
      resource,
      open_scopes,
      refresh_token: refresh,
      memberships,
    };
    const authorized = (granted: GrantedToPerson | undefined): Authorization | undefined =>
      granted &&
      authorizationOf(context, granted, {
        scope: granted.scope,
        resource: narrowResource(resource, granted.resource),
        nonce: null,
        refresh_token: refresh?.refresh_token,
      });
    return {
      resource,
      spend: async (spending) => authorized(await deviceCodes.redeem(deps.db, poll, spending, now)),
      look: async () => authorized(await deviceCodes.look(deps.db, poll, now)),
      async refusal() {
        const { why, scope } = await deviceCodes.poll(deps.db, poll, now);
        if (why === 'ready') return undefined;
        const refused = (why === 'scope' && closed(context, scope ?? [])) || REFUSALS[why]();
        return refused.explain({ check: 'device_code', received: `${kindOf(device_code)}: ${why}` });
      },
    };
  },
};

/** RFC 8628 §3.5. */
const REFUSALS: Record<Exclude<deviceCodes.PollRefusal, 'ready'>, () => OAuthError> = {
  unknown: () =>
    invalidGrant('the device code is not valid', { expected: 'a device code of this client', check: 'device_code' }),
  used: () => invalidGrant('the device code was used before'),
  resource: () => invalidTarget('a requested resource was not granted', { check: 'resource' }),
  scope: () => invalidScope('the requested resource knows nothing of the granted scope', { check: 'scope' }),
  ended: () => invalidGrant('the authorization has ended', { check: 'authorization' }),
  denied: () => accessDenied('the person did not allow the request', { check: 'consent' }),
  expired: () => expiredToken('the device code has expired'),
  slow_down: () => slowDown('ask less often: five seconds more between two requests', { check: 'poll_interval' }),
  pending: () => authorizationPending('the person has not decided yet'),
};
