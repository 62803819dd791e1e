/** What the pages of the account share: whose they are, how they are sent, and which forms count. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { SignInOver } from '../../../authorize/standing.ts';
import { accountPages, endpoints, type AccountPageName } from '../../../protocol/endpoint.ts';
import type { Parameters } from '../../../protocol/parameters.ts';
import { textOf } from '../../../protocol/parameters.ts';
import type { AccountFrame } from '../../../views/account/frame.ts';
import type { Html } from '../../../views/html.ts';
import { sendPage } from '../../page.ts';
import { noted } from '../../refusal.ts';
import { route } from '../../request.ts';
import { urlOf, type Context } from '../context.ts';
import { formFromHere, formToken, requireFormToken, type Binding } from '../forgery.ts';
import { accountUrl, loginFor, requirePerson, type SignedInPerson } from './person.ts';

/** A visit to a page of the account: who it is, and the form that counts there. */
export interface Visit extends SignedInPerson {
  /** Where the page's form goes, and its hidden token. */
  form: { action: string; form_token: string };
}

/** Why a form is shown again. */
interface FormProblem {
  problem: string;
  /** The input it is about. */
  field: string;
  /** 400 unless said otherwise; a throttle says 429, and when to come back. */
  status?: number;
  retry_after?: number | undefined;
}

/** What a page is shown after. */
interface Before {
  /** The form that was sent, and what was wrong with it. */
  again?: FormProblem & { form: Parameters };
  /** The name of what was done, from `took`; anybody may write it into an address, so it is looked up, never shown. */
  done?: string | undefined;
}

/** What follows once a form was taken: the page again with a problem, or a page of the account; `answered` is an answer already. */
export type Taken = FormProblem | { to: AccountPageName; done?: string } | 'answered';

/** A page of the account. */
export interface AccountDoor {
  options?: RouteShorthandOptions;
  /**
   * `look`: the page is shown to nobody whose sign-in is older than five minutes. `act`: it is shown, and its form does not
   * count from them; a function says of which forms that holds. It leads to the sign-in page and back.
   */
  fresh?: 'look' | 'act' | ((form: Parameters) => boolean);
  /** Its forms lead to other servers: then no policy keeps them here. */
  leaves?: boolean;
  /** The page, as a function of its frame. */
  show(visit: Visit, before: Before, request: FastifyRequest): Promise<(frame: AccountFrame) => Html>;
  /** Takes a form of this page, of this browser and this person. */
  take?(visit: Visit, form: Parameters, request: FastifyRequest, reply: FastifyReply): Promise<Taken>;
}

/** Opens the door of a page of the account. */
export function accountDoor(
  app: FastifyInstance,
  context: Context,
  name: AccountPageName,
  { options = {}, fresh, leaves = false, show, take }: AccountDoor,
): void {
  const { deps } = context;
  const visitOf = (person: SignedInPerson): Visit => ({
    ...person,
    form: { action: accountUrl(context, name), form_token: formToken(deps, bindingOf(person)) },
  });
  const bindingOf = ({ browser, session }: SignedInPerson): Binding => [`account ${name}`, browser, session.sid];

  const send = async (visit: Visit, before: Before, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const render = await show(visit, before, request);
    const { again } = before;
    if (again?.retry_after !== undefined) reply.header('retry-after', again.retry_after);
    sendAccountPage(context, reply, name, render, again ? (again.status ?? 400) : 200, leaves);
  };

  route(app, accountPages[name], {
    options,
    async GET(request, reply) {
      const person = await requirePerson(context, request, reply, { page: name, fresh: fresh === 'look' });
      if (person) await send(visitOf(person), { done: doneOf(request) }, request, reply);
      return reply;
    },
    ...(take && {
      async POST(request: FastifyRequest, reply: FastifyReply) {
        const form = formFromHere(deps, request);
        const person = await requirePerson(context, request, reply, {
          page: name,
          fresh: typeof fresh === 'function' ? fresh(form) : fresh !== undefined,
        });
        if (!person) return reply;
        requireFormToken(deps, textOf(form, 'form_token'), bindingOf(person));
        const visit = visitOf(person);
        const taken = await take(visit, form, request, reply).catch((error: unknown) => {
          if (!(error instanceof SignInOver)) throw error;
          noted(deps, request, error, 303);
          // The page itself leads to a second factor that is missing.
          reply.redirect(error.lack === 'second_factor' ? accountUrl(context, name) : loginFor(context, name), 303);
          return 'answered' as const;
        });
        if (taken === 'answered') return reply;
        if ('problem' in taken) await send(visit, { again: { ...taken, form } }, request, reply);
        else reply.redirect(accountUrl(context, taken.to) + (taken.done ? `?done=${taken.done}` : ''), 303);
        return reply;
      },
    }),
  });
}

/** Sends a page of the account, with its navigation. */
export function sendAccountPage(
  context: Context,
  reply: FastifyReply,
  name: AccountPageName,
  render: (frame: AccountFrame) => Html,
  status = 200,
  leaves = false,
): void {
  const ways = Object.keys(accountPages).map((page) => ({
    name: page as AccountPageName,
    href: accountUrl(context, page as AccountPageName),
    current: page === name,
  }));
  reply.header('cross-origin-opener-policy', 'same-origin');
  const logout_url = urlOf(context, endpoints.end_session_endpoint);
  sendPage(context, reply, (frame) => render({ ...frame, ways, logout_url }), {
    status,
    ...(!leaves && { formAction: 'self' as const }),
  });
}

const doneOf = (request: FastifyRequest): string | undefined =>
  new URLSearchParams((request.query as { text: string }).text).get('done') ?? undefined;
