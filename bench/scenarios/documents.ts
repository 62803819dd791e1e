/** The public documents: discovery and the key set. */
import type { Scenario } from '../scenario.ts';
import { has } from './checks.ts';

const document = (title: string, path: string, member: string): Scenario => ({
  title,
  ceiling: 'get',
  postern: async () => ({ shot: { method: 'GET', path, headers: {} } }),
  peer: async () => ({ shot: { method: 'GET', path, headers: {} } }),
  check: (body) => has(body, member),
});

export const discovery = document('discovery', '/.well-known/openid-configuration', 'token_endpoint');
export const jwks = document('JWKS', '/jwks', 'keys');
