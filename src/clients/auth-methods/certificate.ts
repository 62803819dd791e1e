/** What both methods with a certificate have in common (RFC 8705 §2): it came with the connection, and the body says whose it is. */
import type { ClientCertificate } from '../../protocol/certificate.ts';
import type { AuthMethod } from '../../protocol/client.ts';
import { textOf } from '../../protocol/parameters.ts';
import type { Client } from '../../store/clients.ts';
import type { Method, Proof, ProofContext } from './method.ts';

type Refute = (client: Client, certificate: ClientCertificate, context: ProofContext) => ReturnType<Proof['refute']>;

/** The method of this name: `refute` says why a certificate is not the client's. */
export const certificateMethod = (name: AuthMethod, refute: Refute): Method => ({
  read({ parameters, certificate }) {
    const client_id = textOf(parameters, 'client_id');
    if (certificate === undefined || client_id === undefined) return undefined;
    return { client_id, refute: (client, context) => refute(client, certificate, context) };
  },
  // Any client may have to show a certificate, since its tokens are bound to it or a proxy asks for one.
  onlyAlone: true,
  guessable: false,
  isUsedBy: ({ token_endpoint_auth_method }) => token_endpoint_auth_method === name,
  unused: `the client does not use ${name}`,
  refusal: { check: 'client_certificate', expected: 'a certificate of the client' },
});
