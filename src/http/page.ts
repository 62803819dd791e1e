/** How a page is sent: with the policy that lets nothing else run in it. */
import type { FastifyReply } from 'fastify';
import type { Deps } from '../deps.ts';
import type { Html } from '../views/html.ts';
import type { Frame } from '../views/layout.ts';

/** What a page's answer differs in. */
export interface PageOptions {
  status?: number;
  /** `self` keeps forms on our origin; pages on the way to a client must not have it: browsers apply it to redirects. */
  formAction?: 'self';
  /** Origins whose pages this one frames. */
  frames?: readonly string[];
}

// RFC 9700 §4.16: nothing but our own nonce runs or styles, nobody frames, nothing is fetched from elsewhere.
const POLICY = "connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; object-src 'none'";

/** Sends a page with the policy its nonce opens. */
export function sendPage(
  { deps }: { deps: Pick<Deps, 'config' | 'random'> },
  reply: FastifyReply,
  render: (frame: Frame) => Html,
  { status = 200, formAction, frames = [] }: PageOptions = {},
): FastifyReply {
  const nonce = deps.random(16).toString('base64url');
  const scripts = `script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'`;
  const forms = formAction === 'self' ? "; form-action 'self'" : '';
  const framed = frames.length > 0 ? `; frame-src ${[...new Set(frames)].join(' ')}` : '';
  const frame = { nonce, issuer: deps.config.ISSUER, dev: deps.config.mode === 'dev' };
  return reply
    .code(status)
    .header('content-security-policy', `default-src 'none'; ${scripts}; ${POLICY}${forms}${framed}`)
    .header('content-type', 'text/html; charset=utf-8')
    .send(String(render(frame)));
}
