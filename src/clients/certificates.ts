/** Certificates of clients (RFC 8705): which methods of authentication they serve here, and who may have signed them. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { AUTH_METHODS, usesCertificate, type AuthMethod } from '../protocol/client.ts';
import type { ClientCertificate } from '../protocol/certificate.ts';

type Configured = Pick<Deps['config'], 'MTLS_PROXY_FORMAT' | 'MTLS_CA_FILE'>;

/** Can certificates of clients come in at all? Without, nothing that needs one is offered or registered. */
export const seesCertificates = ({ MTLS_PROXY_FORMAT }: Pick<Configured, 'MTLS_PROXY_FORMAT'>): boolean =>
  MTLS_PROXY_FORMAT !== undefined;

/** What is missing for clients to authenticate like this; undefined where they can. */
export function missingFor(config: Configured, token_endpoint_auth_method: AuthMethod): string | undefined {
  if (!usesCertificate({ token_endpoint_auth_method })) return undefined;
  if (!seesCertificates(config)) return 'MTLS_PROXY_FORMAT: no certificates of clients come in here';
  if (token_endpoint_auth_method === 'tls_client_auth' && config.MTLS_CA_FILE === undefined) {
    return 'MTLS_CA_FILE: nobody is known who signs certificates of clients';
  }
  return undefined;
}

/** The methods by which clients can authenticate here. */
export const offeredMethods = (config: Configured): AuthMethod[] =>
  AUTH_METHODS.filter((method) => missingFor(config, method) === undefined);

/** Those who sign certificates of clients. */
export type Authorities = readonly X509Certificate[];

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The authorities in a file; none without one. @throws where it cannot be read, or holds none */
export function readAuthorities(file: string | undefined): Authorities {
  if (file === undefined) return [];
  const authorities = [...readFileSync(file, 'utf8').matchAll(BLOCK)].map(([pem]) => new X509Certificate(pem));
  if (authorities.length === 0) throw new Error(`MTLS_CA_FILE: there is no certificate in PEM in ${file}`);
  return authorities;
}

/** Why a certificate does not count now; undefined when its time has come and is not over. */
export function timeProblem({ validFromDate, validToDate }: X509Certificate, now: Date): string | undefined {
  if (now < validFromDate) return `the certificate is not valid before ${validFromDate.toISOString()}`;
  return now > validToDate ? `the certificate expired at ${validToDate.toISOString()}` : undefined;
}

// RFC 5280 §4.2.1.12: clientAuth, anyExtendedKeyUsage.
const FOR_CLIENTS = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/**
 * Why nobody vouches for a certificate; undefined when one of the authorities signed it itself. What comes along with it is not asked
 * to vouch for it: an authority in between stands in the file as well.
 */
export function trustProblem({ x509 }: ClientCertificate, authorities: Authorities, now: Date): string | undefined {
  const usage = x509.keyUsage as string[] | undefined;
  if (usage && !usage.some((purpose) => FOR_CLIENTS.includes(purpose))) {
    return 'the certificate is not for clients (extended key usage)';
  }
  const signers = authorities.filter(
    (authority) => authority.ca && x509.checkIssued(authority) && x509.verify(authority.publicKey),
  );
  if (signers.length === 0) return 'no authority of MTLS_CA_FILE signed the certificate';
  const problems = signers.map((signer) => timeProblem(signer, now));
  return problems.includes(undefined) ? timeProblem(x509, now) : `of its authority: ${problems[0]}`;
}
