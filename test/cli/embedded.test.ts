import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeOwner } from '../../src/platform/postgres/index.ts';
import { posternOn } from '../support/command.ts';
import { startServer, stopServers, temporaryDirectory } from '../support/server.ts';

afterAll(stopServers);

test('commands work beside a running development server, and alone', async () => {
  const DATA_DIR = temporaryDirectory();
  const postern = posternOn(undefined);
  const env = { DATA_DIR };
  const server = await startServer({ command: 'dev', env: { DATA_DIR, SECRET_KEYS: undefined } });
  expect((await postern(['clients', 'list', '-q'], { env })).lines).toEqual([
    'demo-device',
    'demo-m2m',
    'demo-spa',
    'demo-web',
  ]);
  const options = ['--preset', 'm2m', '--client-id', 'jobs', '--scope', 'notes:read', '--json'];
  const { client_secret } = (await postern(['clients', 'create', ...options], { env })).json();
  const answer = await fetch(`${server.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`jobs:${String(client_secret)}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  expect(await answer.json()).toMatchObject({ scope: 'notes:read', token_type: 'Bearer' });
  expect((await postern(['doctor', '--json'], { env })).json()).toMatchObject({ ok: true });

  const second = await postern(['dev'], { env: { ...env, PORT: '0' } });
  expect([second.code, second.problems.length]).toEqual([1, 1]);
  expect(second.stderr).toContain('already belongs to a running server');
  expect((await describeOwner(DATA_DIR))?.pid).toBe(server.pid);

  await server.stop();
  expect((await postern(['clients', 'get', 'jobs', '--json'], { env })).json()).toMatchObject({ client_id: 'jobs' });
  expect(await describeOwner(DATA_DIR)).toBeUndefined();
  // What the server sealed with its own keys, the command line opens with the same.
  expect(existsSync(join(DATA_DIR, 'secret-keys'))).toBe(true);
  expect((await postern(['keys', 'rotate'], { env })).code).toBe(0);
});
