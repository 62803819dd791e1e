/** Behind the links of a change of address: confirming the new one, and taking the change back. Looking changes nothing. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { confirmOwnAddress } from '../../authorize/own-account.ts';
import { SignInOver, type Standing } from '../../authorize/standing.ts';
import type { Requester } from '../../events/index.ts';
import { isMailOn } from '../../mail/outbox.ts';
import { accountPages, pages } from '../../protocol/endpoint.ts';
import { accessDenied, invalidRequest, type OAuthError } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { owesPassword } from '../../users/drawn-password.ts';
import { openConfirmation, openUndo, undoAddress, type OpenedAddress } from '../../users/email-change.ts';
import { owedBy } from '../../users/factors/policy.ts';
import { emailDonePage, emailElsewherePage, emailLinkPage } from '../../views/email.ts';
import { linkOverPage } from '../../views/recovery.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf, route } from '../request.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { sessionsOf } from './signed-in.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from './forgery.ts';

type Used = Promise<'done' | 'over'>;

/** A link of one kind: what it opens, what it does, and where it leads. */
type EmailLink = {
  path: string;
  open(deps: Context['deps'], token: string, now: Date): Promise<OpenedAddress | undefined>;
  /** Where it leads whoever is not signed in. */
  next: 'login' | 'forgot_password';
} & (
  | {
      /** Only by the person who asked: else whoever reads the mail would give their address to an account of somebody else. */
      kind: 'confirm';
      use(deps: Context['deps'], standing: Standing, token: string, by: Requester, now: Date): Used;
    }
  | {
      /** By whoever reads the mail of the old address: the account may be in the hands of somebody else. */
      kind: 'undo';
      use(deps: Context['deps'], token: string, by: Requester, now: Date): Used;
    }
);

const links: readonly EmailLink[] = [
  { kind: 'confirm', path: pages.email_confirm, open: openConfirmation, use: confirmOwnAddress, next: 'login' },
  { kind: 'undo', path: pages.email_undo, open: openUndo, use: undoAddress, next: 'forgot_password' },
];

export function emailLinks(app: FastifyInstance, context: Context): void {
  if (isMailOn(context.deps.config)) for (const link of links) emailLink(app, context, link);
}

function emailLink(app: FastifyInstance, context: Context, link: EmailLink): void {
  const { kind, path, open, next } = link;
  const { deps } = context;
  const binding = (token: string, browser: string): Binding => [`email-${kind} ${token}`, browser, ''];
  const over = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const detail = { check: 'mail_link', expected: 'a link that is good', received: 'another' } as const;
    noted(deps, request, invalidRequest('the link is not good any more', detail), 400);
    const again_url = urlOf(context, accountPages.email);
    return sendPage(context, reply, (frame) => linkOverPage({ frame, again_url }), { status: 400 });
  };
  /** The sign-in of this person in this browser, where nothing is owed in it. */
  const standingOf = async (request: FastifyRequest, { user }: OpenedAddress, now: Date) =>
    (await sessionsOf(context, request, now)).find(
      (session) =>
        session.sub === user.sub &&
        session.erase_after === null &&
        !owesPassword(session) &&
        owedBy(deps.config, session) === 'nothing',
    );
  const elsewhere = (reply: FastifyReply, { user: { username } }: OpenedAddress, status = 200): FastifyReply => {
    const login_url = urlOf(context, pages.login);
    return sendPage(context, reply, (frame) => emailElsewherePage({ frame, username, login_url }), { status });
  };

  route(app, `${path}/done`, {
    async GET(request, reply) {
      // Whoever took a change back is signed in nowhere any more: somebody else may be, here.
      const [session] = kind === 'confirm' ? await sessionsOf(context, request, deps.clock()) : [];
      const props = session
        ? { next: 'account' as const, next_url: urlOf(context, accountPages.overview) }
        : { next, next_url: urlOf(context, pages[next]) };
      return sendPage(context, reply, (frame) => emailDonePage({ frame, kind, ...props }));
    },
  });
  route(app, `${path}/:token`, {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async GET(request, reply) {
      const { token } = request.params as { token: string };
      const now = deps.clock();
      const opened = await open(deps, token, now);
      if (!opened) return over(request, reply);
      if (kind === 'confirm' && !(await standingOf(request, opened, now))) return elsewhere(reply, opened);
      const { user, address } = opened;
      const props = {
        kind,
        action: urlOf(context, `${path}/${encodeURIComponent(token)}`),
        form_token: formToken(deps, binding(token, browserOf(context, request, reply))),
        username: user.username,
        address,
      };
      return sendPage(context, reply, (frame) => emailLinkPage({ frame, ...props }));
    },
    async POST(request, reply) {
      const form = formFromHere(deps, request);
      const { token } = request.params as { token: string };
      requireFormToken(deps, textOf(form, 'form_token'), binding(token, browserOf(context, request, reply)));
      const now = deps.clock();
      const by = requesterOf(request);
      const done = (outcome: 'done' | 'over'): FastifyReply =>
        outcome === 'over' ? over(request, reply) : reply.redirect(urlOf(context, `${path}/done`), 303);
      if (link.kind === 'undo') return done(await link.use(deps, token, by, now));
      const opened = await open(deps, token, now);
      if (!opened) return over(request, reply);
      const refuse = (error: OAuthError): FastifyReply => {
        noted(deps, request, error, 400);
        return elsewhere(reply, opened, 400);
      };
      const session = await standingOf(request, opened, now);
      if (!session) return refuse(notAsked(opened.user.sub));
      try {
        return done(await link.use(deps, session, token, by, now));
      } catch (error) {
        if (!(error instanceof SignInOver)) throw error;
        return refuse(error);
      }
    },
  });
}

const notAsked = (sub: string): OAuthError =>
  accessDenied('the person who asked is not signed in here', {
    check: 'standing',
    received: 'another, or nobody',
    sub,
  });
