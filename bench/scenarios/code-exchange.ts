/** grant_type=authorization_code: each code is used once, and gives an access token and a refresh token. */
import type { Scenario } from '../scenario.ts';
import { SCOPE, SCOPE_WITHOUT_OPENID } from '../shared.ts';
import { redemption } from '../world.ts';
import { has, hasNot, isSignedBy } from './checks.ts';

/** With openid there is an ID token, too. */
export function codeExchange({ openid }: { openid: boolean }): Scenario {
  const scope = openid ? SCOPE : SCOPE_WITHOUT_OPENID;
  return {
    title: `code exchange, ${openid ? 'access and ID token' : 'no openid'}, ES256`,
    ceiling: 'form',
    postern: async ({ jwtApp, codes }, { values }) => ({
      shot: redemption(jwtApp),
      values: await codes(values, jwtApp, scope),
    }),
    // Its access tokens without a resource are opaque.
    peer: async ({ client, codes }, { values }) => ({
      shot: redemption(client),
      values: await codes(values, scope),
    }),
    check(body) {
      has(body, 'refresh_token');
      if (openid) isSignedBy(body, 'id_token', 'ES256');
      else hasNot(body, 'id_token');
    },
  };
}
