/** How a page is sent: with the policy that lets nothing else run in it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Themes } from '../clients/directory.ts';
import type { Deps } from '../deps.ts';
import { DEFAULT_LANGUAGE } from '../languages/index.ts';
import { pages } from '../protocol/endpoint.ts';
import type { Html } from '../views/html.ts';
import type { Frame } from '../views/layout.ts';
import { languageOf, writeReturn } from './language.ts';

/** What a page's answer differs in. */
export interface PageOptions {
  status?: number;
  /** `self` keeps forms on our origin; pages on the way to a client must not have it: browsers apply it to redirects. */
  formAction?: 'self';
  /** Origins whose pages this one frames. */
  frames?: readonly string[];
  /** A page for those who run or build things, which is in English. */
  english?: boolean;
}

// RFC 9700 §4.16: nothing but our own nonce runs or styles, nobody frames, nothing is fetched from elsewhere.
const POLICY = "connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; object-src 'none'";

const themes = new WeakMap<FastifyRequest, Themes>();

/** Notes how the page that answers this request will look. */
export function noteThemes(request: FastifyRequest, found: Themes): void {
  if (found.size > 0) themes.set(request, found);
}

/** Sends a page with the policy its nonce opens. */
export function sendPage(
  { deps }: { deps: Pick<Deps, 'config' | 'random'> },
  reply: FastifyReply,
  render: (frame: Frame) => Html,
  { status = 200, formAction, frames = [], english = false }: PageOptions = {},
): FastifyReply {
  const nonce = deps.random(16).toString('base64url');
  const scripts = `script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'`;
  const forms = formAction === 'self' ? "; form-action 'self'" : '';
  const framed = frames.length > 0 ? `; frame-src ${[...new Set(frames)].join(' ')}` : '';
  const { ISSUER: issuer, mode } = deps.config;
  const lang = english ? DEFAULT_LANGUAGE : languageOf(reply.request);
  const choice = english ? undefined : { action: issuer + pages.language, return_to: writeReturn(reply.request.url) };
  const frame: Frame = { nonce, issuer, lang, dev: mode === 'dev', choice, themes: themes.get(reply.request) };
  // No cache keeps a page (`no-store`); these say to others what the page depends on.
  if (!english) reply.header('vary', 'accept-language, cookie');
  return reply
    .code(status)
    .header('content-security-policy', `default-src 'none'; ${scripts}; ${POLICY}${forms}${framed}`)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-language', lang)
    .send(String(render(frame)));
}
