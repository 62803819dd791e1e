/** The page of an error that cannot go to a client: what happened, what the person can do, and what a developer needs. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { explained } from '../../events/refusals.ts';
import type { Language } from '../../languages/index.ts';
import type { OAuthError } from '../../protocol/error.ts';
import { errorPage, type ErrorPageProps } from '../../views/error.ts';
import { adviceSentences } from '../../views/sentences/advice.ts';
import { errorSentences } from '../../views/sentences/error.ts';
import { sendPage } from '../page.ts';
import { refused } from '../refusal.ts';
import { isAtIssuer, type Context } from './context.ts';
import { ForgedForm } from './forgery.ts';

type Link = NonNullable<ErrorPageProps['link']>;

/** What happened, and what the person can do, in their language. */
export type Say = (language: Language) => { heading: string; advice: string | undefined };

/** The same out of the sentences about errors. */
export const words =
  (read: (t: ReturnType<typeof errorSentences>, advice: ReturnType<typeof adviceSentences>) => ReturnType<Say>): Say =>
  (language) =>
    read(errorSentences(language), adviceSentences(language));

/** A refusal with a way on: the application that asked. */
export class PageError extends Error {
  readonly refusal: OAuthError;
  readonly say: Say;
  readonly link: Link | undefined;
  constructor(refusal: OAuthError, say: Say, link?: Link) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
    this.say = say;
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
  const say = page?.say ?? sayFor(context, refusal, request);
  const props = {
    error: refusal.error,
    error_description: refusal.error_description,
    request_id: request.id,
    link: page?.link,
    details: detailsOf(context, refusal),
  };
  return sendPage(context, reply, (frame) => errorPage({ frame, ...props, ...say(frame.lang) }), { status });
}

/** What is said of an error by itself. */
function sayFor(context: Context, refusal: OAuthError, request: FastifyRequest): Say {
  const { host } = new URL(context.deps.config.ISSUER);
  if (refusal instanceof ForgedForm) {
    return isAtIssuer(context, request)
      ? words((t, advice) => ({ heading: t.heading, advice: advice.forged }))
      : words((t, advice) => ({ heading: t.heading, advice: advice.other_host({ here: request.host, host }) }));
  }
  const known: Partial<Record<OAuthError['error'], Say>> = {
    not_found: words((t) => ({ heading: t.not_found, advice: undefined })),
    server_error: words((t) => ({ heading: t.server_error, advice: undefined })),
    temporarily_unavailable: words((t, advice) => ({ heading: t.unavailable, advice: advice.unavailable })),
    too_many_requests: words((t, advice) => ({ heading: t.too_many, advice: advice.too_many })),
  };
  return known[refusal.error] ?? words((t) => ({ heading: t.heading, advice: undefined }));
}

/** In development only: why, as `postern explain` says it. In production that is an operator's business. */
function detailsOf({ deps }: Context, refusal: OAuthError): ErrorPageProps['details'] {
  if (deps.config.mode !== 'dev') return [];
  const { check, clause } = refusal.failed;
  const { expected, received } = explained(refusal);
  const rows = { check, clause, expected, received };
  return Object.entries(rows).filter((row): row is [string, string] => row[1] !== undefined);
}
