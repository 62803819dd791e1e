import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, type AClient } from '../../support/fixtures.ts';

let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp({ config: { ISSUER: 'https://id.example.test/realm' } });
  client = await aClient(at, { initiate_login_uri: 'https://start.example.test/login?tenant=a%20b' });
});
afterAll(() => at.close());

const START = 'https://start.example.test/login?tenant=a%20b&iss=https%3A%2F%2Fid.example.test%2Frealm';
const open = (query: Record<string, string> | string, headers = {}) => {
  const search = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  return at.app.inject({ url: `/realm/initiate?${search}`, headers: { accept: 'text/html', ...headers } });
};

describe('OpenID Connect Core §4: third-party-initiated login', () => {
  test('sends the browser to the registered address with iss, its query kept', async () => {
    const answer = await open({ client_id: client.client_id });
    expect([answer.statusCode, answer.headers.location]).toEqual([302, START]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('login_hint and target_link_uri travel along, encoded', async () => {
    const target_link_uri = 'https://app.example.test/deep?a=b&c=d#e';
    const login_hint = 'ada&iss=https://evil.example\r\nset-cookie: a=b';
    const answer = await open({
      client_id: client.client_id,
      login_hint,
      target_link_uri,
    });
    const { origin, searchParams } = new URL(answer.headers.location!);
    expect(origin).toBe('https://start.example.test');
    expect([...searchParams]).toEqual([
      ['tenant', 'a b'],
      ['iss', 'https://id.example.test/realm'],
      ['login_hint', login_hint],
      ['target_link_uri', target_link_uri],
    ]);
  });

  test.each(['https://start.example.test/', 'https://app.example.test', 'https://app.example.test:443/deep'])(
    'passes on the target_link_uri %s: its origin is the client’s',
    async (target_link_uri) => {
      expect((await open({ client_id: client.client_id, target_link_uri })).statusCode).toBe(302);
    },
  );

  test.each([
    'https://evil.example/',
    'http://app.example.test/',
    'https://app.example.test:8443/',
    'https://app.example.test.evil.example/',
    'https://app.example.test@evil.example/',
    'https://evil.example@app.example.test/',
    '//app.example.test/',
    '/relative',
    'https:/app.example.test/',
    'https:\\\\app.example.test/',
    'https:/\\evil.example',
    'javascript:alert(1)//https://app.example.test',
    'data:text/html,x',
    `https://app.example.test/${'a'.repeat(2000)}`,
  ])('refuses the target_link_uri %s by a page', async (target_link_uri) => {
    const answer = await open({ client_id: client.client_id, target_link_uri });
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.body).toContain('target_link_uri');
  });

  test('whatever is wrong is a page, and nobody is sent anywhere', async () => {
    const without = await aClient(at);
    const id = client.client_id;
    for (const query of [
      '',
      'client_id=',
      'client_id=nobody',
      'client_id=%00',
      `client_id=${id}&client_id=${id}`,
      `client_id=${id}&login_hint=a&login_hint=b`,
      `client_id=${without.client_id}`,
    ]) {
      const answer = await open(query);
      expect([query, answer.statusCode, answer.headers.location]).toEqual([query, 400, undefined]);
      expect(answer.headers['content-type']).toContain('text/html');
    }
    const post = await at.app.inject({ method: 'POST', url: `/realm/initiate?client_id=${id}` });
    expect([post.statusCode, post.headers['allow']]).toEqual([405, 'GET']);
  });
});
