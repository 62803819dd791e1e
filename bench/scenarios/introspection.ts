/** Introspection (RFC 7662) of one access token of a person, over and over, by an API. */
import { basic, filled, FORM, form, type Scenario, type Shot } from '../scenario.ts';
import { SCOPE } from '../shared.ts';
import { redemption, send, type Client } from '../world.ts';
import { has } from './checks.ts';

const question = (client: Client, token: string, path: string): Shot => ({
  method: 'POST',
  path,
  headers: { ...FORM, authorization: basic(client) },
  body: form({ token }),
});

/** The access token that a new code gives. */
export async function accessTokenFrom(origin: string, client: Client, [code]: readonly string[]): Promise<string> {
  const answer = await send(origin, filled(redemption(client), code!));
  return String(answer['access_token']);
}

/** The peer does not introspect JWTs. */
export const introspectJwt: Scenario = {
  title: 'introspection, JWT ES256',
  ceiling: 'form',
  async postern({ origin, machine, jwtApp, codes }) {
    const token = await accessTokenFrom(origin, jwtApp, await codes(1, jwtApp));
    return { shot: question(machine, token, '/introspect') };
  },
  check: (body) => has(body, 'active', true),
};

export const introspectOpaque: Scenario = {
  title: 'introspection, opaque',
  ceiling: 'form',
  async postern({ origin, machine, app, codes }) {
    const token = await accessTokenFrom(origin, app, await codes(1, app));
    return { shot: question(machine, token, '/introspect') };
  },
  async peer({ origin, client, codes }) {
    const token = await accessTokenFrom(origin, client, await codes(1, SCOPE));
    return { shot: question(client, token, '/token/introspection') };
  },
  check: (body) => has(body, 'active', true),
};
