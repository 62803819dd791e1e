import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { localizedTexts } from '../../src/protocol/client-metadata.ts';
import { localizedMember, MOST_TRANSLATIONS, translations, withLanguages } from '../../src/protocol/localized.ts';

describe('RFC 7591 §2.2: members with the tag of a language', () => {
  test.each([
    ['client_name#de', 'de'],
    ['tos_uri#zh-Hant-TW', 'zh-Hant-TW'],
    ['client_name#JA-kana-jp', 'JA-kana-jp'],
  ])('%s is one', (name, tag) => {
    expect(localizedMember(name)).toMatchObject({ tag });
  });

  test.each([
    'client_name',
    'client_name#',
    'client_name#de_DE',
    'client_name#de#fr',
    'redirect_uris#de',
    '#de',
    'client_name#de-',
  ])('%s is none', (name) => {
    expect(localizedMember(name)).toBeUndefined();
  });

  const document = withLanguages({ client_id: z.string().optional() }, localizedTexts);
  const problemsOf = (value: object): string[] =>
    (document.safeParse(value).error?.issues ?? []).map(
      (issue) => `${issue.code === 'unrecognized_keys' ? issue.keys.join() : issue.path.join()}: ${issue.message}`,
    );
  const many = (count: number) =>
    Array.from(
      { length: count },
      (_none, index) => `a${String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26))}`,
    );

  test('each is what the member without a tag may be; twice in another case, too many, and unknown ones are refused', () => {
    expect(
      problemsOf({ client_id: 'a', 'client_name#de': 'Notizen', 'policy_uri#de': 'https://a.example/de' }),
    ).toEqual([]);
    expect(problemsOf({ 'tos_uri#de': 'javascript:alert(1)' })[0]).toMatch(/^tos_uri#de: /);
    expect(problemsOf({ 'client_name#de': 'a\u202eb' })[0]).toMatch(/^client_name#de: must be plain text/);
    expect(problemsOf({ 'client_name#de': 'a', 'client_name#DE': 'b' })[0]).toMatch(
      /^client_name#DE: is there already/,
    );
    expect(problemsOf({ 'client_name#d e': 'a', nothing: 1 })[0]).toMatch(/^client_name#d e,nothing: /);
    const all = (count: number) => Object.fromEntries(many(count).map((tag) => [`client_name#${tag}`, 'a']));
    expect(problemsOf(all(MOST_TRANSLATIONS))).toEqual([]);
    expect(problemsOf(all(MOST_TRANSLATIONS + 1))[0]).toMatch(/there are more than 100 translations/);
  });

  test('translations of one text are as many, by tags that are told apart without their case', () => {
    const schema = translations(z.string().min(1));
    expect(schema.safeParse({ de: 'a', 'pt-BR': 'b' }).success).toBe(true);
    for (const wrong of [{ de: 'a', De: 'b' }, { 'd e': 'a' }, { de: '' }, { de_DE: 'a' }]) {
      expect(schema.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
    }
    expect(schema.safeParse(Object.fromEntries(many(MOST_TRANSLATIONS + 1).map((tag) => [tag, 'a']))).success).toBe(
      false,
    );
  });
});
