/**
 * Catalogues: what is said in one area, in every language. English stands first, and its type binds the others: a sentence
 * that is missing or that nobody says, a parameter that is missing or unknown, and a plural form that a language has not, or
 * has and was not given, are type errors.
 *
 * A sentence is a string, with its parameters in braces: `'Sign in to {client}'`. Where a number decides, it is a record
 * of the plural forms of the language by the parameter `count`: `{ one: '{count} code is left', other: '{count} codes are left' }`.
 */
import { numberIn, pluralIn } from './intl.ts';
import { directionOf, type Language } from './index.ts';

type Other = Exclude<Language, 'en'>;
type PluralForm = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other';
/** The plural forms of each language (Unicode CLDR). */
interface PluralForms {
  en: 'one' | 'other';
  de: 'one' | 'other';
  fr: 'one' | 'many' | 'other';
  es: 'one' | 'many' | 'other';
  pt: 'one' | 'many' | 'other';
  pl: 'one' | 'few' | 'many' | 'other';
  ja: 'other';
  'zh-Hans': 'other';
  ar: 'zero' | 'one' | 'two' | 'few' | 'many' | 'other';
}

type Plural = Partial<Record<PluralForm, string>>;
type Sentence = string | Plural;
type Area = Readonly<Record<string, Sentence>>;

/** The parameters of a sentence. */
type Parameters<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Parameters<Rest> : never;
type ParametersOf<Said extends Sentence> = Said extends string
  ? Parameters<Said>
  : Parameters<Said[keyof Said]> | 'count';
type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** What a translation has to be; where it is that already, itself. */
type TextLike<Name, Text> = Equal<Name, Parameters<Text>> extends true ? Text : { 'has these parameters': Name };
// One is often said without its number.
type FormLike<Name, Text> = TextLike<Name, Text> extends Text ? Text : TextLike<Exclude<Name, 'count'>, Text>;
type PluralLike<Name, Said, Form extends PluralForm> = {
  [F in Form]: F extends keyof Said ? FormLike<Name, Said[F]> : string;
} & { [F in Exclude<keyof Said, Form>]: never };
type SentenceLike<English extends Sentence, Said, L extends Language> = English extends string
  ? TextLike<Parameters<English>, Said>
  : PluralLike<ParametersOf<English>, Said, PluralForms[L]>;
type AreaLike<English extends Area, Said, L extends Language> = {
  [K in keyof English]: K extends keyof Said ? SentenceLike<English[K], Said[K], L> : English[K];
} & { [K in Exclude<keyof Said, keyof English>]: never };

type Values<Name extends string, Value> = { [N in Name]: N extends 'count' ? number : Value };
/** A sentence that has parameters. What is no text, such as markup, comes back in its place between the parts of the sentence. */
interface Phrase<Name extends string> {
  (values: Values<Name, string | number>): string;
  <Other>(values: Values<Name, string | number | Other>): ReadonlyArray<string | Other>;
}

/** What is said in one area, in one language. */
type Sentences<English extends Area> = {
  readonly [K in keyof English]: English[K] extends string
    ? [Parameters<English[K]>] extends [never]
      ? string
      : Phrase<Parameters<English[K]>>
    : Phrase<ParametersOf<English[K]>>;
};

/** A catalogue, which gives the sentences of its area in a language. */
export type Catalogue<English extends Area> = (language: Language) => Sentences<English>;

/** Makes a catalogue. What it gives is read once for each language. */
export function catalogue<const English extends Area, const Said extends Record<Other, Area>>(
  english: English & AreaLike<English, English, 'en'>,
  others: Said & { [L in Other]: AreaLike<English, Said[L], L> } & Record<Exclude<keyof Said, Other>, never>,
): Catalogue<English> {
  const kept = new Map<Language, Sentences<English>>();
  return (language) => {
    const present = kept.get(language);
    if (present) return present;
    const area = language === 'en' ? english : others[language];
    const read = Object.entries<Sentence>(area).map(([name, said]) => [name, phraseOf(said, language)]);
    const sentences = Object.fromEntries(read) as Sentences<English>;
    kept.set(language, sentences);
    return sentences;
  };
}

type Spoken = string | ((values: Record<string, unknown>) => unknown);

function phraseOf(said: Sentence, language: Language): Spoken {
  if (typeof said === 'string') return textOf(said, language);
  const forms = Object.fromEntries(Object.entries(said).map(([form, text]) => [form, partsOf(text, language)]));
  const plural = pluralIn(language);
  return (values) => filled(forms[plural(values['count'] as number)] ?? forms['other']!, values, language);
}

function textOf(text: string, language: Language): Spoken {
  const parts = partsOf(text, language);
  return parts.length === 1 ? parts[0]! : (values) => filled(parts, values, language);
}

/** Text and parameters in turn: every second part is the name of a parameter. */
const partsOf = (text: string, language: Language): string[] => typeset(text, language).split(/\{(\w+)\}/);

/** French has a space that does not break before these signs, and inside its quotation marks. */
const typeset = (text: string, language: Language): string =>
  language === 'fr' ? text.replaceAll(/ (?=[?!;»])/g, '\u202F').replaceAll(/ (?=:)|(?<=«) /g, '\u00A0') : text;

function filled(parts: readonly string[], values: Record<string, unknown>, language: Language): unknown {
  const filledIn = parts.map((part, index) => (index % 2 === 0 ? part : shown(values[part], language)));
  return filledIn.every((part) => typeof part === 'string') ? filledIn.join('') : filledIn;
}

/** In a line from right to left, names from left to right are kept together (Unicode UAX #9, isolates). */
function shown(value: unknown, language: Language): unknown {
  if (typeof value === 'number') return numberIn(language)(value);
  return typeof value === 'string' && directionOf(language) === 'rtl' ? `\u2068${value}\u2069` : value;
}
