/** What operators and applications say in several languages themselves, and which of it somebody is told. */
import { DEFAULT_LANGUAGE, lookUp, type Language } from './index.ts';

/** Each by the tag of its language (BCP 47), in whatever case. */
export type Translations = Readonly<Record<string, string>>;

/**
 * What somebody is told who is spoken to in this language: what is said in just that; what is said in one of its kind (`pt-BR` to who reads
 * Portuguese, `zh-CN` to who reads simplified Chinese); what is said without a language; what is said in ours where nobody
 * asks for another; whatever there is.
 */
export const saidIn = (language: Language, translations: Translations, untagged?: string | null): string | undefined =>
  translated(language, translations) ??
  untagged ??
  translated(DEFAULT_LANGUAGE, translations) ??
  Object.values(translations)[0];

/** What is said in this language, or in one of its kind. */
export function translated(language: Language, translations: Translations): string | undefined {
  const said = Object.entries(translations);
  const exact = said.find(([tag]) => tag.toLowerCase() === language.toLowerCase());
  return (exact ?? said.find(([tag]) => lookUp([tag]) === language))?.[1];
}
