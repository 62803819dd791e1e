/** oidc-provider with a store in memory: started, and asked for what a scenario needs. */
import { freePort } from '../../test/support/server.ts';
import { CHALLENGE } from '../shared.ts';
import { startServer, type Server } from './process.ts';

/** A running peer, with what to ask it about. Its paths are its own. */
export interface PeerWorld {
  origin: string;
  client: { client_id: string; client_secret: string };
  codes(count: number, scope: string): Promise<string[]>;
  /** The cookie of a person who signed in and allowed this scope. */
  cookie(scope: string): Promise<string>;
}

export const startPeer = async (): Promise<Server> =>
  startServer({ script: 'peer-main.ts', port: await freePort(), env: {}, ready: '/.well-known/openid-configuration' });

export const peerWorldOf = async ({ origin, ask }: Server): Promise<PeerWorld> => ({
  origin,
  client: await ask({ ask: 'client' }),
  codes: (count, scope) => ask({ ask: 'codes', count, scope, challenge: CHALLENGE }),
  cookie: (scope) => ask({ ask: 'cookie', scope }),
});
