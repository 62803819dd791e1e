/** sector_identifier_uri and who needs one: OpenID Connect Core §8.1, Registration §5. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateClient } from '../../src/clients/register.ts';
import { clientMetadata, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aNetwork } from '../support/encryption.ts';
import { aClient, BY } from '../support/fixtures.ts';

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

test('decided: a stranger who names others’ redirect URIs is told nobody’s subjects by the device flow', async () => {
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
  const made = (await post({ redirect_uris: [A], subject_type: 'pairwise' })).json<Record<string, string>>();
  const changed = await at.app.inject({
    method: 'PUT',
    url: `/register/${made['client_id']}`,
    headers: { authorization: `Bearer ${made['registration_access_token']}` },
    payload: {
      client_id: made['client_id'],
      redirect_uris: [A],
      subject_type: 'pairwise',
      grant_types: [device, 'authorization_code'],
    },
  });
  expect(changed.json()).toMatchObject({ error: 'invalid_client_metadata' });
});

test('decided: a sector is named by JSON, not by a page that happens to read like it', async () => {
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
  const update = (changes: Partial<ClientMetadataInput>) =>
    updateClient(at.deps, client_id, changes, BY, at.clock.now());
  await expect(update({ redirect_uris: [A, B] })).rejects.toThrow(`does not list ${B}`);
  documents[SECTOR] = undefined;
  expect(await update({ client_name: 'Renamed' })).toMatchObject({ client_name: 'Renamed' });
  await expect(update({ redirect_uris: [A, B], sector_identifier_uri: undefined })).rejects.toThrow('is needed');
  const left = await update({ subject_type: 'public', redirect_uris: [A, B], sector_identifier_uri: undefined });
  expect(left).not.toHaveProperty('sector_identifier_uri');
});
