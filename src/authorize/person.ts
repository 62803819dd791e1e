/** Chooses which of the people signed in in a browser a request is about. Pure: it asks nobody and answers nothing. */
import type { InteractionRequest } from '../protocol/authorization-request.ts';
import { foldName } from '../protocol/names.ts';
import type { Interaction } from '../store/interactions.ts';
import type { LiveSession } from '../store/sessions.ts';

/** Is this a person the client asks for? By an id_token_hint, or by `sub` in the claims parameter (§3.1.2.2). */
export const isAskedFor = ({ hinted_sub, requested_sub }: InteractionRequest, sub: string): boolean =>
  (hinted_sub === undefined || hinted_sub === sub) && (requested_sub === undefined || requested_sub.includes(sub));

/** Everybody who may go on with the request, in the browser's order. */
export const candidatesFor = (request: InteractionRequest, sessions: readonly LiveSession[]): LiveSession[] =>
  sessions.filter(({ sub }) => isAskedFor(request, sub));

/**
 * The one of the candidates to go on as: who was chosen, or signed in, on this request; else whom login_hint names; else
 * the browser's current person. When the chosen one's session ended meanwhile, nobody steps in unasked. Where nobody
 * may be asked login_hint chooses nobody: the answer would tell a client who is signed in here.
 */
export function personFor(
  { login_hint, prompt }: InteractionRequest,
  { selected_sub }: Pick<Interaction, 'selected_sub'>,
  candidates: readonly LiveSession[],
  sessions: readonly LiveSession[],
): LiveSession | undefined {
  // Chosen among all sessions, not the candidates alone: a wrong person has to be refused, not replaced (Core §3.1.2.2).
  const chosen = sessions.find(({ sub }) => sub === selected_sub);
  if (chosen || (selected_sub !== null && !prompt.includes('select_account'))) return chosen;
  const named = login_hint === undefined || prompt.includes('none') ? undefined : foldName(login_hint);
  return candidates.find((session) => named !== undefined && isNamed(session, named)) ?? candidates[0];
}

const isNamed = ({ username, email }: LiveSession, folded: string): boolean =>
  foldName(username) === folded || (email !== null && foldName(email) === folded);
