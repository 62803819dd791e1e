/** The certificate that a client came with (RFC 8705): a proxy of ours has seen it, and says so in a header. */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import { readCertificate, type ClientCertificate } from '../protocol/certificate.ts';
import { CERTIFICATE_HEADERS } from '../protocol/certificate-header.ts';
import { invalidRequest } from '../protocol/error.ts';
import { kindOf } from '../protocol/redaction.ts';
import { withinRanges } from './network.ts';

type Configured = Pick<Deps['config'], 'MTLS_PROXY_FORMAT' | 'MTLS_PROXY_HEADER' | 'TRUST_PROXY'>;
type Reader = (request: FastifyRequest) => ClientCertificate | undefined;

const readers = new WeakMap<Configured, Reader>();

/**
 * The certificate of whoever sent the request; undefined without one. What stands in the header of anybody but a trusted proxy is
 * anybody's invention, and says nothing.
 * @throws OAuthError invalid_request where a proxy of ours says what cannot be read
 */
export function certificateOf(
  { config }: { config: Configured },
  request: FastifyRequest,
): ClientCertificate | undefined {
  let reader = readers.get(config);
  if (!reader) readers.set(config, (reader = readerOf(config)));
  return reader(request);
}

function readerOf({ MTLS_PROXY_FORMAT: format, MTLS_PROXY_HEADER, TRUST_PROXY }: Configured): Reader {
  if (format === undefined) return () => undefined;
  const { header: usual, read } = CERTIFICATE_HEADERS[format];
  const header = MTLS_PROXY_HEADER ?? usual;
  const isProxy = withinRanges(TRUST_PROXY);
  // A client sends the same one each time.
  const known = new LRUCache<string, ClientCertificate>({ max: 1000 });
  return ({ headers, raw, socket }) => {
    const value = headers[header];
    // Some proxies send it empty where there is no certificate.
    if (value === undefined || value === '' || !isProxy(socket.remoteAddress)) return undefined;
    const text = String(value);
    let certificate = known.get(text);
    if (certificate) return certificate;
    // Two of one name: the proxy added its own to one that it did not take away.
    const times = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === header).length;
    certificate = times > 1 ? undefined : readCertificate(read(text) ?? []);
    if (!certificate) {
      throw invalidRequest('the client certificate cannot be read', {
        check: 'certificate',
        expected: `one ${header} header with a certificate, as ${format} writes it`,
        received: times > 1 ? `${times} headers` : kindOf(text),
      });
    }
    known.set(text, certificate);
    return certificate;
  };
}
