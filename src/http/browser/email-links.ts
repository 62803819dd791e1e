/** Behind the links of a change of address: confirming the new one, and taking the change back. Looking changes nothing. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Requester } from '../../events/index.ts';
import { isMailOn } from '../../mail/outbox.ts';
import { accountPages, pages } from '../../protocol/endpoint.ts';
import { invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import {
  confirmAddress,
  openConfirmation,
  openUndo,
  undoAddress,
  type OpenedAddress,
} from '../../users/email-change.ts';
import { emailDonePage, emailLinkPage } from '../../views/email.ts';
import { linkOverPage } from '../../views/recovery.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { sessionsOf } from './signed-in.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';

/** A link of one kind: what it opens, what it does, and where it leads. */
interface EmailLink {
  kind: 'confirm' | 'undo';
  path: string;
  open(deps: Context['deps'], token: string, now: Date): Promise<OpenedAddress | undefined>;
  use(deps: Context['deps'], token: string, by: Requester, now: Date): Promise<'done' | 'over'>;
  /** Where it leads whoever is not signed in. */
  next: 'login' | 'forgot_password';
}

const links: readonly EmailLink[] = [
  { kind: 'confirm', path: pages.email_confirm, open: openConfirmation, use: confirmAddress, next: 'login' },
  { kind: 'undo', path: pages.email_undo, open: openUndo, use: undoAddress, next: 'forgot_password' },
];

export function emailLinks(app: FastifyInstance, context: Context): void {
  if (isMailOn(context.deps.config)) for (const link of links) emailLink(app, context, link);
}

function emailLink(app: FastifyInstance, context: Context, { kind, path, open, use, next }: EmailLink): void {
  const { deps } = context;
  const binding = (token: string, browser: string): Binding => [`email-${kind} ${token}`, browser, ''];
  const over = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const detail = { check: 'mail_link', expected: 'a link that is good', received: 'another' } as const;
    noted(deps, request, invalidRequest('the link is not good any more', detail), 400);
    const again_url = urlOf(context, accountPages.email);
    return sendPage(context, reply, (frame) => linkOverPage({ frame, again_url }), { status: 400 });
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
      const opened = await open(deps, token, deps.clock());
      if (!opened) return over(request, reply);
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
      requireForm(request);
      const form = formOf(request);
      requireSameOrigin(deps, request);
      const { token } = request.params as { token: string };
      requireFormToken(deps, textOf(form, 'form_token'), binding(token, browserOf(context, request, reply)));
      const outcome = await use(deps, token, requesterOf(request), deps.clock());
      return outcome === 'over' ? over(request, reply) : reply.redirect(urlOf(context, `${path}/done`), 303);
    },
  });
}
