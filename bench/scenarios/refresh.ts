/** grant_type=refresh_token: every connection goes on with the token that it was given last. */
import { filled, type Follow, type Scenario, type Shot } from '../scenario.ts';
import { SCOPE, SCOPE_WITHOUT_OPENID } from '../shared.ts';
import { redemption, rotation, send } from '../world.ts';
import { has, hasNot, isSignedBy } from './checks.ts';

/** More than connections, since the tool may take one for a trial. */
export const spare = (connections: number): number => connections + 4;

const given = (next: Shot): Follow[] => [{ in: 'body', after: '"refresh_token":"', until: '"', next }];

/** The refresh tokens that these codes give. */
export const redeemAll = (origin: string, shot: Shot, codes: readonly string[]): Promise<string[]> =>
  Promise.all(codes.map(async (code) => String((await send(origin, filled(shot, code)))['refresh_token'])));

/** With openid each answer has a new ID token. */
export function refresh({ openid }: { openid: boolean }): Scenario {
  const scope = openid ? SCOPE : SCOPE_WITHOUT_OPENID;
  return {
    title: `refresh with rotation, ${openid ? 'access and ID token' : 'no openid'}, ES256`,
    ceiling: 'form',
    async postern({ origin, jwtApp, codes }, { connections }) {
      const shot = rotation(jwtApp);
      const begun = await codes(spare(connections), jwtApp, scope);
      return { shot, values: await redeemAll(origin, redemption(jwtApp), begun), follow: given(shot) };
    },
    // Its access tokens without a resource are opaque.
    async peer({ origin, client, codes }, { connections }) {
      const shot = rotation(client);
      const begun = await codes(spare(connections), scope);
      return { shot, values: await redeemAll(origin, redemption(client), begun), follow: given(shot) };
    },
    check(body) {
      has(body, 'refresh_token');
      if (openid) isSignedBy(body, 'id_token', 'ES256');
      else hasNot(body, 'id_token');
    },
  };
}
