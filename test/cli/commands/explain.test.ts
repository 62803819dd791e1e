import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { commandsOn, posternOn, type Postern } from '../../support/command.ts';
import { aClient, aUser, authorizationUrl, postForm, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { SECRET_KEY } from '../../support/server.ts';

let at: TestApp;
let postern: Postern;
let client: AClient;
beforeAll(async () => {
  at = await testApp({ config: { SECRET_KEYS: [SECRET_KEY] } });
  postern = await commandsOn(at.database);
  client = await aClient(at);
});
afterAll(() => at.close());

const written = (): Promise<void> => at.deps.refusals.close(at.clock.now());

describe('explain', () => {
  test('says of a request id which check failed, its clause, expected against received, when, who and where', async () => {
    const url = authorizationUrl(at.deps.config.ISSUER, client, { redirect_uri: 'https://app.example.test/calback' });
    const refused = await new TestBrowser(at).get(url);
    const id = String(refused.headers['x-request-id']);
    await written();
    const shown = await postern(['explain', id]);
    expect(shown.code).toBe(0);
    const said = Object.fromEntries(shown.lines.map((line) => line.split(/ {2,}/, 2)));
    expect(said).toEqual({
      check: 'redirect_uri',
      clause: 'RFC 6749 §3.1.2.3',
      expected: 'https://app.example.test/callback',
      received: 'https://app.example.test/calback',
      answered: '400 invalid_request: redirect_uri is not registered for this client',
      route: 'GET /authorize',
      at: at.clock.now().toISOString(),
      client_id: client.client_id,
      ip: '127.0.0.1',
      request_id: id,
    });
    expect((await postern(['explain', id, '--json'])).json()).toMatchObject({
      request_id: id,
      check: 'redirect_uri',
      clause: 'RFC 6749 §3.1.2.3',
      status: 400,
    });
  });

  test('finds a refusal by what its caller called it, unless that is another’s own id', async () => {
    const headers = { 'x-request-id': '4bf92f3577b34da6a3ce929d0e0e4736' };
    const first = await at.app.inject({ url: '/authorize?client_id=none', headers });
    const own = String(first.headers['x-request-id']);
    // Somebody who read the id of another's request.
    await at.app.inject({ url: '/authorize?client_id=none', headers: { 'x-request-id': own } });
    await written();
    for (const id of [own, headers['x-request-id']]) {
      expect((await postern(['explain', id, '--json'])).json()).toMatchObject({
        request_id: own,
        caller_request_id: headers['x-request-id'],
      });
    }
  });

  test('lists the latest, of a client or about a person, with what led to them', async () => {
    const user = await aUser(at);
    await postForm(at, '/login', { username: user.username, password: 'wrong' });
    await written();
    const [wrong] = (await postern(['explain', '--user', user.sub, '--json'])).items();
    expect(wrong).toMatchObject({ check: 'password', sub: user.sub, route: '/login' });
    const recent = await postern(['explain', '--recent']);
    expect(recent.lines[0]).toMatch(/^AT +REQUEST ID +CHECK +CLIENT +ROUTE +RECEIVED$/);
    expect(recent.lines[1]).toContain('another password');
    const ids = await postern(['explain', '--client', client.client_id, '--limit', '1', '--quiet']);
    expect(ids.stdout).toMatch(/^[\w-]{16}\n$/);
  });

  test('tells with exit code 3 why nothing may be known, and how it is used with exit code 2', async () => {
    const unknown = await postern(['explain', 'nothing-like-it']);
    expect([unknown.code, unknown.stdout]).toEqual([3, '']);
    expect(unknown.problems[0]).toBe('error: there is no refusal with the request id nothing-like-it');
    expect(unknown.stderr).toContain('604800 seconds ago (REFUSAL_RETENTION)');
    const off = await posternOn(at.database)(['explain', 'nothing-like-it'], { env: { REFUSAL_RETENTION: '0' } });
    expect([off.code, off.problems[1]]).toEqual([3, 'error: REFUSAL_RETENTION is 0: nothing is kept']);
    expect((await postern(['explain', 'nothing-like-it', '--recent'])).code).toBe(2);
  });
});
