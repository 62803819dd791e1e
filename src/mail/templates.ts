/** The kinds of mail that there are, and what each is made of. */
import type { NoticeName } from './notices.ts';

/** Why somebody gets it: it is about their account, their address was typed somewhere, or an operator invites them. */
type Why = 'account' | 'asked' | 'invited';

/** How a kind of mail differs from others. */
interface Template {
  why: Why;
  /** What to do if it was not them: nothing, or to look at once. */
  stranger: 'ignore' | 'look' | 'nothing';
}

export const templates = {
  'reset-password': { why: 'account', stranger: 'ignore' },
  'verify-email': { why: 'asked', stranger: 'ignore' },
  'already-registered': { why: 'account', stranger: 'nothing' },
  invitation: { why: 'invited', stranger: 'ignore' },
  'sign-in': { why: 'account', stranger: 'ignore' },
  'confirm-email': { why: 'asked', stranger: 'ignore' },
  'address-in-use': { why: 'account', stranger: 'nothing' },
  'email-changed': { why: 'account', stranger: 'nothing' },
  notice: { why: 'account', stranger: 'look' },
} as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof templates;

export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name);

/** What a mail says beside the sentences of its kind. */
export interface MailProps {
  /** What the server calls itself, by its theme. */
  product?: string | undefined;
  /** The person as they are addressed. */
  person?: string | undefined;
  /** How the account is called. */
  username?: string | undefined;
  /** Where the button leads: a page of ours. */
  url?: string | undefined;
  /** Six digits. */
  code?: string | undefined;
  /** Seconds for which link and code are good. */
  lifetime?: number | undefined;
  /** What a notice is about. */
  notice?: NoticeName | undefined;
  /** What of: the name of a passkey, a new address, a date. */
  name?: string | undefined;
  /** When it happened, as ISO 8601. */
  at?: string | undefined;
}
