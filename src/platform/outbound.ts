/**
 * Requests to addresses that others choose (a client's keys, its logo, its logout endpoint). Nothing of ours may be
 * reached through them: only public addresses, checked where the connection is made, so that a name that resolves to
 * something else the second time gains nothing. No redirects, no cookies, little time, few bytes, one error for everything.
 */
import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Agent } from 'undici';

/** What is asked. */
export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Most bytes of the answer, decompressed. */
  limit?: number;
  /** Did an operator name this address? Only then does the allow-list count: what strangers register stays outside. */
  trusted?: boolean;
}

export interface OutboundResponse {
  status: number;
  /** The media type alone, in lower case; empty when there is none. */
  media_type: string;
  headers: Headers;
  bytes: Buffer;
  /** The same as UTF-8. */
  text: string;
}

type Headers = { get(name: string): string | null };
export type Outbound = (url: string, request?: OutboundRequest) => Promise<OutboundResponse>;

/** Whatever went wrong: callers learn no more, or the answer would map our network. `cause` is for the log. */
export class OutboundError extends Error {
  constructor(cause: unknown) {
    super('the address could not be fetched', { cause });
    this.name = 'OutboundError';
  }
}

export interface OutboundOptions {
  /** `host:port` that may be reached although private, and over http. */
  allow: readonly string[];
  /** Milliseconds for everything together. */
  timeout?: number;
  /** Resolves names; for tests. */
  resolve?: typeof lookup;
}

const TIMEOUT_MS = 5000;
const LIMIT = 65_536;
const CONNECTIONS_PER_ORIGIN = 4;

/** Makes the one function that fetches. */
export function createOutbound({ allow, timeout = TIMEOUT_MS, resolve = lookup }: OutboundOptions): Outbound {
  const allowed = new Set(allow);
  // Loaded when first needed: a server may never fetch, and starts sooner without.
  const load = async () => {
    const { Agent, fetch } = await import('undici');
    const agentFor = (check: boolean): Agent => new Agent(settingsOf(check));
    return { fetch, guarded: agentFor(true), open: agentFor(false) };
  };
  const settingsOf = (check: boolean): Agent.Options => ({
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 0,
    connect: { timeout, ...(check && { lookup: publicOnly(resolve) }) },
    headersTimeout: timeout,
    bodyTimeout: timeout,
    // No connection is kept longer than its address was checked for.
    keepAliveMaxTimeout: 10_000,
  });
  let loaded: ReturnType<typeof load> | undefined;

  return async (address, { method = 'GET', headers = {}, body, limit = LIMIT, trusted = false } = {}) => {
    try {
      const url = new URL(address);
      const exempt =
        trusted &&
        allowed.has(`${url.hostname}:${url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port}`);
      if (!exempt) requirePublic(url);
      const { fetch, guarded, open } = await (loaded ??= load());
      const response = await fetch(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        ...(body !== undefined && { body }),
        redirect: 'error',
        credentials: 'omit',
        dispatcher: exempt ? open : guarded,
        signal: AbortSignal.timeout(timeout),
      });
      const media_type = (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
      const bytes = await readUpTo(response.body, limit);
      return { status: response.status, media_type, headers: response.headers, bytes, text: bytes.toString('utf8') };
    } catch (error) {
      throw new OutboundError(error);
    }
  };
}

/** https to a name, or to an address that is public: literals never pass the resolver. */
function requirePublic({ protocol, hostname, username, password }: URL): void {
  if (protocol !== 'https:') throw new Error('only https is fetched');
  if (username !== '' || password !== '') throw new Error('user information in an address');
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(literal) && !isPublic(literal)) throw new Error(`${literal} is not a public address`);
}

/**
 * All that IANA has given out of IPv6 as global unicast (RFC 4291 §2.4). `::7f00:1`, an IPv4 address in disguise, is
 * not in it.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Unicast once unmapped: not private, loopback, link-local, reserved, nor a tunnel that leads to one. */
function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
}

/** A resolver for sockets that refuses a name if any of its addresses is not public. */
function publicOnly(resolve: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, []);
      const refused = addresses.find(({ address }) => !isPublic(address));
      if (refused || addresses.length === 0) {
        return callback(new Error(`${hostname} resolves to ${refused?.address ?? 'nothing'}`), []);
      }
      if (options.all === true) return callback(null, addresses);
      const [{ address, family }] = addresses as [LookupAddress];
      return callback(null, address, family);
    });
  };
}

async function readUpTo(body: AsyncIterable<Uint8Array> | null, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new Error(`the answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
