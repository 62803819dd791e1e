/** Every sample page in every language: nothing is missing, and nothing English is left where another language is spoken. */
import { expect, test } from 'vitest';
import { directionOf, languages, type Language } from '../../src/languages/index.ts';
import { frameIn } from '../support/sample-pages/frame.ts';
import { samplePages } from '../support/sample-pages.ts';

const rendered = new Map(
  languages.map((language) => [
    language,
    Object.entries(samplePages(frameIn(language))).map(([name, page]) => [name, String(page)] as const),
  ]),
);
const pagesIn = (language: Language) => rendered.get(language)!;
/** Pages of those who build and run things. */
const isEnglish = (name: string): boolean => /^(?:demo|admin-docs|dev-)/.test(name);
/** Names that fill a page to its limits say nothing about its sentences. */
const isOfStrangers = (name: string): boolean => /-(?:hostile|long)$/.test(name);

/** What people read or hear: text, and the attributes that hold words; not those that hold what scripts need. */
function textsOf(page: string): string[] {
  const body = page
    .replace(/^.*?<title>/s, '')
    .replaceAll(/<(style|script|code|select|svg)\b.*?<\/\1>/gs, '\0')
    .replaceAll(/\sdata-(?:get|create|known|strength)="[^"]*"/g, '')
    .replaceAll(/<(\w+)[^>]*\blang="en"[^>]*>.*?<\/\1>/gs, '\0');
  const attributes = [...body.matchAll(/\s(?:aria-label|title|alt|placeholder|data-[\w-]+)="([^"]*)"/g)];
  const text = body.replaceAll(/<(?!\/?(?:b|bdi|a|span)\b)[^>]*>/g, '\0').replaceAll(/<[^>]*>/g, '');
  return [...attributes.map(([, value]) => value!), ...text.split('\0')]
    .map((each) => OPERATORS.reduce((rest, said) => rest.replace(said, ''), each).trim())
    .filter(Boolean);
}

const wordsOf = (texts: readonly string[]): Set<string> =>
  new Set(
    texts.flatMap(
      (text) =>
        text.replaceAll(/\S+@\S+|(?<=^|\s)\/[\w/]+|\b[A-Z]{4,}\b\S*/g, '').match(/[A-Za-z][A-Za-z’]{2,}/g) ?? [],
    ),
  );

/** What an operator wrote about a scope of theirs, and people about a passkey, is shown as it is. */
const OPERATORS = [
  'Read your notes',
  'Write, change and delete your notes',
  'Know that you are you',
  'The company’s own sign-in',
  'Ada’s phone',
];

/** Words that are names, standards or codes, and so the same everywhere. */
const NAMES = new Set(
  (
    'Ada ada Lovelace Example Sons Bob Adolph Blaine Notes Calendar GitHub Google example test https notes urn archive RFC OpenID Connect Core Cookie XXXX UTC ' +
    'Firefox Windows Linux curl files other quot amp YubiKey JavaScript PIN'
  ).split(' '),
);

test('every page says which language it is in, and how it is written', () => {
  for (const language of languages) {
    for (const [name, page] of pagesIn(language)) {
      const said = isEnglish(name) ? 'lang="en" dir="ltr"' : `lang="${language}" dir="${directionOf(language)}"`;
      expect(page, name).toContain(`<html ${said}>`);
    }
  }
});

test('no sentence is missing, and none shows a parameter that was not filled in', () => {
  for (const language of languages) {
    for (const [name, page] of pagesIn(language)) {
      if (isEnglish(name)) continue;
      const texts = textsOf(page).join('\n');
      expect(texts, `${name} in ${language}`).not.toMatch(/\{\w+\}|\bundefined\b|\bNaN\b|\[object|=>/);
    }
  }
});

test('no English is left on a page in Japanese', () => {
  const english = new Map(pagesIn('en'));
  const left = pagesIn('ja').flatMap(([name, page]) => {
    if (isEnglish(name) || isOfStrangers(name)) return [];
    const spoken = wordsOf(textsOf(english.get(name)!));
    return [...wordsOf(textsOf(page))]
      .filter((word) => spoken.has(word) && !NAMES.has(word))
      .map((word) => `${name}: ${word}`);
  });
  expect(left).toEqual([]);
});

/** Three words that are no names, or as much where words are not apart. */
const isSentence = (text: string): boolean =>
  [...wordsOf([text])].filter((word) => !NAMES.has(word)).length > 2 || /[\u3040-\u9FFF]{6}/.test(text);

test('no sentence of a page is the same in two languages of different words', () => {
  const pairs = [
    ['en', 'de'],
    ['de', 'fr'],
    ['fr', 'pl'],
    ['ja', 'zh-Hans'],
    ['en', 'ar'],
  ] as const;
  const same = pairs.flatMap(([one, another]) => {
    const others = new Map(pagesIn(another));
    return pagesIn(one).flatMap(([name, page]) => {
      if (isEnglish(name) || isOfStrangers(name)) return [];
      const texts = new Set(textsOf(others.get(name)!));
      return textsOf(page)
        .filter((text) => texts.has(text) && isSentence(text))
        .map((text) => `${name} in ${one} and ${another}: ${text}`);
    });
  });
  expect(same).toEqual([]);
});
