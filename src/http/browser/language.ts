/** /language: the switch at the foot of every page. It changes one cookie, and comes back to the page it was used on. */
import type { FastifyInstance } from 'fastify';
import { isLanguage } from '../../languages/index.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { readReturn, UI_LOCALES, writeChosen } from '../language.ts';
import { route } from '../request.ts';
import type { Context } from './context.ts';
import { formFromHere } from './forgery.ts';

/** A browser remembers the choice for a year. */
const LANGUAGE_TTL = 31_536_000;

export function language(app: FastifyInstance, { deps, cookies }: Context): void {
  route(app, pages.language, {
    // Not a GET: what opens links ahead of people would change their language.
    POST(request, reply) {
      const form = formFromHere(deps, request);
      const chosen = textOf(form, 'language');
      if (!isLanguage(chosen)) throw invalidRequest('there is no such language here', { check: 'parameter' });
      cookies.set(reply, 'language', writeChosen({ language: chosen, at: deps.clock() }), LANGUAGE_TTL);
      return reply.redirect(wayBack(deps.config.ISSUER, readReturn(textOf(form, 'return_to') ?? '')), 303);
    },
  });
}

/** The page of ours that was looked at; the account page, for whatever is none of ours. */
function wayBack(issuer: string, return_to: string): string {
  const { origin, pathname } = new URL(issuer);
  const base = pathname === '/' ? '' : pathname;
  // Browsers read a backslash as a slash and drop tabs and newlines: `/\evil.test` is another host.
  const isPath = /^\/(?!\/)[\x21-\x7E]*$/.test(return_to) && !return_to.includes('\\');
  const url = isPath ? URL.parse(return_to, origin) : null;
  if (url === null || url.origin !== origin || !`${url.pathname}/`.startsWith(`${base}/`)) {
    return `${issuer}${pages.account}`;
  }
  // The person has spoken, and the link that asked for a language has not.
  url.searchParams.delete(UI_LOCALES);
  return url.href;
}
