/**
 * What a person must do next: the one place that decides it, from the interaction, the session and the remembered
 * consent alone. Pages never route to each other; each records its proof and comes back here.
 */
import { metContext, type Contexts } from '../protocol/acr.ts';
import type { InteractionRequest } from '../protocol/authorization-request.ts';
import { isPublic } from '../protocol/client.ts';
import { OAuthError, type ErrorCode } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { isSubset } from '../protocol/scope.ts';
import { listOf } from '../protocol/redaction.ts';
import type { Client } from '../store/clients.ts';
import type { Agreed } from '../store/consents.ts';
import type { Interaction } from '../store/interactions.ts';
import type { Config } from '../config.ts';
import type { LiveSession } from '../store/sessions.ts';
import { owesPassword } from '../users/drawn-password.ts';
import { ANYBODY, secondsOf, waysToSignIn, withSecond } from '../users/factors/index.ts';
import { areAsked, owedBy, type Owed } from '../users/factors/policy.ts';
import { isFresh } from '../sessions/index.ts';
import { isAskedFor } from './person.ts';

/** What an interaction has recorded of its person so far. */
export type Progress = Pick<
  Interaction,
  | 'created_at'
  | 'sign_in_after'
  | 'selected_sub'
  | 'consented_sid'
  | 'second_factor_later_sid'
  | 'upstream_hash'
  | 'passkey_offer_sub'
>;

/** The progress of a request that has just come. */
export const noProgress = ({ prompt }: Pick<InteractionRequest, 'prompt'>, now: Date): Progress => ({
  created_at: now,
  sign_in_after: prompt.includes('login') || prompt.includes('create') ? now : null,
  selected_sub: null,
  consented_sid: null,
  second_factor_later_sid: null,
  upstream_hash: null,
  passkey_offer_sub: null,
});

/** Everything that decides the next step of a request. */
export interface Situation<Request extends InteractionRequest = InteractionRequest> {
  request: Request;
  progress: Progress;
  client: Client;
  /** Everybody signed in in this browser who may go on with the request, and the one of them it is about now. */
  candidates: readonly LiveSession[];
  session: LiveSession | undefined;
  /** The claims asked for by name beyond those that the scope opens. */
  claims: readonly string[];
  /** What this person agreed to before, for this client and these resources. Of claims, also those its scope opens. */
  remembered: Agreed;
  /** The authentication contexts there are. */
  contexts: Contexts;
  /** What this server asks of everybody. */
  policy: Pick<Config, 'SECOND_FACTOR'>;
  now: Date;
}

/** A step: the page on which a person is asked, when it is needed, and the error where nobody may be asked (prompt=none). */
interface StepRow {
  /** The path of the page, below that of the interaction. */
  page: string;
  needed(situation: Situation): boolean;
  unattended: ErrorCode;
  /** The error for the client where asking the person would not help. */
  hopeless?(situation: Situation): OAuthError | undefined;
  /** What a person agrees to by the form of the page: nobody agrees to more than they saw, whatever has changed meanwhile. */
  agreedTo?(situation: Pick<Situation, 'request' | 'claims' | 'progress'>): readonly unknown[];
  /** May anybody at this browser send its form? The forms of other steps belong to the person signed in. */
  byAnybody?: boolean;
}

/**
 * In the order in which a person meets them. A new step is a row here, a page in http/browser, what it looks like in views,
 * and a verb in interaction.ts that records what the person did.
 */
