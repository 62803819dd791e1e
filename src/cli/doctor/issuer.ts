/** The issuer from outside, as clients meet it: is it there, is it this one, and is its certificate good for long enough. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Config } from '../../config.ts';
import { WELL_KNOWN } from '../../protocol/endpoint.ts';
import { isLoopbackHost } from '../../protocol/redirect-uri.ts';
import { error, ok, warning, type Finding } from './finding.ts';
import type { Reach } from '../remote.ts';

/** Milliseconds for each thing that is asked for. */
const PATIENCE = 5000;
const DAY = 86_400_000;
/** Days that a certificate should have left: most are renewed a month before their end. */
const RENEW_DAYS = 14;

type Json = Record<string, unknown>;

/** Discovery and keys, as whoever knows only the issuer reads them. With kids: those that this database would publish. */
export async function inspectIssuer(
  issuer: string,
  { fetch }: Pick<Reach, 'fetch'>,
  kids: readonly string[] = [],
): Promise<Finding[]> {
  // On one's own machine a server that does not run, or another one there, is nobody's trouble.
  const wrong = isLoopbackHost(new URL(issuer).hostname) ? warning : error;
  const address = `${issuer}${WELL_KNOWN[0]}`;
  const discovery = await document(fetch, address);
  if (typeof discovery === 'string') {
    const fix = 'start the server, and see that DNS, the proxy and the certificate lead to it';
    const message = `${address} cannot be read: ${discovery}`;
    return [wrong(message, fix)];
  }
  if (discovery['issuer'] !== issuer) {
    const message = `${address} says the issuer is ${JSON.stringify(discovery['issuer'])}`;
    return [wrong(message, `set ISSUER to the same on every server, and here: clients compare it byte for byte`)];
  }
  const jwks_uri = String(discovery['jwks_uri']);
  const jwks = URL.canParse(jwks_uri) ? await document(fetch, jwks_uri) : 'is no URL';
  if (typeof jwks === 'string') {
    return [wrong(`jwks_uri ${jwks_uri} cannot be read: ${jwks}`, 'let the proxy pass everything under the issuer')];
  }
  const served = Array.isArray(jwks['keys']) ? (jwks['keys'] as Json[]).map((key) => key['kid']) : [];
  const missing = kids.filter((kid) => !served.includes(kid));
  if (served.length === 0 || missing.length > 0) {
    const message = served.length === 0 ? 'no keys' : `not the keys of this database: ${missing.join(', ')}`;
    return [
      wrong(`${jwks_uri} has ${message}`, 'see that the servers behind the issuer have the same DATABASE_URL as this'),
    ];
  }
  return [ok(`${issuer} answers as itself, with ${served.length} keys`)];
}

/** A JSON object from an address, or why there is none. */
async function document(fetch: Reach['fetch'], url: string): Promise<Json | string> {
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(PATIENCE) });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return `it answers ${answer.status}`;
    }
    const value: unknown = await answer.json();
    return typeof value === 'object' && value !== null ? (value as Json) : 'it is no JSON object';
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    return cause instanceof Error && cause.message !== '' ? cause.message : message;
  }
}

/** The certificate that the issuer shows. Nothing for http. */
export async function inspectCertificate(issuer: string, now: Date): Promise<Finding[]> {
  const { protocol, hostname, port } = new URL(issuer);
  if (protocol !== 'https:') return [];
  const shown = await shownAt(hostname.replaceAll(/[[\]]/g, ''), port === '' ? 443 : Number(port));
  // That it cannot be reached is said already.
  if (shown === undefined) return [];
  const { certificate, problem } = shown;
  if (problem !== undefined) {
    return [
      error(`the certificate of ${hostname} is not accepted: ${problem}`, 'get one for this name, with its chain'),
    ];
  }
  return daysLeft(`the certificate of ${hostname}`, certificate, now);
}

interface Shown {
  certificate: X509Certificate;
  problem: string | undefined;
}

function shownAt(host: string, port: number): Promise<Shown | undefined> {
  const { promise, resolve } = Promise.withResolvers<Shown | undefined>();
  // It is only looked at: nothing is sent there, so what is wrong with it can be message.
  const socket = connect({ host, port, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: false });
  socket.setTimeout(PATIENCE, () => socket.destroy());
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate();
    const refused = socket.authorized ? undefined : String(socket.authorizationError);
    resolve(certificate && { certificate, problem: refused });
    socket.destroy();
  });
  socket.once('error', () => resolve(undefined));
  socket.once('close', () => resolve(undefined));
  return promise;
}

function daysLeft(what: string, { validTo }: X509Certificate, now: Date): Finding[] {
  const days = Math.floor((new Date(validTo).getTime() - now.getTime()) / DAY);
  if (days < 0) return [error(`${what} ran out on ${new Date(validTo).toISOString()}`, 'renew it')];
  const message = `${what} is good for ${days} days`;
  return [days < RENEW_DAYS ? warning(message, 'see why it was not renewed') : ok(message)];
}

/** The certificate that this server itself would serve: of its name, of its key, and not run out. */
export async function inspectTlsFiles(
  { TLS_CERT_FILE, TLS_KEY_FILE, ISSUER }: Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'ISSUER'>,
  now: Date,
): Promise<Finding[]> {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return [];
  try {
    const certificate = new X509Certificate(await readFile(TLS_CERT_FILE));
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(TLS_KEY_FILE)))) {
      return [error(`${TLS_KEY_FILE} is not the key of ${TLS_CERT_FILE}`, 'set the two that belong together')];
    }
    const { hostname } = new URL(ISSUER);
    const found = daysLeft(TLS_CERT_FILE, certificate, now);
    const name = hostname.replaceAll(/[[\]]/g, '');
    if ((isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) === undefined) {
      // Behind a proxy that has its own, this one may have any name.
      found.push(warning(`${TLS_CERT_FILE} is not for ${hostname}`, 'get one for the name of the issuer'));
    }
    return found;
  } catch (thrown) {
    return [error(`TLS_CERT_FILE and TLS_KEY_FILE: ${(thrown as Error).message}`, 'give PEM files that can be read')];
  }
}
