/** Clients that prove who they are by the certificate that they connect with (RFC 8705 §2). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aCertificate,
  anAuthority,
  asNginx,
  FOR_SERVERS,
  type ACertificate,
  type Differences,
} from '../support/certificates.ts';
import { aClient, aPublicClient, aService, changeClient, type AClient } from '../support/fixtures.ts';
import { basic, decode, expectRefusal, formOf, postRaw } from '../support/oauth.ts';

const PROXY = '10.1.1.1';
const folder = mkdtempSync(join(tmpdir(), 'postern-authorities-'));
const MTLS_CA_FILE = join(folder, 'authorities.pem');

let at: TestApp;
let authority: ACertificate;
/** One whose time is over, and one of the name of ours that nobody knows. */
let expired: ACertificate;
let stranger: ACertificate;
/** What the clients' addresses answer. */
const published = new Map<string, unknown>();
beforeAll(async () => {
  authority = await anAuthority({ subject: 'CN=Clearing CA, O=Example' });
  expired = await anAuthority({ subject: 'CN=Old CA', until: -3600 });
  stranger = await anAuthority({ subject: authority.subject });
  writeFileSync(MTLS_CA_FILE, `# Ours\n${authority.pem}\n${expired.pem}\n`);
  at = await testApp({
    config: { MTLS_PROXY_FORMAT: 'nginx', TRUST_PROXY: [PROXY], MTLS_CA_FILE },
    async fetch(url) {
      const text = JSON.stringify(published.get(url));
      return { status: 200, media_type: 'application/json', headers: new Headers(), text, bytes: Buffer.from(text) };
    },
  });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await at.close();
});

const ask = (
  { client_id }: AClient,
  certificate: ACertificate | undefined,
  fields: Record<string, string> = {},
  { from = PROXY, headers = {} }: { from?: string; headers?: Record<string, string> } = {},
) =>
  postRaw(
    at,
    '/token',
    formOf({ grant_type: 'client_credentials', client_id, ...fields }),
    { ...headers, ...(certificate && { 'x-ssl-client-cert': asNginx(certificate) }) },
    from,
  );
const byAuthority = (differences: Differences = {}) => aCertificate({ issuer: authority, ...differences });
const tlsClient = (subject: Partial<ClientMetadataInput>) =>
  aService(at, { token_endpoint_auth_method: 'tls_client_auth', ...subject });

/** A name as a client registers it, certificates for it, and certificates for others. */
const subjects: Array<{ registered: Partial<ClientMetadataInput>; right: Differences[]; wrong: Differences[] }> = [
  {
    registered: { tls_client_auth_subject_dn: 'CN=Pay\\, Inc.+UID=7,OU=Ops,O=Ex\\C3\\A4mple,C=DE' },
    right: [
      { subject: 'C=DE, O=Exämple, OU=Ops, CN=Pay\\, Inc.+0.9.2342.19200300.100.1.1=7' },
      { subject: 'C=de, O=EXÄMPLE, OU=ops, 0.9.2342.19200300.100.1.1=7+CN=pay\\,  inc.' },
    ],
    wrong: [
      { subject: 'CN=Pay\\, Inc.' },
      { subject: 'CN=Pay\\, Inc.+0.9.2342.19200300.100.1.1=7, OU=Ops, O=Exämple, C=DE' },
      { subject: 'C=DE, O=Exämple, OU=Ops, CN=Pay\\, Inc., 0.9.2342.19200300.100.1.1=7' },
      { subject: 'C=DE, O=Exämple, OU=Ops, OU=More, CN=Pay\\, Inc.+0.9.2342.19200300.100.1.1=7' },
      // One attribute whose text looks like several.
      { subject: 'C=DE, O=Exämple, OU=Ops, CN=Pay\\, Inc.\\+UID\\=7' },
    ],
  },
  {
    registered: { tls_client_auth_san_dns: 'pay.example.test' },
    right: [{ names: [{ type: 'dns', value: 'PAY.example.test' }] }],
    wrong: [
      { subject: 'CN=pay.example.test' },
      { names: [{ type: 'dns', value: '*.example.test' }] },
      { names: [{ type: 'dns', value: 'x.pay.example.test' }] },
      { names: [{ type: 'url', value: 'https://pay.example.test' }] },
    ],
  },
  {
    registered: { tls_client_auth_san_uri: 'spiffe://example.test/pay' },
    right: [
      {
        names: [
          { type: 'dns', value: 'x.test' },
          { type: 'url', value: 'spiffe://example.test/pay' },
        ],
      },
    ],
    wrong: [
      { names: [{ type: 'url', value: 'spiffe://example.test/pay2' }] },
      { names: [{ type: 'url', value: 'spiffe://x.test, URI:spiffe://example.test/pay' }] },
    ],
  },
  {
    registered: { tls_client_auth_san_ip: '2001:db8::1' },
    right: [{ names: [{ type: 'ip', value: '2001:db8:0:0:0:0:0:1' }] }],
    wrong: [{ names: [{ type: 'ip', value: '192.0.2.1' }] }, { subject: 'CN=2001:db8::1' }],
  },
  {
    registered: { tls_client_auth_san_email: 'pay@example.test' },
    right: [{ names: [{ type: 'email', value: 'pay@EXAMPLE.test' }] }],
    wrong: [{ names: [{ type: 'email', value: 'pays@example.test' }] }, { subject: 'E=pay@example.test' }],
  },
];

