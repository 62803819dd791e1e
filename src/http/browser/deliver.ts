/** Sends what the flow decided: the answer to the client, or the person to the page of the next step. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Delivery } from '../../authorize/response-modes.ts';
import type { Outcome } from '../../authorize/answer.ts';
import type { OAuthError } from '../../protocol/error.ts';
import { formPostPage } from '../../views/form-post.ts';
import { sendPage } from '../page.ts';
import { noted } from '../refusal.ts';
import { PageError, words } from './error-page.ts';
import { onwardLink, placeOf } from './client-view.ts';
import { interactionPath, urlOf, type Context } from './context.ts';

/** RFC 9700 §4.12: 302 after a GET, 303 after a POST, so that no browser repeats a form at the client. */
export function deliver(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Outcome,
): FastifyReply {
  const status = request.method === 'POST' ? 303 : 302;
  if ('interaction' in outcome) {
    return reply.redirect(urlOf(context, interactionPath(outcome.interaction, outcome.step)), status);
  }
  const { answer, refusal, needs_confirmation } = outcome;
  if (refusal && needs_confirmation === true) throw unapprovedPage(refusal, answer);
  if (refusal) noted(context.deps, request, refusal, answer.kind === 'redirect' ? status : 200);
  if (answer.kind === 'redirect') return reply.code(status).header('location', answer.location).send();
  const { action, fields } = answer;
  return sendPage(context, reply, (frame) => formPostPage({ frame, action, fields }));
}

/** RFC 9700 §4.11.2: nobody is sent, unasked, to an application that they never let have anything. */
function unapprovedPage(refusal: OAuthError, answer: Delivery): PageError {
  const url = answer.kind === 'redirect' ? answer.location : answer.action;
  const place = placeOf(url);
  const link = onwardLink(url, answer.kind === 'form_post' ? answer.fields : undefined);
  return new PageError(
    refusal,
    words((t, advice) => ({ heading: t.heading, advice: advice.unapproved({ place }) })),
    link,
  );
}
