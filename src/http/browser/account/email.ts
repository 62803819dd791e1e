/** /account/email: the address of the account, asking for another, and the code that came there. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { askForOwnAddress, confirmOwnAddressByCode } from '../../../authorize/own-account.ts';
import { isMailOn } from '../../../mail/outbox.ts';
import { invalidRequest, OAuthError } from '../../../protocol/error.ts';
import { readHandle } from '../../../protocol/handle.ts';
import { textOf, type Parameters } from '../../../protocol/parameters.ts';
import { emailPage, type EmailPageProps } from '../../../views/account/email.ts';
import { languageOf } from '../../language.ts';
import { limited } from '../../rate-limit.ts';
import { noted } from '../../refusal.ts';
import { queryOf, requesterOf } from '../../request.ts';
import { devMailUrl, hashOf, type Context } from '../context.ts';
import { accountDoor, type Taken, type Visit } from './door.ts';
import { accountUrl } from './person.ts';

/** The page that waits for a code, as an address or a form names it. */
const requestIn = (parameters: Parameters): string | undefined => {
  const request = textOf(parameters, 'request');
  return request !== undefined && readHandle(request) ? request : undefined;
};

export function email(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'email', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    // Mail takes its time: whoever asked and types the code has shown that it is them.
    fresh: (form) => requestIn(form) === undefined,
    async show({ user, form }, { again, done }, request) {
      const props = {
        ...form,
        email: user.email,
        email_verified: user.email_verified,
        typed: again ? (textOf(again.form, 'email') ?? '').slice(0, 320) : '',
        problem: again?.problem as EmailPageProps['problem'],
        request: requestIn(again ? again.form : queryOf(request)),
        done: done === 'sent' || done === 'confirmed' ? (done as EmailPageProps['done']) : undefined,
        mail: isMailOn(deps.config),
        mail_url: devMailUrl(context),
      };
      return (frame) => emailPage({ frame, ...props });
    },
    async take(visit, form, request, reply) {
      if (!isMailOn(deps.config)) throw new OAuthError('not_found', 'there is no mail here', { check: 'address' });
      const waiting = requestIn(form);
      const field = waiting === undefined ? 'email' : 'otp';
      try {
        if (waiting !== undefined) return await takeCode(context, visit, form, waiting, request);
        const address = (textOf(form, 'email') ?? '').trim();
        const browser_hash = hashOf(visit.browser);
        const wanted = { address, lang: languageOf(request), browser_hash };
        const { session, user, now } = visit;
        const asked = await askForOwnAddress(deps, session, user, wanted, requesterOf(request), now);
        if (typeof asked === 'object') {
          reply.redirect(`${accountUrl(context, 'email')}?done=sent&request=${asked.request}`, 303);
          return 'answered';
        }
        const detail = { check: 'parameter', received: asked } as const;
        noted(deps, request, invalidRequest('the address cannot be asked for', detail), 400);
        return { problem: asked, field };
      } catch (error) {
        if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
        noted(deps, request, error, error.status);
        return { problem: 'too_many', field, status: error.status, retry_after: error.retry_after };
      }
    },
  });
}

async function takeCode(
  { deps }: Context,
  { session, browser, now }: Visit,
  form: Parameters,
  waiting: string,
  request: FastifyRequest,
): Promise<Taken> {
  const typed = { request: waiting, browser_hash: hashOf(browser), code: textOf(form, 'otp') ?? '' };
  const outcome = await confirmOwnAddressByCode(deps, session, typed, requesterOf(request), now);
  if (outcome === 'done') return { to: 'email', done: 'confirmed' };
  const detail = { check: 'mail_code', received: outcome } as const;
  noted(deps, request, invalidRequest('the code is not right, or no longer good', detail), 400);
  return { problem: outcome, field: 'otp' };
}