test.each(subjects)(
  'RFC 8705 §2.1: tls_client_auth, registered by one name of its certificate',
  async ({ registered, right, wrong }) => {
    const client = await tlsClient(registered);
    for (const differences of right) {
      const answer = await ask(client, await byAuthority(differences));
      expect({ differences, status: answer.statusCode }).toEqual({ differences, status: 200 });
    }
    for (const differences of wrong) {
      const answer = await ask(client, await byAuthority(differences));
      expect({ differences, status: answer.statusCode }).toEqual({ differences, status: 401 });
    }
    // The right name, and nobody whom we know vouches for it.
    const [name] = right;
    const doubtful: Record<string, ACertificate> = {
      'signed by itself': await aCertificate(name),
      'signed by another of that name': await aCertificate({ ...name, issuer: stranger }),
      'signed with another key': await byAuthority({ ...name, signer: stranger.keys.privateKey }),
      'signed by one whose time is over': await aCertificate({ ...name, issuer: expired }),
      'signed by one that is no authority': await aCertificate({ ...name, issuer: await byAuthority() }),
      expired: await byAuthority({ ...name, until: -3600 }),
      'not valid yet': await byAuthority({ ...name, from: 3600 }),
      'for servers': await byAuthority({ ...name, usage: [FOR_SERVERS] }),
    };
    for (const [what, certificate] of Object.entries(doubtful)) {
      const answer = await ask(client, certificate);
      expect({ what, status: answer.statusCode }).toEqual({ what, status: 401 });
      expectRefusal(answer, 401, 'invalid_client');
    }
    expect((await ask(client, await byAuthority({ ...name, usage: undefined }))).statusCode).toBe(200);
  },
);

test('RFC 8705 §2.2: self_signed_tls_client_auth takes the certificates in the x5c of the keys, also those published since', async () => {
  const jwkOf = async ({ keys, der }: ACertificate) => ({
    ...(await exportJWK(keys.publicKey)),
    kty: 'EC',
    x5c: [der.toString('base64')],
  });
  const [one, other] = [await aCertificate(), await aCertificate()];
  const again = await aCertificate({ keys: one.keys, subject: one.subject });
  const old = await aCertificate({ until: -3600 });
  const method = { token_endpoint_auth_method: 'self_signed_tls_client_auth' } as const;
  const jwks = { keys: [await jwkOf(one), await jwkOf(old)] };
  const client = await aService(at, { ...method, jwks });
  expect((await ask(client, one)).statusCode).toBe(200);
  for (const wrong of [other, again, old, await byAuthority(), undefined]) {
    expectRefusal(await ask(client, wrong), 401, 'invalid_client');
  }
  const jwks_uri = 'https://client.example.test/jwks';
  published.set(jwks_uri, jwks);
  const publishing = await aService(at, { ...method, jwks_uri });
  expect((await ask(publishing, one)).statusCode).toBe(200);
  published.set(jwks_uri, { keys: [await jwkOf(other)] });
  at.clock.advance(31);
  expect((await ask(publishing, other)).statusCode).toBe(200);
  expectRefusal(await ask(publishing, one), 401, 'invalid_client');
});

