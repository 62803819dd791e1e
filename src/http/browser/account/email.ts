/** /account/email: the address of the account, and asking for another. */
import type { FastifyInstance } from 'fastify';
import { isMailOn } from '../../../mail/outbox.ts';
import { invalidRequest, OAuthError } from '../../../protocol/error.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { askForAddress } from '../../../users/email-change.ts';
import { emailPage, type EmailPageProps } from '../../../views/account/email.ts';
import { languageOf } from '../../language.ts';
import { limited } from '../../rate-limit.ts';
import { noted } from '../../refusal.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { accountDoor } from './door.ts';

export function email(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'email', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    fresh: 'act',
    async show({ user, form }, { again, done }) {
      const props = {
        ...form,
        email: user.email,
        email_verified: user.email_verified,
        typed: again ? (textOf(again.form, 'email') ?? '').slice(0, 320) : '',
        problem: again?.problem as EmailPageProps['problem'],
        sent: done === 'sent',
        mail: isMailOn(deps.config),
      };
      return (frame) => emailPage({ frame, ...props });
    },
    async take({ user, now }, form, request) {
      if (!isMailOn(deps.config)) throw new OAuthError('not_found', 'there is no mail here', { check: 'address' });
      const address = (textOf(form, 'email') ?? '').trim();
      try {
        const asked = await askForAddress(
          deps,
          user,
          { address, lang: languageOf(request) },
          requesterOf(request),
          now,
        );
        if (asked === 'asked') return { to: 'email', done: 'sent' };
        noted(
          deps,
          request,
          invalidRequest('the address cannot be asked for', { check: 'parameter', received: asked }),
          400,
        );
        return { problem: asked, field: 'email' };
      } catch (error) {
        if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
        noted(deps, request, error, error.status);
        return { problem: 'too_many', field: 'email', status: error.status, retry_after: error.retry_after };
      }
    },
  });
}
