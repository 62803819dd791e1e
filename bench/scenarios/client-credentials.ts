/** grant_type=client_credentials: a machine asks for itself. Nothing is stored but opaque tokens. */
import type { Scenario } from '../scenario.ts';
import type { Kind } from '../shared.ts';
import { machineRequest } from '../world.ts';
import { isOpaque, isSignedBy } from './checks.ts';

const ALGS: Record<Kind, string | undefined> = { rs256: 'RS256', es256: 'ES256', eddsa: 'EdDSA', opaque: undefined };

/** For access tokens of one kind. */
export function clientCredentials(kind: Kind): Scenario {
  const alg = ALGS[kind];
  return {
    title: `client_credentials, ${alg === undefined ? 'opaque' : `JWT ${alg}`}`,
    ceiling: 'form',
    postern: async ({ machine }) => ({ shot: machineRequest(machine, kind) }),
    peer: async ({ client }) => ({ shot: machineRequest(client, kind) }),
    check: (body) => (alg === undefined ? isOpaque(body) : isSignedBy(body, 'access_token', alg)),
  };
}

const { peer: _, ...es256 } = clientCredentials('es256');

/** The same with a line in the log for every request. */
export const logged: Scenario = { ...es256, title: `${es256.title}, LOG_LEVEL=info`, logged: true };