export const steps = {
  create: {
    page: '/signup',
    byAnybody: true,
    unattended: 'login_required',
    // Initiating User Registration §4.1: until somebody made an account, or signed in after all, on this request.
    needed: ({ request, progress, session }) =>
      request.prompt.includes('create') &&
      !(session && session.auth_time >= (progress.sign_in_after ?? progress.created_at)),
  },
  login: {
    page: '/login',
    byAnybody: true,
    unattended: 'login_required',
    needed(situation) {
      const { request, progress, session, now } = situation;
      if (!session || !isAskedFor(request, session.sub)) return true;
      if (needsStronger(situation)) return true;
      // Of a sign-in of which nobody says when it was no age can be told.
      if (!session.vouched && asksForFresh(request)) return true;
      // Signed in while this request was waiting: as fresh as any request can ask for.
      const since = progress.sign_in_after ?? progress.created_at;
      if (session.auth_time >= since) return false;
      if (progress.sign_in_after !== null) return true;
      return request.max_age !== undefined && secondsAfter(session.auth_time, request.max_age) <= now;
    },
    hopeless(situation) {
      const { request, session } = situation;
      const isFresh = signedInMeanwhile(situation);
      // OpenID Connect Core §5.5.1.1.
      if (
        request.acr?.essential &&
        !(session && isMet(situation, session.amr)) &&
        (isFresh || !isAttainable(situation))
      ) {
        return unmet(situation, `acr ${listOf(request.acr.values)}`);
      }
      // §3.1.2.2: no answer about anybody else. Who it has to be is the client's secret: no page could say it.
      if (isFresh && request.requested_sub && !isAskedFor(request, session!.sub)) {
        const { client_id } = situation.client;
        const detail = { check: 'person', received: 'another person', client_id, sub: session?.sub } as const;
        return new OAuthError('login_required', 'somebody else signed in than sub names', detail);
      }
      return undefined;
    },
  },
  select_account: {
    page: '/select-account',
    unattended: 'account_selection_required',
    // A sign-in on this request is choice enough, and was recorded as one.
    needed: ({ request, progress, session }) =>
      request.prompt.includes('select_account') && session !== undefined && progress.selected_sub !== session.sub,
  },
  second_factor: {
    page: '/second-factor',
    // OpenID Connect Core §3.1.2.6: whoever showed one factor of two is not signed in yet.
    unattended: 'login_required',
    needed(situation) {
      const { request, progress, session } = situation;
      if (!session) return false;
      if (owed(situation) !== 'nothing') return true;
      if (isMet(situation, session.amr) || !isBroughtBySecond(situation)) return false;
      if (request.acr?.essential) return true;
      // A wish: whoever has no second factor may go on without.
      return !request.prompt.includes('none') && progress.second_factor_later_sid !== session.sid;
    },
    hopeless: (situation) =>
      owed(situation) !== 'nothing' && !areAsked(situation.policy) ? unmet(situation, 'a second factor') : undefined,
  },
  own_password: {
    page: '/new-password',
    unattended: 'interaction_required',
    // A password that was drawn for somebody is for this sign-in: they choose their own before anything is opened by it.
    needed: ({ session }) => session !== undefined && owesPassword(session),
  },
  keep_account: {
    page: '/keep-account',
    unattended: 'interaction_required',
    // An account that is to be erased is given to no application, unless its person keeps it.
    needed: ({ session }) => session !== undefined && session.erase_after !== null,
  },
  connect: {
    page: '/connect',
    unattended: 'login_required',
    // Somebody came back from a provider who is known to nobody here; whoever signed in since then says whether it is them.
    agreedTo: ({ progress }) => ['connect', progress.upstream_hash?.toString('base64url')],
    needed: ({ progress, session }) => progress.upstream_hash !== null && session?.vouched === true,
  },
  passkey_offer: {
    page: '/passkey',
    // Nobody is told: without somebody who signs in there is no offer.
    unattended: 'login_required',
    // While the sign-in is fresh enough to make one; whoever took their time goes on.
    needed: ({ request, progress, session, now }) =>
      session !== undefined &&
      progress.passkey_offer_sub === session.sub &&
      // Nor to whoever made one since, as the second factor of this request.
      !session.second_factors.includes('passkey') &&
      isFresh(session, now) &&
      request.user_code === undefined &&
      !request.prompt.includes('none'),
  },
  consent: {
    page: '/consent',
    agreedTo: ({ request, claims }) => [
      request.scope,
      claims,
      ...(request.authorization_details ? [request.authorization_details] : []),
    ],
    unattended: 'consent_required',
    needed({ request, progress, client, session, claims, remembered }) {
      const agreed = isSubset(request.scope, remembered.scope) && isSubset(claims, remembered.claims);
      // To all that is asked for now: since they were asked, the client may have been given back what it lacked then.
      if (agreed && progress.consented_sid !== null && progress.consented_sid === session?.sid) return false;
      if (request.prompt.includes('consent')) return true;
      // RFC 8628 §5.4: whoever sent the code may not be the one who decides about it.
      if (request.user_code !== undefined) return true;
      // RFC 8252 §8.6: any program on the device can claim to be this client.
      if (client.application_type === 'native' && isPublic(client)) return true;
      // RFC 9396: what exactly is agreed to is agreed to once, and not remembered.
      return !client.skip_consent && (!agreed || request.authorization_details !== undefined);
    },
  },
} as const satisfies Record<string, StepRow>;

