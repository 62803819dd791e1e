/**
 * How proxies that end TLS hand a client's certificate on: each writes it into a header in a form of its own. Whether whoever
 * sends such a header is a proxy at all is decided before.
 */

/** One form. */
interface Form {
  /** The header that the proxy uses unless it is told otherwise, or that its documentation uses. */
  header: string;
  /** The client's certificate, and any of its chain, in DER; undefined where the value is in another form. */
  read(value: string): Buffer[] | undefined;
}

/** The forms by the names of those who write them. */
export const CERTIFICATE_HEADERS = {
  /** `$ssl_client_escaped_cert`: PEM, percent-encoded. */
  nginx: { header: 'x-ssl-client-cert', read: escapedPem },
  /** `%[ssl_c_der,base64]`. */
  haproxy: { header: 'x-ssl-client-cert', read: (value) => base64(value) },
  /** X-Forwarded-Client-Cert with `cert: true`, and `chain: true` perhaps. */
  envoy: { header: 'x-forwarded-client-cert', read: forwardedClientCert },
  /** PEM, percent-encoded but for `+`, `=` and `/`. In passthrough mode the chain comes in x-amzn-mtls-clientcert. */
  aws_alb: { header: 'x-amzn-mtls-clientcert-leaf', read: escapedPem },
  /** PassTLSClientCert with `pem: true`: PEM without its first and last line and line ends, several with commas. */
  traefik: { header: 'x-forwarded-tls-client-cert', read: bareList },
  /** Client-Cert: a byte sequence (RFC 9440 §2.1, RFC 8941 §3.3.5). */
  rfc9440: { header: 'client-cert', read: (value) => base64(/^:([^:]*):$/.exec(value)?.[1] ?? '') },
} as const satisfies Record<string, Form>;

export type CertificateHeader = keyof typeof CERTIFICATE_HEADERS;
export const CERTIFICATE_FORMATS = Object.keys(CERTIFICATE_HEADERS) as readonly CertificateHeader[];

function base64(text: string): Buffer[] | undefined {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? [Buffer.from(text, 'base64')] : undefined;
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*/y;

function escapedPem(value: string): Buffer[] | undefined {
  const text = unescaped(value);
  const found: Buffer[] = [];
  BLOCK.lastIndex = 0;
  for (let end = 0; end < text.length; end = BLOCK.lastIndex) {
    const body = BLOCK.exec(text)?.[1];
    const [der] = (body !== undefined && base64(body.replaceAll(/\s/g, ''))) || [];
    if (der === undefined) return undefined;
    found.push(der);
  }
  return found.length > 0 ? found : undefined;
}

function bareList(value: string): Buffer[] | undefined {
  const all = unescaped(value)
    .split(',')
    .map((part) => base64(part.trim()));
  return all.includes(undefined) ? undefined : all.flatMap((one) => one ?? []);
}

const PAIR = /([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^",;]*)(;|,|$)/y;

/**
 * Envoy adds an element for each proxy on the way, and a client may have begun the list: where there are several nobody knows
 * whose certificate is whose, so there has to be one (`SANITIZE_SET`).
 */
function forwardedClientCert(value: string): Buffer[] | undefined {
  const said = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (let end = 0; end < value.length; end = PAIR.lastIndex) {
    const [, name = '', text = '', after] = PAIR.exec(value) ?? [];
    const key = name.toLowerCase();
    // URI and DNS may come several times: nobody asks for them.
    const again = said.has(key) && (key === 'cert' || key === 'chain');
    if (name === '' || after === ',' || again) return undefined;
    said.set(key, text.replace(/^"(.*)"$/s, '$1'));
  }
  const leaf = escapedPem(said.get('cert') ?? '');
  const chain = said.has('chain') ? escapedPem(said.get('chain') ?? '') : leaf;
  return leaf?.length === 1 && chain ? [...leaf, ...chain.slice(1)] : undefined;
}
