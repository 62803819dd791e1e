/** What every page door needs: who is in front of the browser, and how a page is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { sha256 } from '../../store/handle.ts';
import type { Html } from '../../views/html.ts';
import type { Frame } from '../../views/layout.ts';
import type { Cookies } from './cookies.ts';

export interface Context {
  deps: Deps;
  cookies: Cookies;
}

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

/** The value that binds this browser to its interactions: its cookie, made on the first visit. */
export function browserOf({ deps, cookies }: Context, request: FastifyRequest, reply: FastifyReply): string {
  const present = cookies.get(request, 'browser');
  if (present !== undefined && /^[A-Za-z0-9_-]{43}$/.test(present)) return present;
  const value = deps.random(32).toString('base64url');
  cookies.set(reply, 'browser', value);
  return value;
}

export const hashOf = (browser: string): Buffer => sha256(browser);

/**
 * Is the browser at the issuer's host? At 127.0.0.1 instead of localhost it would keep its cookies where we never see
 * them.
 */
export const isAtIssuer = ({ deps }: Context, request: FastifyRequest): boolean =>
  request.host === new URL(deps.config.ISSUER).host;

/** Every redirect of ours names the issuer's host, never what a Host header said. */
export const urlOf = ({ deps }: Context, path: string): string => `${deps.config.ISSUER}${path}`;
