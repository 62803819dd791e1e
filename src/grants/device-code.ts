/**
 * grant_type=urn:ietf:params:oauth:grant-type:device_code (RFC 8628 §3.4): the device polls until its person has decided. The
 * answers until then are rows in refusals.ts.
 */
import { z } from 'zod';
import { isPublic } from '../protocol/client.ts';
import { kindOf } from '../protocol/redaction.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import * as deviceCodes from '../store/device-codes.ts';
import type { GrantedToPerson } from '../store/grants.ts';
import { readHandle } from '../protocol/handle.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { membershipRules } from '../tokens/memberships.ts';
import { drawRefreshToken } from '../tokens/prepare.ts';
import { authorizationOf, openScopes, requestedOf, type PersonGrant } from './grant.ts';
import { closedRefusal, deviceCodeRefusals, refuse } from './refusals.ts';

const parameters = z.object({
  device_code: z.string(),
  resource: z.array(z.string()).optional(),
  authorization_details: z.string().optional(),
});

export const deviceCode: PersonGrant<z.infer<typeof parameters>> = {
  owner: 'person',
  parameters,
  async read(context, { device_code, resource: sent, authorization_details: sent_details }) {
    const { deps, client, cnf, rules, now } = context;
    const resource = parseResource(sent);
    const authorization_details = requestedOf(sent_details);
    const device = readHandle(device_code);
    if (!device) throw refuse(deviceCodeRefusals.unknown, {}, kindOf(device_code));

    const refresh_token = drawRefreshToken(deps, client, device.expires_bucket, now);
    const poll = {
      device,
      client_id: client.client_id,
      proven: !isPublic(client),
      cnf,
      resource,
      open_scopes: openScopes(context, resource),
      refresh_token,
      memberships: membershipRules(rules),
    };
    const authorized = (granted: GrantedToPerson | undefined): Authorization | undefined =>
      granted &&
      authorizationOf(context, granted, {
        scope: granted.scope,
        resource: narrowResource(resource, granted.resource),
        authorization_details,
        nonce: null,
        refresh_token: refresh_token?.refresh_token,
      });
    return {
      resource,
      authorization_details,
      spend: async (spending) => authorized(await deviceCodes.redeem(deps.db, poll, spending, now)),
      preview: async () => authorized(await deviceCodes.preview(deps.db, poll, now)),
      async refusal() {
        const { why, scope } = await deviceCodes.poll(deps.db, poll, now);
        if (why === 'ready') return undefined;
        const closed = why === 'scope' ? closedRefusal(context, scope ?? []) : undefined;
        return closed ?? refuse(deviceCodeRefusals[why], {}, `${kindOf(device_code)}: ${why}`);
      },
    };
  },
};
