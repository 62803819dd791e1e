/** Addresses grouped as one neighbour sees them: throttles count prefixes, since a single address is cheap to change. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { sha256 } from '../protocol/handle.ts';

/** Where a request comes from. */
export interface Peer {
  /** The address: the socket's, or what a trusted proxy says it is, without a port. */
  ip: string;
  /** Its neighbourhood: what throttles count. */
  network: string;
  /** What volume limits count. */
  source: string;
}

const peers = new LRUCache<string, Peer>({ max: 1000 });

/**
 * Where a request comes from. A trusted proxy that tells no address ("unknown", an obfuscated name) is the address itself, and
 * what it tells is a lane of its own there: no stranger shares one with everybody whose address cannot be read.
 */
export function peerOf({ ip, ips = [ip] }: Pick<FastifyRequest, 'ip' | 'ips'>): Peer {
  const hop = ips.at(-1) ?? '';
  const known = peers.get(hop);
  if (known) return known;
  const address = addressIn(hop);
  if (address === undefined) return peerBehind(ips, hop);
  const peer = { ip: address, network: addressPrefix(address), source: address };
  peers.set(hop, peer);
  return peer;
}

function peerBehind(ips: readonly string[], hop: string): Peer {
  const ip = ips.flatMap((each) => addressIn(each) ?? []).at(-1) ?? 'unknown';
  // Without its port, which changes with every connection.
  const name = sha256(hop.replace(/:\w{1,5}$/, ''))
    .toString('base64url')
    .slice(0, 12);
  return { ip, network: `${addressPrefix(ip)} ${name}`, source: `${ip} ${name}` };
}

/** The address in `203.0.113.9:4711` or `[2001:db8::1]:443` too, as some proxies write them. Undefined when there is none. */
function addressIn(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return isIP(bare) !== 0 ? bare : undefined;
}

/** The /24 of an IPv4 address, the /56 of an IPv6 one; IPv4 inside IPv6 counts as IPv4. */
export function addressPrefix(ip: string): string {
  if (isIP(ip) === 0) return 'unknown';
  const address = ipaddr.process(ip);
  const bits = address.kind() === 'ipv4' ? 24 : 56;
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}

/** Does an address lie in one of these (single addresses or CIDR ranges)? A port beside it is no matter. */
export function withinRanges(ranges: readonly string[]): (address: string | undefined) => boolean {
  const networks = ranges.map((range) => {
    if (range.includes('/')) return ipaddr.parseCIDR(range);
    const address = ipaddr.process(range);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as const;
  });
  return (text = '') => {
    const bare = addressIn(text);
    if (bare === undefined) return false;
    const address = ipaddr.process(bare);
    return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
  };
}
