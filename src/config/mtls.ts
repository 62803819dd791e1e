/** The variables of mutual TLS (RFC 8705): how certificates of clients come in. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fileName } from './kinds.ts';
import { CERTIFICATE_FORMATS } from '../protocol/certificate-header.ts';

export const mtls = {
  /** Who writes the header with the certificate, and so in which form; undefined: nobody. */
  MTLS_PROXY_FORMAT: z.enum(CERTIFICATE_FORMATS as [CertificateFormat, ...CertificateFormat[]]).optional(),
  /** Its name, where it is not the usual one. */
  MTLS_PROXY_HEADER: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
    .transform((name) => name.toLowerCase())
    .optional(),
  /** Those who sign certificates of clients, PEM. */
  MTLS_CA_FILE: fileName.optional(),
};

type CertificateFormat = (typeof CERTIFICATE_FORMATS)[number];
type Read = Readonly<z.infer<z.ZodObject<typeof mtls>>>;

/** What is wrong with them together, in complete sentences. */
export function mtlsProblems(
  { MTLS_PROXY_FORMAT, MTLS_PROXY_HEADER, MTLS_CA_FILE }: Read,
  trusted: readonly string[],
): string[] {
  if (MTLS_PROXY_FORMAT !== undefined && trusted.length === 0) {
    return ['MTLS_PROXY_FORMAT is set, and TRUST_PROXY is not: certificates are believed of trusted proxies alone'];
  }
  if (MTLS_PROXY_FORMAT === undefined && MTLS_PROXY_HEADER !== undefined) {
    return ['MTLS_PROXY_HEADER is set, and MTLS_PROXY_FORMAT is not: it says what is in the header'];
  }
  if (MTLS_PROXY_FORMAT === undefined && MTLS_CA_FILE !== undefined) {
    return ['MTLS_CA_FILE is set, and MTLS_PROXY_FORMAT is not: no certificates of clients come in'];
  }
  return MTLS_CA_FILE === undefined ? [] : fileProblems(MTLS_CA_FILE);
}

function fileProblems(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').includes('-----BEGIN CERTIFICATE-----')
      ? []
      : ['MTLS_CA_FILE names a file without a certificate in PEM'];
  } catch (error) {
    return [`MTLS_CA_FILE names no file that can be read (${(error as NodeJS.ErrnoException).code})`];
  }
}
