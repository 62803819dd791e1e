/** Where somebody was, as people say it. */
import type { Language } from '../languages/index.ts';
import { plain } from './client.ts';
import { html, type Html } from './html.ts';
import { sessionsSentences } from './sentences/sessions.ts';

/** What a loopback address lies in (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const HERE = /^(?:127\.|::\/)/;
/** Private and link-local addresses (RFC 1918, RFC 3927, RFC 4193, RFC 4291 §2.5.6). */
const LOCAL = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|f[cd][\da-f]{2}:|fe[89ab][\da-f]:)/i;

/** A network in words where there are some. Nothing for none, and for one that could not be read. */
export function networkIn(lang: Language, network: string | null): Html | string | undefined {
  if (network === null || network.startsWith('unknown')) return undefined;
  const t = sessionsSentences(lang);
  if (HERE.test(network)) return t.this_computer;
  return LOCAL.test(network) ? t.local_network : html`<bdi>${plain(network)}</bdi>`;
}
