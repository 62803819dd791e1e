/** What the consent page says of what is asked for, where it is ours to say. */
import type { Language } from '../languages/index.ts';
import { saidIn, translated, type Translations } from '../languages/translations.ts';
import { claimSentences } from './sentences/claims.ts';
import { scopeSentences } from './sentences/scopes.ts';

/** The sentence about a claim (OpenID Connect Core §5.1), or null for one of somebody's own making: its raw name is shown. */
export const claimSentence = (language: Language, name: string): string | null =>
  said(claimSentences(language), name) ?? null;

/** What is known of a scope, as it is described to people. */
export interface Described {
  description: string | null;
  descriptions?: Translations;
}

/**
 * The description of a scope: what an operator wrote, in the language if they did; of a standard one that nobody has
 * described anew, ours.
 */
export function scopeSentence(language: Language, name: string, scope: Described | undefined): string | null {
  if (!scope) return null;
  const { description, descriptions = {} } = scope;
  const isOurs = description !== null && description === said(scopeSentences('en'), name);
  const ours = isOurs ? said(scopeSentences(language), name) : undefined;
  return translated(language, descriptions) ?? ours ?? saidIn(language, descriptions, description) ?? null;
}

const said = (sentences: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(sentences, name) ? sentences[name] : undefined;
