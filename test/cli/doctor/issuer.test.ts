/** What the doctor says of an issuer, as it is met from outside. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inspectCertificate, inspectIssuer, inspectTlsFiles } from '../../../src/cli/doctor/issuer.ts';
import type { Reach } from '../../../src/cli/remote.ts';
import { stopServers, temporaryDirectory } from '../../support/server.ts';

afterAll(() => stopServers());

const ISSUER = 'https://id.example.test';
const jwks_uri = `${ISSUER}/jwks`;
const json = (value: unknown): Response => Response.json(value);

/** A server that answers these documents, by path. */
const serving = (documents: Record<string, () => Response>): Pick<Reach, 'fetch'> => ({
  fetch: async (url) => {
    const answer = documents[new URL(url).pathname];
    if (!answer) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 192.0.2.1:443') });
    return answer();
  },
});
const DISCOVERY = '/.well-known/openid-configuration';
const good = { [DISCOVERY]: () => json({ issuer: ISSUER, jwks_uri }), '/jwks': () => json({ keys: [{ kid: 'one' }] }) };

test.each([
  ['is well', ISSUER, good, ['one'], 'ok', /answers as itself, with 1 keys$/],
  ['is not there', ISSUER, {}, [], 'error', /cannot be read: connect ECONNREFUSED/],
  ['is not there, on this machine', 'http://localhost:3000', {}, [], 'warning', /cannot be read/],
  ['answers no JSON', ISSUER, { [DISCOVERY]: () => new Response('<html>') }, [], 'error', /cannot be read: /],
  ['answers 502', ISSUER, { [DISCOVERY]: () => new Response('', { status: 502 }) }, [], 'error', /it answers 502/],
  [
    'is another one',
    ISSUER,
    { [DISCOVERY]: () => json({ issuer: `${ISSUER}/`, jwks_uri }) },
    [],
    'error',
    /says the issuer is "https:\/\/id\.example\.test\/"$/,
  ],
  ['keeps its keys to itself', ISSUER, { [DISCOVERY]: good[DISCOVERY] }, [], 'error', /^jwks_uri .* cannot be read: /],
  ['has no keys', ISSUER, { ...good, '/jwks': () => json({ keys: [] }) }, [], 'error', /has no keys$/],
  ['is on another database', ISSUER, good, ['one', 'two'], 'error', /not the keys of this database: two$/],
] as const)('an issuer that %s', async (_what, issuer, documents, kids, level, message) => {
  const [finding, ...more] = await inspectIssuer(issuer, serving(documents), kids);
  expect(finding).toMatchObject({ level, message: expect.stringMatching(message) });
  expect([finding?.fix === undefined, more]).toEqual([level === 'ok', []]);
});

test('a certificate says whose it is, by whom, and for how long', async ({ skip }) => {
  const directory = temporaryDirectory();
  const [TLS_KEY_FILE, TLS_CERT_FILE, other] = ['key.pem', 'cert.pem', 'other.pem'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  try {
    execFileSync('openssl', [...request, ...subject, '-keyout', TLS_KEY_FILE, '-out', TLS_CERT_FILE], {
      stdio: 'pipe',
    });
    execFileSync('openssl', ['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', other], { stdio: 'pipe' });
  } catch {
    skip('no openssl to make a certificate with');
  }
  const now = new Date();
  const later = (days: number): Date => new Date(now.getTime() + days * 86_400_000);
  const files = (given: object, at: Date) =>
    inspectTlsFiles({ TLS_CERT_FILE, TLS_KEY_FILE, ISSUER: 'https://localhost', ...given }, at);
  expect(await files({}, now)).toEqual([{ level: 'ok', message: `${TLS_CERT_FILE} is good for 29 days` }]);
  expect(await files({}, later(20))).toMatchObject([{ level: 'warning', message: expect.stringContaining('9 days') }]);
  expect(await files({}, later(31))).toMatchObject([
    { level: 'error', message: expect.stringContaining('ran out on') },
  ]);
  expect((await files({ ISSUER }, now)).at(-1)).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('is not for id.example'),
  });
  expect(await files({ TLS_KEY_FILE: other }, now)).toMatchObject([
    { level: 'error', message: expect.stringContaining('is not the key of') },
  ]);
  expect(await files({ TLS_CERT_FILE: directory }, now)).toMatchObject([{ level: 'error' }]);
  expect(await files({ TLS_CERT_FILE: undefined }, now)).toEqual([]);

  const server = createServer({ key: readFileSync(TLS_KEY_FILE), cert: readFileSync(TLS_CERT_FILE) });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`;
  const shown = await inspectCertificate(issuer, now);
  expect(shown).toMatchObject([{ level: 'error', message: expect.stringContaining('is not accepted: ') }]);
  await new Promise((resolve) => server.close(resolve));
  expect(await inspectCertificate(issuer, now)).toEqual([]);
  expect(await inspectCertificate('http://localhost', now)).toEqual([]);
});
