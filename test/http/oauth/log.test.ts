/** ASVS 16.2.5, 14.2.1: no password, secret, code, token, verifier or cookie in the log, whatever is done with them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aPublicClient,
  aUser,
  BY,
  credentials,
  formTokenOf,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  userinfo,
} from '../../support/fixtures.ts';
import { addSecretTo } from '../../../src/clients/secrets.ts';
import { createRefusals, listRefusals } from '../../../src/events/refusals.ts';
import { transact } from '../../../src/store/postgres/db.ts';
import { basic, formOf, postRaw } from '../../support/oauth.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
  // However many there are: nothing of them may be a secret.
  const a_minute = { all: 1e6, network: 1e6, same: 1e6 };
  const refusals = createRefusals(at.deps.db, { retention: 86_400, waiting: 1e6, a_minute });
  Object.assign(at.deps.refusals, refusals);
});
afterAll(() => at.close());

test('ASVS 16.2.5: nothing secret is in the log or in an error body after everything went right and wrong', async () => {
  const secrets = new Map<string, string>();
  const bodies: string[] = [];
  const keep = (name: string, value: string): string => (secrets.set(name, value), value);

  const web = await aClient(at);
  const client_secret = keep('client_secret', 'marker-client-secret-0123456789');
  await transact(at.deps.db, (trx) =>
    addSecretTo(trx, at.deps, web.client_id, { overlap: 0, client_secret }, BY, at.clock.now()),
  );
  at.deps.directory.clear();
  const client = { ...web, client_secret };
  const spa = await aPublicClient(at);
  const password = keep('password', 'marker-password-0123456789');
  const user = await aUser(at, { password });
  const browser = await signIn(at, user, password);
  for (const [name, value] of browser.cookies) keep(`cookie ${name}`, value);

  // All goes well.
  const { tokens, ...code } = await someTokens(at, { client, user, browser, parameters: { nonce: 'marker-nonce' } });
  keep('code', code.code);
  keep('code_verifier', code.code_verifier);
  keep('access_token', tokens.access_token);
  keep('refresh_token', tokens.refresh_token);
  keep('id_token', tokens.id_token);
  await userinfo(at, tokens.access_token);
  const opaque = await someTokens(at, { client: await aClient(at, { access_token_format: 'opaque' }), user, browser });
  keep('opaque access_token', opaque.tokens.access_token);
  await userinfo(at, opaque.tokens.access_token);
  await postRaw(at, '/introspect', formOf({ token: tokens.access_token }), { authorization: basic(client) });
  keep('basic', basic(client).slice(6));
  const next = (await refresh(at, client, tokens.refresh_token)).json<typeof tokens>();
  keep('second refresh_token', next.refresh_token);

  // All goes wrong.
  const wrong = keep('wrong secret', 'marker-wrong-secret-0123456789');
  const everything = { ...credentials(client), ...Object.fromEntries(secrets), username: user.username };
  const forms = [
    formOf({ ...everything, client_secret: wrong, grant_type: 'password' }),
    formOf({ ...everything, grant_type: 'password' }),
    formOf({ ...everything, grant_type: secrets.get('code') }),
    formOf({ ...everything, grant_type: 'authorization_code', redirect_uri: 'https://marker.example.test' }),
    formOf({
      ...everything,
      grant_type: 'authorization_code',
      redirect_uri: client.redirect_uri,
      code: `${code.code}x`,
    }),
    formOf({ ...everything, grant_type: 'refresh_token', scope: `${tokens.refresh_token} "` }),
    formOf({ ...everything, grant_type: 'client_credentials' }),
    formOf({ ...everything, token: tokens.access_token }),
    `${formOf(everything)}&${formOf({ code: code.code })}`,
    `${formOf(everything)}&x=%zz`,
    `${formOf(everything)}&x=${'a'.repeat(66_000)}`,
    ...[...secrets.values()].map((value) => `${value}=1&${value}=2`),
  ];
  const paths = ['/token', '/introspect', '/revoke', '/userinfo', '/login'];
  for (const path of paths) {
    for (const body of forms) {
      bodies.push((await postRaw(at, path, body)).body);
    }
    for (const type of ['application/json', 'text/plain']) {
      bodies.push((await postRaw(at, path, JSON.stringify(everything), { 'content-type': type })).body);
    }
    for (const authorization of [
      basic({ ...client, client_secret: wrong }),
      `Bearer ${wrong}`,
      `Basic ${wrong}`,
      wrong,
    ]) {
      bodies.push((await postRaw(at, path, formOf({ token: wrong }), { authorization })).body);
    }
    const query = formOf(everything);
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      bodies.push((await at.app.inject({ method, url: `${path}?${query}` })).body);
      bodies.push((await at.app.inject({ method, url: `${path}/${tokens.access_token}?${query}` })).body);
    }
  }
  // Replay, reuse, theft, a wrong verifier.
  await redeem(at, code);
  await refresh(at, client, tokens.refresh_token);
  await refresh(at, spa, next.refresh_token);
  const other = await anAuthorizationCode(at, { client, user, browser });
  keep('other code', other.code);
  await redeem(at, other, { code_verifier: keep('wrong verifier', 'marker-verifier'.repeat(4)) });
  // A wrong password, in a page and in JSON; a forged form.
  const stranger = new TestBrowser(at);
  const page = await stranger.get('/login');
  const form = { username: user.username, password: keep('wrong password', 'marker-wrong-password') };
  await stranger.post('/login', { ...form, form_token: keep('form_token', formTokenOf(page)) });
  await stranger.post('/login', { ...form, form_token: 'forged' });
  await postRaw(at, '/login', JSON.stringify(form), { 'content-type': 'application/json' });
  await browser.get(`/authorize?${formOf({ id_token_hint: tokens.id_token, client_id: 'nobody', state: 'x' })}`);
  await browser.get(`/logout?${formOf({ id_token_hint: `${tokens.id_token}x` })}`);

  await at.deps.refusals.close(at.clock.now());
  const kept = await listRefusals(at.deps, {}, 10_000);
  expect(new Set(kept.map(({ check }) => check)).size).toBeGreaterThan(15);
  const refusals = JSON.stringify(kept);
  const log = at.logged.join('');
  expect(at.logged.length).toBeGreaterThan(50);
  for (const [name, value] of secrets) {
    expect(refusals.includes(value), `${name} in what is kept of refusals`).toBe(false);
    expect(refusals.includes(encodeURIComponent(value)), `${name}, encoded, in what is kept of refusals`).toBe(false);
    expect(log.includes(value), `${name} in the log`).toBe(false);
    expect(log.includes(encodeURIComponent(value)), `${name}, encoded, in the log`).toBe(false);
    expect(log.includes(Buffer.from(value).toString('base64')), `${name}, in base64, in the log`).toBe(false);
  }
  for (const name of ['client_secret', 'password', 'wrong secret', 'access_token', 'refresh_token', 'code_verifier']) {
    expect(
      bodies.filter((body) => body.includes(secrets.get(name)!)),
      name,
    ).toEqual([]);
  }
  expect(log).not.toMatch(/"level":50/);
});

test('ASVS 16.2.5: nor when the database is away, or breaks in the middle', async () => {
  const breaking = await testApp();
  const { tokens, ...code } = await someTokens(breaking);
  await breaking.deps.db.destroy();
  breaking.clock.advance(11);
  await redeem(breaking, code);
  await refresh(breaking, code.client, tokens.refresh_token);
  await userinfo(breaking, tokens.access_token);
  await postForm(breaking, '/introspect', { token: tokens.access_token, ...credentials(code.client) });
  await postForm(breaking, '/revoke', { token: tokens.refresh_token, ...credentials(code.client) });
  const log = breaking.logged.join('');
  expect(log).toContain('the database is not available');
  for (const secret of [
    code.code,
    code.code_verifier,
    code.client.client_secret,
    tokens.access_token,
    tokens.refresh_token,
  ]) {
    expect(log.includes(secret)).toBe(false);
  }
  await breaking.close();
});

test('ASVS 16.4.1: every line is JSON, whatever a caller sends', async () => {
  await postRaw(at, '/token', 'a%0A%7B%22level%22%3A60=1', {
    'user-agent': 'x\u001b[31m',
    'x-request-id': '{"level":60}',
  });
  await at.app.inject({ url: '/no%0Asuch%0A{"level":60}' });
  for (const line of at.logged) {
    expect(line.endsWith('\n') && !line.slice(0, -1).includes('\n')).toBe(true);
    expect((JSON.parse(line) as { level: number }).level).toBeLessThan(60);
  }
});
