/**
 * Redirect URIs: which may be registered, and which of them a request names (RFC 6749 §3.1.2, RFC 8252 §7, RFC 9700
 * §2.1).
 */

import { isUriText } from './uri.ts';

export type ApplicationType = 'web' | 'native';

const LOOPBACK_PORT = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?(\/.*|\?.*)?$/;

/**
 * Compares as exact bytes. The one exception is RFC 8252 §7.3: for a native client the port of a loopback IP literal
 * is the operating system's choice and may vary. Returns whether `presented` may be used.
 */
export function isRegisteredRedirectUri(
  presented: string,
  registered: readonly string[],
  application_type: ApplicationType,
): boolean {
  if (registered.includes(presented)) return true;
  if (application_type !== 'native') return false;
  const loopback = withoutLoopbackPort(presented);
  return loopback !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === loopback);
}

/** The registered URI by which `presented` may be used; undefined where it may not. */
export const registeredAs = (
  presented: string,
  registered: readonly string[],
  application_type: ApplicationType,
): string | undefined =>
  registered.includes(presented)
    ? presented
    : registered.find((uri) => isRegisteredRedirectUri(presented, [uri], application_type));

function withoutLoopbackPort(uri: string): string | undefined {
  const match = LOOPBACK_PORT.exec(uri);
  if (!match || Number(match[2] ?? 80) > 65535) return undefined;
  // RFC 3986 §6.2.3: an empty path is `/`, as most programs write it.
  const rest = match[3] ?? '';
  return `${match[1]}${rest.startsWith('/') ? '' : '/'}${rest}`;
}

/** RFC 3986 §3.1. What digits follow is a host with its port, whatever a parser of URLs makes of it. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d)/i;
const HOSTILE_SCHEMES = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'filesystem:']);

/**
 * Why a URI cannot be registered as a redirect URI, or undefined when it can.
 * https anywhere; http only to this machine; a private-use scheme (with a dot, RFC 8252 §7.1) only for native clients.
 */
export function redirectUriProblem(uri: string, application_type: ApplicationType): string | undefined {
  if (!/^[\x21-\x7E]{1,2000}$/.test(uri)) return 'must be printable ASCII of at most 2000 characters';
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*') || !isUriText(uri)) return 'must not hold wildcards or characters that a URI cannot';
  if (!SCHEME.test(uri)) return 'must be an absolute URI: it begins with no scheme, such as https://';
  if (!URL.canParse(uri)) return 'must be an absolute URI';
  const url = new URL(uri);
  if (HOSTILE_SCHEMES.has(url.protocol)) return `must not use the scheme ${url.protocol}`;
  if (url.protocol === 'https:' || url.protocol === 'http:') {
    if (!/^https?:\/\/[^/]/i.test(uri)) return 'must be an absolute URI';
    if (url.username !== '' || url.password !== '') return 'must not hold user information';
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) return 'must use https';
    return undefined;
  }
  if (application_type !== 'native') return 'must use https';
  return url.protocol.includes('.') ? undefined : 'must use a private-use scheme with a dot (RFC 8252 §7.1)';
}

/** localhost, *.localhost and the loopback IP literals. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '127.0.0.1' || hostname === '[::1]';

/** Can a page be at this URI? */
export const isWebUri = (uri: string): boolean => /^https?:\/\//i.test(uri);

/** The web origin a page at this redirect URI would send, or undefined for private-use schemes. */
export function redirectOrigin(uri: string): string | undefined {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}

/**
 * Why a page cannot be framed to tell a client of a sign-out, or undefined when it can (OpenID Connect Front-Channel
 * Logout 1.0 §2): scheme, host and port are those of a redirect URI. The host goes into the policy of a page of ours, so
 * it has to be one that a policy can hold.
 */
export function frontchannelUriProblem(uri: string, redirect_uris: readonly string[]): string | undefined {
  if (!isUriText(uri)) return 'must hold URI characters only';
  if (uri.includes('#')) return 'must not have a fragment';
  const url = URL.parse(uri);
  if (url === null || !/^[a-z0-9._-]+$/.test(url.hostname)) return 'must have a host name';
  if (url.username !== '' || url.password !== '') return 'must not hold user information';
  const origins = redirect_uris.map((redirect_uri) => URL.parse(redirect_uri)?.origin);
  return origins.includes(url.origin) ? undefined : 'must have scheme, host and port of a redirect URI';
}
