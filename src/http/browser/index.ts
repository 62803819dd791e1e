/** The pages for people: HTML errors, cookies, protected forms, and a content security policy that lets nothing else run. */
import accepts from '@fastify/accepts';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PageStep } from '../../authorize/next-step.ts';
import type { Deps } from '../../deps.ts';
import { pages } from '../../protocol/endpoint.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { jsonBodies } from '../json.ts';
import { noteWishes, readChosen } from '../language.ts';
import { noteThemes } from '../page.ts';
import { rateLimits } from '../rate-limit.ts';
import { refused } from '../refusal.ts';
import { BODY_LIMIT, formBodyParser } from '../request.ts';
import { account } from './account/index.ts';
import { authorize } from './authorize.ts';
import { connect } from './connect.ts';
import { consent } from './consent.ts';
import type { Context } from './context.ts';
import { createCookies } from './cookies.ts';
import { devMail } from './dev-mail.ts';
import { devTheme } from './dev-theme.ts';
import { device } from './device.ts';
import { demo, type DemoApplication } from './demo.ts';
import { emailLinks } from './email-links.ts';
import { sendErrorPage } from './error-page.ts';
import { forgotPassword } from './forgot-password.ts';
import { initiate } from './initiate.ts';
import { emailSignIn } from './email-sign-in.ts';
import { invitation } from './invitation.ts';
import { interaction } from './interaction.ts';
import { language } from './language.ts';
import { keepAccount } from './keep-account.ts';
import { login } from './login.ts';
import { logo } from './logo.ts';
import { logout } from './logout.ts';
import { verify } from './verify.ts';
import { ownPassword } from './own-password.ts';
import { passwordStrength } from './password-strength.ts';
import { secondFactor } from './second-factor.ts';
import { signUp } from './sign-up.ts';
import { passkeyOffer } from './passkey-offer.ts';
import { selectAccount } from './select-account.ts';
import { upstream } from './upstream.ts';

/** The page of each step of an interaction. */
const stepPages = {
  create: signUp,
  login,
  select_account: selectAccount,
  second_factor: secondFactor,
  own_password: ownPassword,
  keep_account: keepAccount,
  connect,
  passkey_offer: passkeyOffer,
  consent,
} as const satisfies Record<PageStep, (app: FastifyInstance, context: Context) => void>;

/** Registers every page under the issuer's path. */
export async function browser(
  app: FastifyInstance,
  deps: Deps,
  application: DemoApplication | undefined,
): Promise<void> {
  const context: Context = { deps, cookies: createCookies(deps.config) };
  await app.register(formbody, { bodyLimit: BODY_LIMIT, parser: formBodyParser });
  app.removeContentTypeParser('application/json');
  jsonBodies(app, { refuse: (why) => invalidRequest(why, { check: 'form' }) });
  await app.register(cookie);
  await app.register(accepts);
  await rateLimits(app, deps);
  app.addHook('onRequest', (request, reply, done) => {
    noteWishes(request, { chosen: readChosen(context.cookies.get(request, 'language')) });
    reply.header('cache-control', 'no-store');
    // Not no-referrer: with that, browsers send `Origin: null` with our own forms.
    reply.header('referrer-policy', 'same-origin');
    reply.header('x-frame-options', 'DENY');
    reply.header('permissions-policy', 'publickey-credentials-get=(self), publickey-credentials-create=(self)');
    done();
  });
  app.addHook('onRequest', async (request) => noteThemes(request, await deps.directory.themes()));
  app.setErrorHandler((error, request, reply) => {
    if (isReadByScript(request)) {
      const { status, refusal } = refused(error, request, deps);
      if (refusal.retry_after !== undefined) reply.header('retry-after', refusal.retry_after);
      return reply.code(status).send({ error: refusal.error, error_description: refusal.error_description });
    }
    return sendErrorPage(context, error, request, reply);
  });
  for (const door of [
    authorize,
    interaction,
    device,
    logout,
    account,
    forgotPassword,
    emailLinks,
    initiate,
    logo,
    language,
    verify,
    upstream,
    invitation,
    passwordStrength,
    emailSignIn,
  ])
    door(app, context);
  for (const door of Object.values(stepPages)) door(app, context);
  if (application) demo(app, context, application);
  if (deps.config.mode === 'dev') for (const door of [devMail, devTheme]) door(app, context);
  app.setNotFoundHandler(() => {
    throw new OAuthError('not_found', 'there is nothing at this address', { check: 'address' });
  });
}

/** Scripts come to POST /login, and to addresses where nothing is; they say so by what they accept. */
function isReadByScript(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  const theirs = url === undefined || (url.endsWith(pages.login) && !url.includes(`${pages.interaction}/`));
  return theirs && request.accepts().type(['json', 'html']) !== 'html';
}
