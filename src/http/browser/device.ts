/** /device (RFC 8628 §3.3): where people bring the code of a device. Deciding about it is an interaction like any other. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { enterUserCode, WRONG_CODE } from '../../authorize/device.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { sizeOf } from '../../protocol/redaction.ts';
import { deviceDonePage, devicePage } from '../../views/device.ts';
import { deviceSentences } from '../../views/sentences/device.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { queryOf, requesterOf, route } from '../request.ts';
import { browserOf, hashOf, interactionPath, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';

const bindingOf = (browser: string): Binding => ['device', browser, ''];

export function device(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  const show = (reply: FastifyReply, browser: string, user_code: string, problem?: 'wrong_code'): FastifyReply =>
    sendPage(
      context,
      reply,
      (frame) =>
        devicePage({
          frame,
          action: urlOf(context, pages.device),
          form_token: formToken(deps, bindingOf(browser)),
          user_code: user_code.slice(0, 32),
          problem: problem && deviceSentences(frame.lang)[problem],
          request_id: problem && reply.request.id,
        }),
      { status: problem === undefined ? 200 : 400 },
    );

  route(app, pages.device, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    // verification_uri_complete fills the code in, and still asks (§3.3.1): a link must not decide for a person.
    GET: (request, reply) =>
      show(reply, browserOf(context, request, reply), textOf(queryOf(request), 'user_code') ?? ''),
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const browser = browserOf(context, request, reply);
      requireFormToken(deps, textOf(form, 'form_token'), bindingOf(browser));
      const typed = textOf(form, 'user_code') ?? '';
      const entered = await enterUserCode(deps, typed, hashOf(browser), requesterOf(request), deps.clock());
      if (entered === WRONG_CODE) {
        const detail = {
          check: 'user_code',
          expected: 'a code that a device waits with',
          received: sizeOf(typed),
        } as const;
        noted(deps, request, invalidRequest('the user code is not known', detail), 400);
        return show(reply, browser, typed, 'wrong_code');
      }
      return reply.redirect(urlOf(context, interactionPath(entered.interaction)), 303);
    },
  });

  route(app, pages.device_done, {
    GET(request, reply) {
      const outcome = textOf(queryOf(request), 'outcome') === 'approved' ? 'approved' : 'denied';
      return sendPage(context, reply, (frame) => deviceDonePage({ frame, outcome }));
    },
  });
}
