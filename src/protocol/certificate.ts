/** The certificates of clients (RFC 8705): read once from their bytes, and called by their thumbprint. */
import { createHash, X509Certificate } from 'node:crypto';

/** The certificate that a client proved to hold the key of, when it connected. */
export interface ClientCertificate {
  x509: X509Certificate;
  /** Its SHA-256 hash in base64url: `x5t#S256` (RFC 8705 §3.1). */
  thumbprint: string;
  /** Certificates that came with it, of those who signed it. */
  chain: readonly X509Certificate[];
}

/** Bytes of one certificate: they have one or two thousand. */
const MAX_BYTES = 12_000;
/** Certificates of a chain, the client's among them. */
const MAX_CHAIN = 6;

/** A certificate and its chain, each in DER; undefined where one is no certificate. */
export function readCertificate([leaf, ...signers]: readonly Buffer[]): ClientCertificate | undefined {
  if (leaf === undefined || signers.length >= MAX_CHAIN) return undefined;
  const x509 = parse(leaf);
  const chain = signers.flatMap((der) => parse(der) ?? []);
  if (x509 === undefined || chain.length < signers.length) return undefined;
  return { x509, thumbprint: thumbprintOf(x509), chain };
}

/** RFC 8705 §3.1. */
const thumbprintOf = ({ raw }: X509Certificate): string => createHash('sha256').update(raw).digest('base64url');

function parse(der: Buffer): X509Certificate | undefined {
  if (der.length === 0 || der.length > MAX_BYTES) return undefined;
  try {
    const x509 = new X509Certificate(der);
    // Anything after it, or another encoding of it, is not what its issuer signed. A key of an unknown kind throws.
    return x509.raw.equals(der) && x509.publicKey.type === 'public' ? x509 : undefined;
  } catch {
    return undefined;
  }
}
