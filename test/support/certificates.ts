/** Certificates of clients, and of those who sign them, as tests need them: right unless something is said. */
// oxlint-disable-next-line import/no-unassigned-import -- it is a polyfill
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type JsonGeneralName,
} from '@peculiar/x509';
import { createHash, webcrypto } from 'node:crypto';

export interface ACertificate {
  pem: string;
  der: Buffer;
  /** `x5t#S256`. */
  thumbprint: string;
  keys: webcrypto.CryptoKeyPair;
  subject: string;
}

/** What differs from a certificate for a client, that anybody could have made for themselves. */
export interface Differences {
  subject?: string;
  names?: JsonGeneralName[];
  /** Who signs it. */
  issuer?: ACertificate;
  /** Signed with this key instead of the issuer's. */
  signer?: webcrypto.CryptoKey;
  /** Seconds from now. */
  from?: number;
  until?: number;
  usage?: ExtendedKeyUsage[] | undefined;
  authority?: boolean;
  keys?: webcrypto.CryptoKeyPair;
}

export const FOR_SERVERS = ExtendedKeyUsage.serverAuth;

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400;
let made = 0;

export async function aCertificate(differences: Differences = {}): Promise<ACertificate> {
  made += 1;
  const {
    subject = `CN=client ${made}`,
    names = [],
    issuer,
    from = -DAY,
    until = DAY,
    authority = false,
  } = differences;
  const usage = 'usage' in differences ? differences.usage : [ExtendedKeyUsage.clientAuth];
  const keys = differences.keys ?? (await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']));
  const certificate = await X509CertificateGenerator.create({
    serialNumber: (0x1000 + made).toString(16),
    subject,
    issuer: issuer?.subject ?? subject,
    notBefore: new Date(Date.now() + from * 1000),
    notAfter: new Date(Date.now() + until * 1000),
    publicKey: keys.publicKey,
    signingKey: differences.signer ?? issuer?.keys.privateKey ?? keys.privateKey,
    signingAlgorithm: EC,
    extensions: [
      ...(authority ? [new BasicConstraintsExtension(true, undefined, true)] : []),
      ...(usage && !authority ? [new ExtendedKeyUsageExtension(usage)] : []),
      ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  const der = Buffer.from(certificate.rawData);
  const thumbprint = createHash('sha256').update(der).digest('base64url');
  return { pem: certificate.toString('pem'), der, thumbprint, keys, subject };
}

/** Somebody who signs certificates. */
export const anAuthority = (differences: Differences = {}): Promise<ACertificate> =>
  aCertificate({ subject: `CN=authority ${made + 1}`, ...differences, authority: true });

/** What nginx writes into its header. */
export const asNginx = ({ pem }: ACertificate): string => encodeURIComponent(pem);
