/** Userinfo (OpenID Connect Core §5.3) with one access token, over and over. */
import type { Scenario, Shot } from '../scenario.ts';
import { SCOPE } from '../shared.ts';
import { has } from './checks.ts';
import { accessTokenFrom } from './introspection.ts';

const question = (token: string, path: string): Shot => ({
  method: 'GET',
  path,
  headers: { authorization: `Bearer ${token}` },
});

/** The peer's token is opaque: it takes no JWT there. */
export const userinfo: Scenario = {
  title: 'userinfo, JWT ES256',
  ceiling: 'form',
  async postern({ origin, jwtApp, codes }) {
    return { shot: question(await accessTokenFrom(origin, jwtApp, await codes(1, jwtApp)), '/userinfo') };
  },
  async peer({ origin, client, codes }) {
    return { shot: question(await accessTokenFrom(origin, client, await codes(1, SCOPE)), '/me') };
  },
  check: (body) => has(body, 'email'),
};
