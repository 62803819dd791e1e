/** The prompt parameter (OpenID Connect Core §3.1.2.1). */
import { invalidRequest } from './error.ts';

export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;
export type Prompt = (typeof PROMPTS)[number];

const isPrompt = (text: string): text is Prompt => (PROMPTS as readonly string[]).includes(text);

/** @throws OAuthError invalid_request for an unknown value, or `none` beside another */
export function parsePrompt(text: string | undefined): Prompt[] {
  const prompts: Prompt[] = [];
  for (const value of (text ?? '').split(' ').filter((part) => part !== '')) {
    if (!isPrompt(value)) throw invalidRequest('prompt has a value that is not supported');
    if (!prompts.includes(value)) prompts.push(value);
  }
  if (prompts.includes('none') && prompts.length > 1) throw invalidRequest('prompt=none stands alone');
  return prompts;
}
