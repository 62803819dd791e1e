/**
 * The languages in which people are spoken to: which there are, which one somebody's wishes lead to, and how each is
 * written. It imports nothing of ours; what is said stands in catalogues beside whoever says it.
 */

/** Every language, as it calls itself. The first is what is spoken where nobody asks for another. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  pl: 'Polski',
  ja: '日本語',
  'zh-Hans': '简体中文',
  ar: 'العربية',
} as const;

/** The tag of one of them (BCP 47). */
export type Language = keyof typeof LANGUAGES;

export const languages = Object.keys(LANGUAGES) as readonly Language[];

/** What is spoken where nobody asks for another. */
export const DEFAULT_LANGUAGE = 'en' satisfies Language;

/** Tags that lead to a language of ours without beginning with its tag: Chinese is written in one script here. */
const ALSO: Readonly<Record<string, Language>> = { zh: 'zh-Hans' };

const byTag: ReadonlyMap<string, Language> = new Map([
  ...languages.map((language) => [language.toLowerCase(), language] as const),
  ...Object.entries(ALSO),
]);

/** Is this the tag of a language of ours, letter by letter? */
export const isLanguage = (tag: unknown): tag is Language => typeof tag === 'string' && Object.hasOwn(LANGUAGES, tag);

/** Longer lists and tags are nobody's wish. */
const MOST_TAGS = 32;
const LONGEST_TAG = 64;

/**
 * The first of these tags that a language of ours answers (RFC 4647 §3.4: each is shortened from its end until one does), so
 * that `pt-BR` finds Portuguese and `zh-CN` simplified Chinese. Undefined where none does.
 */
export function lookUp(tags: readonly string[]): Language | undefined {
  for (const tag of tags.slice(0, MOST_TAGS)) {
    // The standard claim has had underscores in the wild (OpenID Connect Core §5.1).
    let range = tag.slice(0, LONGEST_TAG).toLowerCase().replaceAll('_', '-');
    while (range !== '') {
      const found = byTag.get(range);
      if (found !== undefined) return found;
      // A single letter begins an extension, and goes with what it extends.
      range = range.replace(/(?:^|-[a-z0-9])?(?:^|-)[^-]*$/, '');
    }
  }
  return undefined;
}

/** How a language is written: `rtl` from right to left. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