test('RFC 8705 §2: the certificate counts from a trusted proxy alone, and for the client that registered it alone', async () => {
  const certificate = await byAuthority({ subject: 'CN=Clearing' });
  const client = await tlsClient({ tls_client_auth_subject_dn: 'CN=Clearing' });
  expectRefusal(await ask(client, certificate, {}, { from: '203.0.113.9' }), 401, 'invalid_client');
  expectRefusal(await ask(client, undefined), 401, 'invalid_client');
  // A secret beside it is another method, and not this client's.
  expectRefusal(await ask(client, certificate, { client_secret: 'x'.repeat(20) }), 401, 'invalid_client');
  const secretive = await aService(at);
  expectRefusal(await ask(secretive, certificate), 401, 'invalid_client');
  const withSecret = await ask(secretive, certificate, {}, { headers: { authorization: basic(secretive) } });
  expect(withSecret.statusCode).toBe(200);
  // A public client may have to show one, and stays public.
  expectRefusal(await ask(await aPublicClient(at), certificate), 400, 'unauthorized_client');
  // One certificate both authenticates and binds.
  await changeClient(at, client, { tls_client_certificate_bound_access_tokens: true });
  const { access_token } = (await ask(client, certificate)).json<{ access_token: string }>();
  expect(decode(access_token).payload['cnf']).toEqual({ 'x5t#S256': certificate.thumbprint });
  // Under a new name the old certificate is worth nothing.
  await changeClient(at, client, { tls_client_auth_subject_dn: 'CN=Clearing 2' });
  expectRefusal(await ask(client, certificate), 401, 'invalid_client');
  expect((await ask(client, await byAuthority({ subject: 'CN=Clearing 2' }))).statusCode).toBe(200);
});

test('RFC 8705 §2.1.2: a client says whom its certificate is for in exactly one way', async () => {
  const two = { tls_client_auth_san_dns: 'a.test', tls_client_auth_san_ip: '192.0.2.1' };
  for (const [subject, problem] of [
    [{}, /exactly one/],
    [two, /exactly one/],
    [{ tls_client_auth_subject_dn: 'Clearing' }, /RFC 4514/],
    [{ tls_client_auth_san_ip: '192.0.2' }, /tls_client_auth_san_ip/],
  ] as const) {
    await expect(tlsClient(subject)).rejects.toThrow(problem);
  }
  await expect(aClient(at, { tls_client_auth_san_dns: 'a.test' })).rejects.toThrow(/tls_client_auth alone/);
  await expect(aService(at, { token_endpoint_auth_method: 'self_signed_tls_client_auth' })).rejects.toThrow(/x5c/);
});

test('RFC 8705 §2.1.1: the methods are in the metadata where they work, and are registered nowhere else', async () => {
  const methodsOf = async ({ app }: TestApp) => {
    const answer = await app.inject({ method: 'GET', url: '/.well-known/openid-configuration' });
    const { token_endpoint_auth_methods_supported: all = [] } = answer.json<Record<string, string[]>>();
    return all.filter((method) => method.includes('tls'));
  };
  expect(await methodsOf(at)).toEqual(['tls_client_auth', 'self_signed_tls_client_auth']);
  const { database, clock } = at;
  const selfSignedOnly = await testApp({ database, clock, config: { MTLS_PROXY_FORMAT: 'nginx' } });
  expect(await methodsOf(selfSignedOnly)).toEqual(['self_signed_tls_client_auth']);
  const metadata = { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_san_dns: 'a.test' } as const;
  await expect(aService(selfSignedOnly, metadata)).rejects.toThrow(/MTLS_CA_FILE/);
  await selfSignedOnly.close();
});
