/** Addresses grouped as one neighbour sees them: throttles count prefixes, since a single address is cheap to change. */
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const prefixes = new LRUCache<string, string>({ max: 1000 });

/** The /24 of an IPv4 address, the /56 of an IPv6 one; IPv4 inside IPv6 counts as IPv4. */
export function addressPrefix(ip: string): string {
  let prefix = prefixes.get(ip);
  if (prefix === undefined) prefixes.set(ip, (prefix = prefixOf(ip)));
  return prefix;
}

function prefixOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  const bits = address.kind() === 'ipv4' ? 24 : 56;
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}

/** Does an address lie in one of these (single addresses or CIDR ranges)? */
export function withinRanges(ranges: readonly string[]): (address: string | undefined) => boolean {
  const networks = ranges.map((range) => {
    if (range.includes('/')) return ipaddr.parseCIDR(range);
    const address = ipaddr.process(range);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as const;
  });
  return (text = '') => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
  };
}