/** Does the client ask that the person proves anew, or lately, that it is them? */
export const asksForFresh = ({ max_age, prompt }: InteractionRequest): boolean =>
  max_age !== undefined || prompt.includes('login');

/** Did somebody sign in for this very request? */
export const signedInMeanwhile = ({ progress, session }: Situation): boolean =>
  session !== undefined && session.auth_time > (progress.sign_in_after ?? progress.created_at);

const isMet = ({ request, contexts }: Situation, amr: readonly string[]): boolean =>
  request.acr === undefined || metContext(contexts, request.acr.values, amr) !== undefined;

const isAttainable = (situation: Situation): boolean =>
  waysToSignIn(situation.session ?? ANYBODY, areAsked(situation.policy)).some((amr) => isMet(situation, amr));

/** What the sign-in of the session owes before it counts for anything, or for this client. */
export const owed = ({ policy, session, client }: Situation): Owed =>
  session ? owedBy(policy, session, client) : 'nothing';

/** Would a second factor, with what was shown already, be worthy of an acr that was asked for? */
const isBroughtBySecond = (situation: Situation): boolean => {
  const { session, policy } = situation;
  if (!session || !areAsked(policy)) return false;
  return secondsOf(session).some((second) => isMet(situation, withSecond(session.amr, second)));
};

/** Is the second factor that is asked for no more than a wish of the client's? */
export const isWish = (situation: Situation): boolean =>
  owed(situation) === 'nothing' && situation.request.acr?.essential !== true;

// RFC 9470 §5.
const unmet = ({ session, client }: Situation, expected: string): OAuthError =>
  new OAuthError('unmet_authentication_requirements', 'no acr that was asked for could be met', {
    check: 'person',
    expected,
    received: `amr ${listOf(session?.amr ?? [])}`,
    client_id: client.client_id,
    sub: session?.sub,
  });

/** Could, or must, another sign-in bring an acr that was asked for? Without one to bring, a wish goes unfulfilled. */
function needsStronger(situation: Situation): boolean {
  const { request, session } = situation;
  if (!session || isMet(situation, session.amr) || isBroughtBySecond(situation)) return false;
  if (request.acr?.essential) return true;
  return isAttainable(situation) && !signedInMeanwhile(situation) && !request.prompt.includes('none');
}

/** A step with a page. */
export type PageStep = keyof typeof steps;
export type Step = PageStep | 'done';

/** The row of a step. */
export const rowOf = (step: PageStep): StepRow => steps[step];

/** The error for the client where nobody may be asked (prompt=none), or asking would not help. */
export function refusalAt(step: PageStep, situation: Situation): OAuthError | undefined {
  const row = rowOf(step);
  const hopeless = row.hopeless?.(situation);
  if (hopeless || !situation.request.prompt.includes('none')) return hopeless;
  // Whom `sub` names may be a guess, and another client's ID token one that went round: a client that nobody agreed to does
  // not learn whether this person is here.
  const { requested_sub, borrowed_hint } = situation.request;
  const guessed = step === 'consent' && (requested_sub !== undefined || borrowed_hint === true);
  return new OAuthError(
    guessed ? steps.login.unattended : row.unattended,
    'the request needs a person, and prompt=none allows none',
    {
      check: 'person',
      expected: 'an answer without asking (prompt=none)',
      received: `${step} is needed, and ${situation.session ? 'somebody is' : 'nobody is'} signed in in this browser`,
      client_id: situation.client.client_id,
      sub: situation.session?.sub,
    },
  );
}

/** The first thing that is needed, or `done`. */
export function nextStep(situation: Situation): Step {
  for (const [name, step] of Object.entries(steps)) if (step.needed(situation)) return name as PageStep;
  return 'done';
}
