/** Revocation (RFC 7009) of refresh tokens, each of an authorization of its own, which ends. */
import { basic, FORM, form, type Scenario, type Shot } from '../scenario.ts';
import { SCOPE } from '../shared.ts';
import { redemption, type Client } from '../world.ts';
import { redeemAll } from './refresh.ts';

const request = (client: Client, path: string): Shot => ({
  method: 'POST',
  path,
  headers: { ...FORM, authorization: basic(client) },
  body: form({ token: '{}' }),
});

/** Some at a time. */
async function tokens(origin: string, shot: Shot, codes: string[]): Promise<string[]> {
  const given: string[] = [];
  while (codes.length > 0) given.push(...(await redeemAll(origin, shot, codes.splice(0, 50))));
  return given;
}

export const revocation: Scenario = {
  title: 'revocation of a refresh token',
  ceiling: 'form',
  async postern({ origin, app, codes }, { values }) {
    const begun = await codes(values, app);
    return { shot: request(app, '/revoke'), values: await tokens(origin, redemption(app), begun) };
  },
  async peer({ origin, client, codes }, { values }) {
    const begun = await codes(values, SCOPE);
    return { shot: request(client, '/token/revocation'), values: await tokens(origin, redemption(client), begun) };
  },
};
