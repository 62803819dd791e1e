/** /forgot-password and /reset-password/{token}: the way to a new password. Opening the link changes nothing; its button does. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isMailOn } from '../../mail/outbox.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { readHandle } from '../../protocol/handle.ts';
import { typedName } from '../../protocol/names.ts';
import { textOf, type Parameters } from '../../protocol/parameters.ts';
import { askForReset, openReset, resetPassword } from '../../users/recovery.ts';
import {
  forgotPasswordPage,
  forgotSentPage,
  linkOverPage,
  resetDonePage,
  resetPasswordPage,
  type ForgotPasswordPageProps,
  type ResetPasswordPageProps,
} from '../../views/recovery.ts';
import { languageOf } from '../language.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { queryOf, requesterOf, route } from '../request.ts';
import { browserOf, devMailUrl, interactionPath, urlOf, type Context } from './context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';

/** Most characters that are taken for a name. */
const LONGEST_NAME = 320;

export function forgotPassword(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  // Without mail there is no way to a new password but an operator.
  if (!isMailOn(deps.config)) return;
  const options = limited(app, deps.config, 'LOGIN_RATE_LIMIT');
  const binding = (browser: string): Binding => ['forgot-password', browser, ''];

  type Shown = Pick<ForgotPasswordPageProps, 'username' | 'interaction' | 'problem'>;
  const show = (request: FastifyRequest, reply: FastifyReply, props: Shown, status = 200): FastifyReply => {
    const form_token = formToken(deps, binding(browserOf(context, request, reply)));
    const action = urlOf(context, pages.forgot_password);
    const back_url = backTo(context, props.interaction);
    const request_id = props.problem && request.id;
    return sendPage(
      context,
      reply,
      (frame) => forgotPasswordPage({ frame, action, form_token, back_url, request_id, ...props }),
      { status },
    );
  };

  route(app, pages.forgot_password, {
    options,
    GET(request, reply) {
      const query = queryOf(request);
      const interaction = interactionIn(query);
      if (textOf(query, 'sent') === undefined) return show(request, reply, { username: '', interaction });
      const props = {
        back_url: backTo(context, interaction),
        mail_url: devMailUrl(context),
      };
      return sendPage(context, reply, (frame) => forgotSentPage({ frame, ...props }));
    },
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      requireFormToken(deps, textOf(form, 'form_token'), binding(browserOf(context, request, reply)));
      const username = (textOf(form, 'username') ?? '').trim();
      const interaction = interactionIn(form);
      if (username === '' || username.length > LONGEST_NAME) {
        const detail = { check: 'parameter', expected: 'username', received: 'none, or a long one' } as const;
        noted(deps, request, invalidRequest('the username is missing', detail), 400);
        return show(request, reply, { username: '', interaction, problem: 'missing_name' }, 400);
      }
      try {
        const asked = { name: username, interaction, lang: languageOf(request) };
        await askForReset(deps, asked, requesterOf(request), deps.clock());
      } catch (error) {
        if (!(error instanceof OAuthError) || error.error !== 'too_many_requests') throw error;
        noted(deps, request, error, error.status);
        if (error.retry_after !== undefined) reply.header('retry-after', error.retry_after);
        return show(request, reply, { username, interaction, problem: 'too_many' }, error.status);
      }
      const query = new URLSearchParams({ sent: 'yes', ...(interaction !== '' && { interaction }) });
      return reply.redirect(`${urlOf(context, pages.forgot_password)}?${query.toString()}`, 303);
    },
  });

  resetDoors(app, context, options);
}

function resetDoors(app: FastifyInstance, context: Context, options: ReturnType<typeof limited>): void {
  const { deps } = context;
  const binding = (token: string, browser: string): Binding => [`reset-password ${token}`, browser, ''];

  /** The page, where the link is good; another one where it is not. */
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    given: { interaction: string; problem?: ResetPasswordPageProps['problem'] },
  ): Promise<FastifyReply> => {
    const token = tokenOf(request);
    const user = await openReset(deps, token, deps.clock());
    if (!user) return over(request, reply);
    const props = {
      action: urlOf(context, `${pages.reset_password}/${encodeURIComponent(token)}`),
      form_token: formToken(deps, binding(token, browserOf(context, request, reply))),
      username: typedName(user),
      min_length: deps.config.PASSWORD_MIN_LENGTH,
      strength_url: urlOf(context, pages.password_strength),
      link: token,
      request_id: given.problem && request.id,
      ...given,
    };
    const status = given.problem === undefined ? 200 : 400;
    return sendPage(context, reply, (frame) => resetPasswordPage({ frame, ...props }), { status });
  };
  const over = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const detail = { check: 'mail_link', expected: 'a link that is good', received: 'another' } as const;
    noted(deps, request, invalidRequest('the link is not good any more', detail), 400);
    const again_url = urlOf(context, pages.forgot_password);
    return sendPage(context, reply, (frame) => linkOverPage({ frame, again_url }), { status: 400 });
  };

  route(app, `${pages.reset_password}/done`, {
    GET(request, reply) {
      const sign_in_url = backTo(context, interactionIn(queryOf(request)));
      return sendPage(context, reply, (frame) => resetDonePage({ frame, sign_in_url }));
    },
  });
  route(app, `${pages.reset_password}/:token`, {
    options,
    GET: (request, reply) => show(request, reply, { interaction: interactionIn(queryOf(request)) }),
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const token = tokenOf(request);
      requireFormToken(deps, textOf(form, 'form_token'), binding(token, browserOf(context, request, reply)));
      const interaction = interactionIn(form);
      const password = textOf(form, 'new-password') ?? '';
      const outcome = await resetPassword(deps, token, password, requesterOf(request), deps.clock());
      if (outcome === 'over') return over(request, reply);
      if (outcome !== 'done') {
        const refusal = invalidRequest('the password cannot be set', {
          check: 'new_password',
          received: outcome.verdict.refusal,
        });
        noted(deps, request, refusal, 400);
        return show(request, reply, { interaction, problem: outcome.verdict });
      }
      const query = interaction === '' ? '' : `?${new URLSearchParams({ interaction }).toString()}`;
      return reply.redirect(`${urlOf(context, pages.reset_password)}/done${query}`, 303);
    },
  });
}

const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token;

/** The request in progress that somebody came from, where it can be one. */
function interactionIn(parameters: Parameters): string {
  const id = textOf(parameters, 'interaction') ?? '';
  return readHandle(id) ? id : '';
}

/** Where somebody signs in: for the request in progress, or here. */
const backTo = (context: Context, interaction: string): string =>
  urlOf(context, interaction === '' ? pages.login : interactionPath(interaction));

/** Where somebody who forgot their password goes from a sign-in page, if there is a way. */
export const forgotUrl = (context: Context, interaction?: string): string | undefined =>
  isMailOn(context.deps.config)
    ? urlOf(context, pages.forgot_password) +
      (interaction === undefined ? '' : `?${new URLSearchParams({ interaction }).toString()}`)
    : undefined;
