/** The page of an error that cannot go to a client: what happened, what the person can do, and what a developer needs. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { explained } from '../../events/refusals.ts';
import type { OAuthError } from '../../protocol/error.ts';
import { errorPage, type ErrorPageProps } from '../../views/error.ts';
import { sendPage } from '../page.ts';
import { refused } from '../refusal.ts';
import { isAtIssuer, type Context } from './context.ts';
import { ForgedForm } from './forgery.ts';

type Link = NonNullable<ErrorPageProps['link']>;

/** A refusal with a way on: the application that asked. */
export class PageError extends Error {
  readonly refusal: OAuthError;
  readonly heading: string;
  readonly advice: string;
  readonly link: Link | undefined;
  constructor(refusal: OAuthError, heading: string, advice: string, link?: Link) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
    this.heading = heading;
    this.advice = advice;
    this.link = link;
  }
}

/** Renders whatever was thrown in the browser's scope. Nothing redirects from here. */
export function sendErrorPage(
  context: Context,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const page = error instanceof PageError ? error : undefined;
  const { status, refusal } = refused(page?.refusal ?? error, request, context.deps);
  if (refusal.retry_after !== undefined) reply.header('retry-after', refusal.retry_after);
  if (status === 413) reply.header('connection', 'close');
  const props = {
    error: refusal.error,
    error_description: refusal.error_description,
    request_id: request.id,
    heading: page?.heading ?? HEADINGS[refusal.error],
    advice: page?.advice ?? adviceFor(context, refusal, request),
    link: page?.link,
    details: detailsOf(context, refusal),
  };
  return sendPage(context, reply, (frame) => errorPage({ frame, ...props }), { status });
}

const HEADINGS: Partial<Record<OAuthError['error'], string>> = {
  not_found: 'There is no page here',
  server_error: 'Something went wrong',
  temporarily_unavailable: 'Please try again in a moment',
  too_many_requests: 'Too many tries',
};

function adviceFor(context: Context, refusal: OAuthError, request: FastifyRequest): string | undefined {
  if (refusal.error === 'temporarily_unavailable')
    return 'The service is busy or being looked after. Nothing was lost.';
  if (refusal.error === 'too_many_requests') return 'Wait a little, then try again.';
  if (!(refusal instanceof ForgedForm)) return undefined;
  const { host } = new URL(context.deps.config.ISSUER);
  return isAtIssuer(context, request)
    ? 'Go back and open the page again. Cookies have to be allowed for this site.'
    : `You are at ${request.host}, but this service lives at ${host}, and a browser keeps the cookies of the two apart. Start again at ${host}.`;
}

/** In development only: why, as `postern explain` says it. In production that is an operator's business. */
function detailsOf({ deps }: Context, refusal: OAuthError): ErrorPageProps['details'] {
  if (deps.config.mode !== 'dev') return [];
  const { check, clause } = refusal.failed;
  const { expected, received } = explained(refusal);
  const rows = { check, clause, expected, received };
  return Object.entries(rows).filter((row): row is [string, string] => row[1] !== undefined);
}
