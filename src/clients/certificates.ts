/** Certificates of clients (RFC 8705): whether they can come in here. */
import type { Deps } from '../deps.ts';

/** Can certificates of clients come in at all? Without, nothing that needs one is offered or registered. */
export const seesCertificates = ({ MTLS_PROXY_FORMAT }: Pick<Deps['config'], 'MTLS_PROXY_FORMAT'>): boolean =>
  MTLS_PROXY_FORMAT !== undefined;
