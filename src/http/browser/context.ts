/** The context of every page: the sessions of the browser, and the addresses of pages. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { steps, type Step } from '../../authorize/next-step.ts';
import type { Deps } from '../../deps.ts';
import { isMailShown } from '../../mail/outbox.ts';
import { pages } from '../../protocol/endpoint.ts';
import { sha256 } from '../../protocol/handle.ts';
import type { Cookies } from './cookies.ts';

export interface Context {
  deps: Deps;
  cookies: Cookies;
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

/** In development, where what was mailed can be read: pages that speak of a mail lead there. */
export const devMailUrl = (context: Context): string | undefined =>
  context.deps.config.mode === 'dev' && isMailShown(context.deps.config) ? urlOf(context, pages.dev_mail) : undefined;

/** The path of an interaction, or of the page of one of its steps. */
export const interactionPath = (id: string, step: Step | 'unbound' = 'done'): string =>
  `${pages.interaction}/${id}${step === 'done' || step === 'unbound' ? '' : steps[step].page}`;
