/** The whole code flow of somebody who is signed in: /authorize answers with a code, which is redeemed. */
import type { Load, Scenario, Shot } from '../scenario.ts';
import { CHALLENGE, REDIRECT_URI } from '../shared.ts';
import { redemption, type Client } from '../world.ts';
import { spare } from './refresh.ts';

const SCOPE = 'openid profile email';

function flow(client: Client, cookie: string, path: string, connections: number): Load {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: 'a-state',
    nonce: 'a-nonce',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const authorize: Shot = {
    method: 'GET',
    path: `${path}?${query.toString()}`,
    headers: { cookie, accept: 'text/html' },
  };
  return {
    shot: authorize,
    values: Array.from({ length: spare(connections) }, () => ''),
    follow: [
      { in: 'location', after: 'code=', until: '&', next: redemption(client) },
      { in: 'body', after: '"id_token":"', until: '"', next: authorize },
    ],
  };
}

export const codeFlow: Scenario = {
  title: 'code flow, /authorize and /token',
  ceiling: 'form',
  steps: 2,
  postern: async ({ jwtApp, cookie }, { connections }) => flow(jwtApp, cookie, '/authorize', connections),
  peer: async ({ client, cookie }, { connections }) => flow(client, await cookie(SCOPE), '/auth', connections),
};
