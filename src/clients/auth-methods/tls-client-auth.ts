/** tls_client_auth (RFC 8705 §2.1): a certificate that an authority signed, for the one name that the client registered. */
import type { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, id_ce_subjectAltName, SubjectAlternativeName } from '@peculiar/asn1-x509';
import { TLS_SUBJECTS } from '../../protocol/client.ts';
import { areSameName, readDistinguishedName, type DistinguishedName } from '../../protocol/distinguished-name.ts';
import type { Client } from '../../store/clients.ts';
import { trustProblem } from '../certificates.ts';
import { certificateMethod } from './certificate.ts';

type Subject = (typeof TLS_SUBJECTS)[number];

/** Is it a certificate for this name? One row for each way in which a client can say its name (§2.1.2). */
const NAMES: Record<Subject, (x509: X509Certificate, expected: string) => boolean> = {
  tls_client_auth_subject_dn: (x509, expected) => {
    const name = readDistinguishedName(expected);
    return name !== undefined && areSameName(name, subjectOf(x509));
  },
  // A certificate for all names of a domain is for none of them here.
  tls_client_auth_san_dns: (x509, expected) =>
    x509.checkHost(expected, { subject: 'never', wildcards: false }) !== undefined,
  tls_client_auth_san_uri: (x509, expected) => urisOf(x509).includes(expected),
  tls_client_auth_san_ip: (x509, expected) => x509.checkIP(expected) !== undefined,
  tls_client_auth_san_email: (x509, expected) => x509.checkEmail(expected, { subject: 'never' }) !== undefined,
};

/** A certificate of an authority. */
export const tlsClientAuth = certificateMethod('tls_client_auth', (client, certificate, { deps, now }) => {
  const problem = trustProblem(certificate, deps.authorities, now);
  return problem ?? (isNamed(client, certificate.x509) ? undefined : 'the certificate is for another name');
});

function isNamed(client: Client, x509: X509Certificate): boolean {
  const names = TLS_SUBJECTS.filter((member) => client[member] !== null);
  return names.length === 1 && names.every((member) => NAMES[member](x509, client[member] ?? ''));
}

const parsed = ({ raw }: X509Certificate) => AsnConvert.parse(raw, Certificate).tbsCertificate;

const subjectOf = (x509: X509Certificate): DistinguishedName =>
  parsed(x509).subject.map((step) => step.map(({ type, value }) => [type, value.toString()] as const));

function urisOf(x509: X509Certificate): string[] {
  const found = parsed(x509).extensions?.find(({ extnID }) => extnID === id_ce_subjectAltName);
  if (!found) return [];
  return AsnConvert.parse(found.extnValue, SubjectAlternativeName).flatMap(
    ({ uniformResourceIdentifier: uri }) => uri ?? [],
  );
}
