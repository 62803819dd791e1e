/** The end of access from the command line, on the database of a server that is running. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { run, type Process } from '../../src/cli/index.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { posternOn } from '../support/command.ts';
import { nobody } from '../support/reach.ts';
import { aClient, aUser, introspect, signIn, someTokens, userinfo } from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

let stdout = '';
let stderr = '';
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

const open: Process['open'] = (work) =>
  work({ deps: at.deps, migrate: () => Promise.resolve([]), place: '', secretFile: '', machineTime: at.clock.now });
const start = (): Promise<never> => Promise.reject(new Error('nothing is to be started'));
/** Without the price of a process. */
async function postern(...args: string[]): Promise<{ code: number | undefined; json: unknown; text: string }> {
  stdout = stderr = '';
  const code = await run(args, { start, open, reach: nobody });
  return { code, text: stdout, json: args.includes('--json') && stdout !== '' ? JSON.parse(stdout) : undefined };
}

test('sessions and grants are listed and revoked; a second time there is nothing (3)', async () => {
  const user = await aUser(at);
  const client = await aClient(at);
  const browser = await signIn(at, user);
  const parameters = { scope: 'openid' };
  const [one, two] = [
    (await someTokens(at, { client, user, browser, parameters })).tokens.access_token,
    (await someTokens(at, { client, user, browser, parameters })).tokens.access_token,
  ];
  const listed = await postern('grants', 'list', '--user', user.username, '--client', client.client_id, '--json');
  expect(listed.json).toEqual([
    expect.objectContaining({ sub: user.sub, live: true }),
    expect.objectContaining({ client_id: client.client_id, scope: 'openid' }),
  ]);
  const { gid } = await introspect(at, client, one);
  const ended = await postern('grants', 'revoke', String(gid), '--json');
  expect(ended.json).toEqual({ grant_id: gid, revoked: true });
  expect((await postern('grants', 'revoke', String(gid))).code).toBe(3);
  expect([(await userinfo(at, one)).statusCode, (await userinfo(at, two)).statusCode]).toEqual([401, 200]);
  const limited = await postern('grants', 'list', '--state', 'revoked', '--limit', '1', '-q');
  expect(limited.text).toBe(`${String(gid)}\n`);

  const sid = (await postern('sessions', 'list', '--user', user.sub, '-q')).text.trim();
  expect((await postern('sessions', 'revoke', sid)).text).toBe(`Session ${sid} has ended.\n`);
  expect((await postern('sessions', 'revoke', sid)).code).toBe(3);
  expect((await userinfo(at, two)).statusCode).toBe(401);
  expect((await postern('sessions', 'list', '--user', 'nobody')).code).toBe(3);
});

test('tokens introspect says what a token is and why it fails; revoke ends it; neither needs it as an argument', async () => {
  const client = await aClient(at, { access_token_format: 'opaque' });
  const { tokens, user } = await someTokens(at, { client });
  const token = tokens.access_token;
  const before = await posternOn(at.database)(['tokens', 'introspect', '-', '--json'], {
    stdin: `${token}\n`,
    env: { ISSUER: at.deps.config.ISSUER },
  });
  expect(before.json()).toMatchObject({ active: true, faults: [], sub: user.sub, grant: { live: true } });
  expect((await postern('tokens', 'revoke', token, '--json')).json).toMatchObject({ ended: 'grant' });
  const after = await postern('tokens', 'introspect', token);
  expect(after.text).toMatch(/^faults +grant_revoked$/m);
  expect(stderr).toBe('grant_revoked: the grant it belongs to was revoked\n');
  expect((await postern('tokens', 'revoke', 'unknown')).code).toBe(3);
});

test('users revoke-everything ends what a person has everywhere', async () => {
  const { tokens, user } = await someTokens(at);
  const done = await postern('users', 'revoke-everything', user.username, '--json');
  expect(done.json).toEqual({ sub: user.sub, sessions_ended: 1, grants_revoked: 1, consents_withdrawn: 1 });
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  const [row] = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('event', '=', 'access_revoked')
    .where('sub', '=', user.sub)
    .execute();
  expect(row).toMatchObject({ actor: expect.stringMatching(/^cli:/), ip: null });
});
