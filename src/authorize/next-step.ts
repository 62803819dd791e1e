/**
 * What a person must do next: the one place that decides it, from the interaction, the session and the remembered
 * consent alone. Pages never route to each other; each records its proof and comes back here.
 */
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import { isPublic } from '../protocol/client-metadata.ts';
import type { ErrorCode } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { isSubset } from '../protocol/scope.ts';
import type { Client } from '../store/clients.ts';
import type { Interaction } from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';

/** What is known when the question is asked. `progress` is what the interaction has recorded so far. */
export interface Situation {
  request: AuthorizationRequest;
  progress: Pick<Interaction, 'created_at' | 'sign_in_after' | 'selected_sub' | 'consented_sid'>;
  client: Client;
  session: LiveSession | undefined;
  /** The scope this person agreed to before, for this client and these resources. */
  remembered: readonly string[];
  now: Date;
}

/** A reason to ask, and what is said instead when nobody may be asked (prompt=none). */
interface PromptRow {
  needed(situation: Situation): boolean;
  unattended: ErrorCode;
}

/** In the order in which a person meets them. */
export const prompts = {
  login: {
    unattended: 'login_required',
    needed({ request, progress, session, now }) {
      if (!session) return true;
      if (request.hinted_sub !== undefined && session.sub !== request.hinted_sub) return true;
      // Signed in while this request was waiting: as fresh as any request can ask for.
      const since = progress.sign_in_after ?? progress.created_at;
      if (session.auth_time >= since) return false;
      if (progress.sign_in_after !== null) return true;
      return request.max_age !== undefined && secondsAfter(session.auth_time, request.max_age) <= now;
    },
  },
  select_account: {
    unattended: 'account_selection_required',
    needed: ({ request, progress, session }) =>
      request.prompt.includes('select_account') &&
      session !== undefined &&
      progress.selected_sub !== session.sub &&
      session.auth_time < progress.created_at,
  },
  consent: {
    unattended: 'consent_required',
    needed({ request, progress, client, session, remembered }) {
      if (progress.consented_sid !== null && progress.consented_sid === session?.sid) return false;
      if (request.prompt.includes('consent')) return true;
      // RFC 8628 §5.4: whoever sent the code may not be the one who decides about it.
      if (request.user_code !== undefined) return true;
      // RFC 8252 §8.6: any program on the device can claim to be this client.
      if (client.application_type === 'native' && isPublic(client)) return true;
      return !client.skip_consent && !isSubset(request.scope, remembered);
    },
  },
} as const satisfies Record<string, PromptRow>;

export type Step = keyof typeof prompts | 'done';

/** The first thing that is needed, or `done`. */
export function nextStep(situation: Situation): Step {
  for (const [name, prompt] of Object.entries(prompts))
    if (prompt.needed(situation)) return name as keyof typeof prompts;
  return 'done';
}
