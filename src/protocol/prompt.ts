/** The prompt parameter (OpenID Connect Core §3.1.2.1, and `create` of Initiating User Registration 1.0 §4.1). */
import { invalidRequest } from './error.ts';
import { listOf } from './redaction.ts';

const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const;
export type Prompt = (typeof PROMPTS)[number];

/** Is it a value of the parameter? */
export const isPrompt = (text: string): text is Prompt => (PROMPTS as readonly string[]).includes(text);

/**
 * Reads the parameter. Where nobody can make an account, `create` is a value like any that is not supported (Initiating User
 * Registration §4.2). @throws OAuthError invalid_request for an unknown value, or `none` beside another
 */
export function parsePrompt(text: string | undefined, registration: boolean): Prompt[] {
  const known = PROMPTS.filter((prompt) => registration || prompt !== 'create');
  const prompts: Prompt[] = [];
  for (const value of (text ?? '').split(' ').filter((part) => part !== '')) {
    if (!isPrompt(value) || !known.includes(value)) {
      const detail = { check: 'prompt', expected: listOf(known), received: text } as const;
      throw invalidRequest('prompt has a value that is not supported', detail);
    }
    if (!prompts.includes(value)) prompts.push(value);
  }
  if (prompts.includes('none') && prompts.length > 1) {
    throw invalidRequest('prompt=none stands alone', { check: 'prompt', expected: 'none alone', received: text });
  }
  return prompts;
}
