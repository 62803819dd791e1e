import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../../src/keys/secrets.ts';
import { random } from '../../../src/platform/random.ts';
import * as store from '../../../src/store/upstreams.ts';
import { isSecretReadable, resealSecrets, secretFor } from '../../../src/users/upstream/secret.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../../support/app.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

const work = {
  label: 'Work',
  issuer: 'https://id.work.example',
  client_id: 'us',
  client_secret: 'a secret of ours at work',
  domains: ['work.example'],
};

test('a provider is made and changed; its secret is sealed, kept where it is not named, and never shown', async () => {
  const made = await operator.send('PUT', '/upstreams/work', work);
  expect(made.statusCode).toBe(201);
  expect(made.json()).toMatchObject({ upstream: 'work', kind: 'oidc', registration: 'off', has_client_secret: true });
  expect(made.json()).not.toHaveProperty('client_secret');
  const patched = await operator.send('PATCH', '/upstreams/work', { label: 'The office' }, { 'if-match': '*' });
  expect(patched.json()).toMatchObject({ label: 'The office', domains: ['work.example'], has_client_secret: true });
  const row = (await store.find(at.deps.db, 'work'))!;
  expect(row.sealed_secret!.toString('latin1')).not.toContain(work.client_secret);
  expect(await secretFor(at.deps, row, at.clock.now())).toBe(work.client_secret);
  const read = await operator.send('GET', '/upstreams/work');
  const again = await operator.send('PUT', '/upstreams/work', read.json(), { 'if-match': read.headers.etag as string });
  expect(again.json()).toEqual(read.json());
  const events = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('event', '=', 'upstream_changed')
    .execute();
  expect(events).toHaveLength(2);
  expect(JSON.stringify(events)).not.toContain(work.client_secret);
  expect(events[0]!.detail).toMatchObject({ name: 'work', client_secret_changed: true, after: { label: 'Work' } });
  expect((await operator.send('DELETE', '/upstreams/work')).statusCode).toBe(204);
  expect((await operator.send('GET', '/upstreams/work')).statusCode).toBe(404);
});

test.each([
  ['an issuer that is not https', { issuer: 'http://id.work.example' }, '/issuer'],
  ['no secret, where one is shown', { client_secret: undefined }, '/client_secret'],
  ['a secret that is never shown', { token_endpoint_auth_method: 'none' }, '/client_secret'],
  ['oauth2 without endpoints', { kind: 'oauth2' }, '/authorization_endpoint'],
  ['endpoints beside metadata', { token_endpoint: 'https://elsewhere.example/token' }, '/token_endpoint'],
  ['OpenID Connect without openid', { scope: ['email'] }, '/scope'],
  ['accounts for domains, and none named', { registration: 'domains', domains: [] }, '/domains'],
  ['half of what Apple wants', { secret_team_id: 'TEAM' }, '/secret_key_id'],
  ['a picture from elsewhere', { icon: 'https://elsewhere.example/logo.png' }, '/icon'],
  ['an address as a domain', { domains: ['me@work.example'] }, '/domains/0'],
])('refuses %s', async (_what, changes, pointer) => {
  const answer = await operator.send('PUT', '/upstreams/wrong', { ...work, ...changes });
  expect(answer.statusCode).toBe(400);
  expect(answer.json<{ errors: Array<{ pointer: string }> }>().errors.map((each) => each.pointer)).toContain(pointer);
});

test('secrets are sealed anew under the first key, and one whose key is lost is refused and named, not a defect', async () => {
  await operator.send('PUT', '/upstreams/first', work);
  const { db } = at.deps;
  const both = {
    db,
    secrets: createSecrets(['another key, that is to be the first of them', TEST_SECRET_KEY], random),
  };
  const later = { db, secrets: createSecrets(['another key, that is to be the first of them'], random) };
  const before = (await store.find(db, 'first'))!;
  expect(isSecretReadable(later, before)).toBe(false);
  await expect(secretFor(later, before, at.clock.now())).rejects.toMatchObject({ error: 'temporarily_unavailable' });
  await resealSecrets(later);
  expect((await store.find(db, 'first'))!.sealed_secret).toEqual(before.sealed_secret);
  await resealSecrets(both);
  const after = (await store.find(db, 'first'))!;
  expect(await secretFor(later, after, at.clock.now())).toBe(work.client_secret);
});
