/** What the consent page says of what is asked for, where it is ours to say. */
import type { Language } from '../languages/index.ts';
import { claimSentences } from './sentences/claims.ts';
import { scopeSentences } from './sentences/scopes.ts';

/** The sentence about a claim (OpenID Connect Core §5.1), or null for one of somebody's own making: its raw name is shown. */
export const claimSentence = (language: Language, name: string): string | null =>
  said(claimSentences(language), name) ?? null;

/** The description of a scope: what an operator wrote; of a standard one that nobody has described anew, ours in the language. */
export function scopeSentence(language: Language, name: string, description: string | null): string | null {
  const isOurs = description !== null && description === said(scopeSentences('en'), name);
  return isOurs ? (said(scopeSentences(language), name) ?? description) : description;
}

const said = (sentences: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(sentences, name) ? sentences[name] : undefined;
