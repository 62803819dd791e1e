/** Why a sign-in with a provider came to nothing. */
import { OAuthError } from '../../protocol/error.ts';

/**
 * - `denied`: the person, or the provider for them, said no;
 * - `unavailable`: the provider cannot be reached, or has a problem of its own;
 * - `unusable`: what it answered does not hold.
 */
export type UpstreamRefusalKind = 'denied' | 'unavailable' | 'unusable';

/** A refusal. The message is for operators. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';
  readonly kind: UpstreamRefusalKind;
  constructor(kind: UpstreamRefusalKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Errors of an authorization response that say that nobody signed in there, and not that something is wrong. */
const DENIALS: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
  'user_cancelled_authorize',
  'user_cancelled_login',
]);
const OUTAGES: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** What openid-client threw, or the guard below it, as a refusal; one of ours stays as it is. */
export function refusalOf(error: unknown): Error {
  if (!(error instanceof Error)) return new UpstreamRefusal('unusable', String(error));
  if (error instanceof UpstreamRefusal || error instanceof OAuthError) return error;
  const chain = causesOf(error);
  const refused = chain.find((each) => each instanceof UpstreamRefusal || each instanceof OAuthError);
  if (refused) return refused;
  // An answer of theirs says so by these: to the browser, or at the token endpoint.
  const {
    error: code,
    error_description,
    status,
  } = error as Error & { error?: unknown; error_description?: unknown; status?: unknown };
  const words = [...chain.map(({ message }) => message), code, error_description].filter(
    (word) => typeof word === 'string',
  );
  const messages = [...new Set(words)].join(': ').slice(0, 500);
  if (chain.some(({ name }) => name === 'OutboundError' || name === 'TimeoutError')) {
    return new UpstreamRefusal('unavailable', messages, error);
  }
  if (typeof code === 'string' && DENIALS.has(code)) return new UpstreamRefusal('denied', code, error);
  if (typeof code === 'string' && OUTAGES.has(code)) return new UpstreamRefusal('unavailable', code, error);
  if (typeof status === 'number' && status >= 500) return new UpstreamRefusal('unavailable', messages, error);
  const answered = chain.map(({ cause }) => (cause instanceof Response ? cause.status : 0));
  if (answered.some((each) => each >= 500)) return new UpstreamRefusal('unavailable', messages, error);
  return new UpstreamRefusal('unusable', messages, error);
}

function causesOf(error: Error): Error[] {
  const chain: Error[] = [];
  for (let each: unknown = error; each instanceof Error && chain.length < 8; each = each.cause) chain.push(each);
  return chain;
}
