/**
 * What is said in several languages. Of client metadata a member `client_name#de` beside `client_name` (RFC 7591 §2.2, OpenID Connect
 * Registration §2.1); tags are those of BCP 47, in any case, and kept as they were sent.
 */
import { z } from 'zod';

/** The members of client metadata that are shown to people. */
const LOCALIZED_MEMBERS = ['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri'] as const;
export type LocalizedMember = (typeof LOCALIZED_MEMBERS)[number];

/** Them, each with a tag. */
export type Localized = { readonly [member: `${LocalizedMember}#${string}`]: string };

/** More translations of one thing, or of one client's members, are nobody's wish. */
export const MOST_TRANSLATIONS = 100;
const LONGEST_TAG = 64;

/** Is it the tag of a language (BCP 47)? */
function isLanguageTag(text: string): boolean {
  try {
    return text.length <= LONGEST_TAG && Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/** What a member with a tag is made of; undefined of every other name. */
export function localizedMember(name: string): { member: LocalizedMember; tag: string } | undefined {
  const at = name.indexOf('#');
  const [member, tag] = [LOCALIZED_MEMBERS.find((each) => each === name.slice(0, at)), name.slice(at + 1)];
  return member && isLanguageTag(tag) ? { member, tag } : undefined;
}

/** The translations of one member, by their tags. */
export const translationsOf = (localized: Localized, wanted: LocalizedMember): Record<string, string> =>
  Object.fromEntries(
    Object.entries(localized).flatMap(([name, value]) => {
      const { member, tag } = localizedMember(name) ?? {};
      return member === wanted ? [[tag, value]] : [];
    }),
  );

/** A document in two: the members with a tag, and the others. */
export function splitLocalized(document: Readonly<Record<string, unknown>>): {
  localized: Record<string, unknown>;
  others: Record<string, unknown>;
} {
  const [localized, others]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  for (const [name, value] of Object.entries(document)) {
    if (localizedMember(name)) localized[name] = value;
    else others[name] = value;
  }
  return { localized, others };
}

/** The tag of a name that says the same as one before it, in another case. */
function saidTwice(names: readonly string[]): string | undefined {
  const folded = names.map((name) => name.toLowerCase());
  return names.find((_name, index) => folded.indexOf(folded[index]!) < index);
}

const TWICE = 'is there already: the case of a tag makes no difference';
const TOO_MANY = `there are more than ${MOST_TRANSLATIONS} translations`;
/** A tag as a pattern, roughly: what is exact is `isLanguageTag`. */
const TAG = '[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*';

/** Translations of one text, by the tag of their language. */
export const translations = (text: z.ZodString | z.ZodType<string>) =>
  z
    .record(
      z
        .string()
        .max(LONGEST_TAG)
        .regex(new RegExp(`^${TAG}$`))
        .refine(isLanguageTag, 'must be a language tag (BCP 47)'),
      text,
    )
    .superRefine((said, context) => {
      const tags = Object.keys(said);
      const twice = saidTwice(tags);
      if (twice !== undefined) context.addIssue({ code: 'custom', path: [twice], message: TWICE, input: said });
      if (tags.length > MOST_TRANSLATIONS) context.addIssue({ code: 'custom', message: TOO_MANY, input: said });
    });

/**
 * An object of these members and, with a tag, of those that may have one; what is neither is no such member. `texts` says what
 * each may be.
 */
export const withLanguages = <Shape extends z.ZodRawShape>(
  shape: Shape,
  texts: Readonly<Record<LocalizedMember, z.ZodType>>,
) =>
  z
    .looseObject(shape)
    .superRefine((document, context) => {
      const names = Object.keys(document).filter((name) => !Object.hasOwn(shape, name));
      const problem = (path: string[], message: string): void =>
        context.addIssue({ code: 'custom', path, message, input: document });
      const keys = names.filter((name) => !localizedMember(name));
      if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, input: document });
      const said = names.flatMap((name) => (localizedMember(name) ? [name] : []));
      for (const name of said) {
        const { error } = texts[localizedMember(name)!.member].safeParse(document[name]);
        for (const { message } of error?.issues ?? []) problem([name], message);
      }
      const twice = saidTwice(said);
      if (twice !== undefined) problem([twice], TWICE);
      if (said.length > MOST_TRANSLATIONS) problem([said[MOST_TRANSLATIONS]!], TOO_MANY);
    })
    .meta({
      additionalProperties: false,
      patternProperties: {
        [`^(${LOCALIZED_MEMBERS.join('|')})#${TAG}$`]: {
          type: 'string',
          description: 'The same in the language of its tag',
        },
      },
    });
