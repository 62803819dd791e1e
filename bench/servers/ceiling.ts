/** The bare Fastify that every figure is a share of. */
import { freePort } from '../../test/support/server.ts';
import { FORM, form, type Load, type Scenario } from '../scenario.ts';
import { startServer, type Server } from './process.ts';

export const startCeiling = async (): Promise<Server> =>
  startServer({ script: 'ceiling-main.ts', port: await freePort(), env: { LOG_LEVEL: 'warn' }, ready: '/' });

const LOADS: Record<Scenario['ceiling'], Load> = {
  get: { shot: { method: 'GET', path: '/', headers: {} } },
  form: {
    shot: {
      method: 'POST',
      path: '/',
      headers: { ...FORM, authorization: `Basic ${'c2VjcmV0'.repeat(10)}` },
      body: form({ grant_type: 'client_credentials', scope: 'jobs:read', resource: 'https://api.bench.test/es256' }),
    },
  },
};

export const ceilingLoad = ({ ceiling }: Scenario): Load => LOADS[ceiling];
