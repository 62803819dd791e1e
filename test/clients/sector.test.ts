/** sector_identifier_uri and who needs one: OpenID Connect Core §8.1, Registration §5. */
import type { LightMyRequestResponse } from 'fastify';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliverNotices } from '../../src/sessions/notices.ts';
import { clientMetadata, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aNetwork } from '../support/encryption.ts';
import {
  type AClient,
  aClient,
  asOfBefore,
  aUser,
  changeClient,
  credentials,
  formTokenOf,
  postForm,
  signIn,
  someTokens,
  userinfo,
} from '../support/fixtures.ts';

const A = 'https://a.example.test/callback';
const B = 'https://b.example.test/callback';
const SECTOR = 'https://sector.example.test/uris.json';
const documents: Record<string, unknown> = {};
const network = aNetwork(documents);

let at: TestApp;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' }, fetch: network.fetch });
});
afterAll(() => at.close());

type Document = Record<string, unknown>;
const post = (document: Document, of = at, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  of.app.inject({ method: 'POST', url: '/register', headers, payload: document });

test('Registration §5: redirect URIs at several hosts with one sector_identifier_uri that lists them all', async () => {
  documents[SECTOR] = [A, B, 'https://c.example.test/callback'];
  const answer = await post({ redirect_uris: [A, B], subject_type: 'pairwise', sector_identifier_uri: SECTOR });
  expect(answer.statusCode).toBe(201);
  expect(answer.json()).toMatchObject({ subject_type: 'pairwise', sector_identifier_uri: SECTOR });
});

test.each<[what: string, document: unknown]>([
  ['lists only some of them', [A]],
  ['lists one that differs in a byte', [A, `${B}/`]],
  ['is not an array', { redirect_uris: [A, B] }],
  ['holds others than strings', [A, B, 7]],
  ['is not JSON', '<html>'],
  ['is not there', undefined],
  ['cannot be reached', new Error('secret.internal is not public')],
])(
  'Registration §5: a sector_identifier_uri that %s is refused, with subject_type public too',
  async (_what, document) => {
    documents[SECTOR] = document;
    for (const subject_type of ['pairwise', 'public']) {
      const answer = await post({ redirect_uris: [A, B], subject_type, sector_identifier_uri: SECTOR });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' });
      expect(answer.body).toContain('sector_identifier_uri');
      expect(answer.body).not.toContain('secret.internal');
    }
  },
);

test.each<[what: string, metadata: ClientMetadataInput, refused: boolean]>([
  ['one host', { redirect_uris: [A, 'https://a.example.test:8443/other'] }, false],
  ['two hosts', { redirect_uris: [A, B] }, true],
  ['a private-use scheme', { redirect_uris: ['com.example.app:/cb'], application_type: 'native' }, true],
  ['a host and a private-use scheme', { redirect_uris: [A, 'com.example.app:/cb'], application_type: 'native' }, true],
  ['loopback of a native client', { redirect_uris: ['http://127.0.0.1/cb'], application_type: 'native' }, true],
  ['loopback of a web client that is being made', { redirect_uris: ['http://localhost:3000/cb'] }, false],
  ['no redirect URI', { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }, true],
])('OpenID Connect Core §8.1: pairwise with %s', (_what, metadata, refused) => {
  const parsed = clientMetadata.safeParse({ ...metadata, subject_type: 'pairwise' });
  expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual(refused ? ['sector_identifier_uri'] : undefined);
  const named = { ...metadata, subject_type: 'pairwise', sector_identifier_uri: SECTOR } as const;
  expect(clientMetadata.safeParse(named).success).toBe(true);
  // Who is told the public subject needs no sector.
  expect(clientMetadata.safeParse(metadata).success).toBe(true);
});

test('a stranger who names others’ redirect URIs is told nobody’s subjects by the device flow', async () => {
  documents[SECTOR] = [A, B];
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  for (const document of [
    { grant_types: [device], sector_identifier_uri: SECTOR },
    { grant_types: [device, 'authorization_code'], redirect_uris: [A] },
    { grant_types: [device, 'authorization_code'], redirect_uris: [A, B], sector_identifier_uri: SECTOR },
  ]) {
    const answer = await post({ ...document, subject_type: 'pairwise' });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' });
    expect((await post(document)).statusCode).toBe(201);
  }
  // Nor by a change of mind.
  const pairwise = { redirect_uris: [A], subject_type: 'pairwise', sector_identifier_uri: SECTOR };
  const made = (await post(pairwise)).json<Record<string, string>>();
  const changed = await at.app.inject({
    method: 'PUT',
    url: `/register/${made['client_id']}`,
    headers: { authorization: `Bearer ${made['registration_access_token']}` },
    payload: {
      client_id: made['client_id'],
      ...pairwise,
      grant_types: [device, 'authorization_code'],
    },
  });
  expect(changed.json()).toMatchObject({ error: 'invalid_client_metadata' });
});

test('a sector is named by JSON, not by a page that happens to read like it', async () => {
  const served = aNetwork({ [SECTOR]: [A, B] });
  for (const [media_type, status] of [
    ['text/html', 400],
    ['', 400],
    ['application/json', 201],
  ] as const) {
    const of = await testApp({
      config: { REGISTRATION: 'open' },
      fetch: async (url, request) => ({ ...(await served.fetch(url, request)), media_type }),
    });
    expect((await post({ redirect_uris: [A, B], sector_identifier_uri: SECTOR }, of)).statusCode).toBe(status);
    await of.close();
  }
});

test.each(['http://sector.example.test/uris.json', 'sector.example.test', 'file:///etc/passwd'])(
  'Registration §2: sector_identifier_uri is https: %s is not, and nothing is fetched',
  async (sector_identifier_uri) => {
    const before = network.asked.length;
    expect((await post({ redirect_uris: [A], sector_identifier_uri })).json()).toMatchObject({
      error: 'invalid_client_metadata',
    });
    expect(network.asked.length).toBe(before);
  },
);

test('with REGISTRATION=token nothing is fetched for who has no token', async () => {
  const closed = await testApp({ config: { REGISTRATION: 'token' }, fetch: network.fetch });
  const before = network.asked.length;
  for (const headers of [{}, { authorization: 'Bearer made-up' }]) {
    const answer = await post({ redirect_uris: [A], sector_identifier_uri: SECTOR }, closed, headers);
    expect(answer.json()).toMatchObject({ error: 'invalid_token' });
  }
  expect(network.asked.length).toBe(before);
  await closed.close();
});

test('RFC 7592 §2.2: a replacement proves its sector again when its redirect URIs change, and only then', async () => {
  documents[SECTOR] = [A, B];
  const made = (await post({ redirect_uris: [A, B], sector_identifier_uri: SECTOR })).json<Record<string, string>>();
  let token = made['registration_access_token']!;
  const put = async (redirect_uris: string[]): Promise<LightMyRequestResponse> => {
    const answer = await at.app.inject({
      method: 'PUT',
      url: `/register/${made['client_id']}`,
      headers: { authorization: `Bearer ${token}` },
      payload: { client_id: made['client_id'], redirect_uris, sector_identifier_uri: SECTOR },
    });
    token = answer.json<Record<string, string>>()['registration_access_token'] ?? token;
    return answer;
  };
  documents[SECTOR] = undefined;
  const before = network.asked.length;
  expect((await put([B])).statusCode).toBe(200);
  expect(network.asked.length).toBe(before);
  expect((await put([A, B])).json()).toMatchObject({ error: 'invalid_client_metadata' });
  documents[SECTOR] = [A, B];
  expect((await put([A, B])).statusCode).toBe(200);
});

test('an operator’s change is checked alike, and may leave the sector', async () => {
  documents[SECTOR] = [A];
  const { client_id } = await aClient(at, {
    redirect_uris: [A],
    subject_type: 'pairwise',
    sector_identifier_uri: SECTOR,
  });
  const update = (changes: Partial<ClientMetadataInput>) => changeClient(at, { client_id }, changes);
  await expect(update({ redirect_uris: [A, B] })).rejects.toThrow(`does not list ${B}`);
  documents[SECTOR] = undefined;
  expect(await update({ client_name: 'Renamed' })).toMatchObject({ client_name: 'Renamed' });
  await expect(update({ redirect_uris: [A, B], sector_identifier_uri: undefined })).rejects.toThrow('is needed');
  const left = await update({ subject_type: 'public', redirect_uris: [A, B], sector_identifier_uri: undefined });
  expect(left).not.toHaveProperty('sector_identifier_uri');
});

describe('OpenID Connect Core §8.1: who registers itself proves its sector', () => {
  const EVIL = 'https://evil.example.test/logout';
  const pairwise = { redirect_uris: [A], subject_type: 'pairwise', sector_identifier_uri: SECTOR };
  const put = (made: Document, payload: Document): Promise<LightMyRequestResponse> =>
    at.app.inject({
      method: 'PUT',
      url: `/register/${String(made['client_id'])}`,
      headers: { authorization: `Bearer ${String(made['registration_access_token'])}` },
      payload: { client_id: made['client_id'], ...payload },
    });
  const asClient = (made: Document): AClient => ({
    client_id: String(made['client_id']),
    client_secret: String(made['client_secret']),
    redirect_uri: A,
  });

  test('a redirect URI alone, which may be anybody’s, proves none', async () => {
    documents[SECTOR] = [A];
    const answer = await post({ redirect_uris: [A], subject_type: 'pairwise' });
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_client_metadata' }),
    ]);
    expect(answer.body).toContain('sector_identifier_uri');
    expect((await post(pairwise)).statusCode).toBe(201);
    const made = (await post({ redirect_uris: [A] })).json<Document>();
    expect((await put(made, { redirect_uris: [A], subject_type: 'pairwise' })).statusCode).toBe(400);
  });

  test('nor is a back-channel address beside foreign redirect URIs told their subjects', async () => {
    documents[SECTOR] = [A];
    const refused = await post({ ...pairwise, backchannel_logout_uri: EVIL });
    expect([refused.statusCode, refused.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_client_metadata' }),
    ]);
    for (const uri of ['https://a.example.test/logout', 'https://sector.example.test/logout']) {
      const made = await post({ ...pairwise, backchannel_logout_uri: uri });
      expect(made.statusCode).toBe(201);
      const changed = await put(made.json<Document>(), { ...pairwise, backchannel_logout_uri: EVIL });
      expect(changed.json()).toMatchObject({ error: 'invalid_client_metadata' });
    }
    // Whoever is told the public subject is told it anywhere; and operators say for themselves what is theirs.
    expect((await post({ redirect_uris: [A], backchannel_logout_uri: EVIL })).statusCode).toBe(201);
    const own = { ...pairwise, subject_type: 'pairwise', backchannel_logout_uri: EVIL } as const;
    expect(await aClient(at, own)).toBeTruthy();
  });

  test('a sub of one sector goes to no address that came to be in another', async () => {
    documents[SECTOR] = [A];
    const made = (
      await post({ ...pairwise, backchannel_logout_uri: 'https://a.example.test/logout' })
    ).json<Document>();
    const user = await aUser(at);
    const browser = await signIn(at, user);
    await someTokens(at, { client: asClient(made), user, browser, parameters: { scope: 'openid offline_access' } });
    await browser.post('/logout', { action: 'logout', form_token: formTokenOf(await browser.get('/logout')) });
    const notices = at.deps.db.selectFrom('logout_notices').selectAll().where('sub', '=', user.sub);
    expect(await notices.execute()).toMatchObject([{ sector: 'sector.example.test', attempts: 0 }]);
    // As a server of before this rule could still write it.
    const moved = { backchannel_logout_uri: EVIL, sector_identifier_uri: null, redirect_uris: [EVIL] };
    await asOfBefore(at, asClient(made), moved);
    const before = network.asked.length;
    await deliverNotices(at.deps);
    expect(network.asked.slice(before)).toEqual([]);
    expect(await notices.execute()).toMatchObject([{ attempts: 1, last_failure: expect.stringContaining('sector') }]);
  });

  test('with authorizations it cannot leave its sector, nor be told the public subject', async () => {
    const OTHER = 'https://other.example.test/uris.json';
    documents[SECTOR] = [A];
    documents[OTHER] = [A];
    let made = (await post(pairwise)).json<Document>();
    const client = asClient(made);
    const { tokens } = await someTokens(at, { client, parameters: { scope: 'openid offline_access' } });
    const { sub } = decodeJwt(tokens.id_token);
    for (const change of [{ subject_type: 'public' }, { sector_identifier_uri: OTHER }]) {
      const answer = await put(made, { ...pairwise, ...change });
      expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' });
      expect(answer.body).toContain(Object.keys(change)[0]!);
    }
    const kept = await put(made, { ...pairwise, client_name: 'Another name' });
    expect(kept.statusCode).toBe(200);
    made = { ...made, ...kept.json<Document>() };
    at.deps.directory.clear();
    expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub });
    await postForm(at, '/revoke', { token: tokens.access_token, ...credentials(client) });
    expect((await put(made, { ...pairwise, sector_identifier_uri: OTHER })).statusCode).toBe(200);
  });
});
