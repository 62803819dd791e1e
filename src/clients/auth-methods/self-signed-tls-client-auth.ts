/** self_signed_tls_client_auth (RFC 8705 §2.2): one of the certificates that the client has published with its keys (`x5c`). */
import { timeProblem } from '../certificates.ts';
import { certificateMethod } from './certificate.ts';

/** A certificate that the client made itself. Nobody vouches for it but the client's own registration. */
export const selfSignedTlsClientAuth = certificateMethod(
  'self_signed_tls_client_auth',
  async (client, { x509 }, { deps, now }) =>
    (await deps.clientKeys.hasCertificate(client, x509.raw))
      ? timeProblem(x509, now)
      : 'the certificate is none of those in the x5c of its keys',
);
