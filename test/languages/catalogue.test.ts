import { describe, expect, test } from 'vitest';
import { catalogue } from '../../src/languages/catalogue.ts';
import { directionOf, languages, lookUp } from '../../src/languages/index.ts';
import { agoIn, dateIn, listIn, momentIn } from '../../src/languages/intl.ts';
import { html } from '../../src/views/html.ts';

const english = {
  plain: 'Yes?',
  named: 'Sign in to {client}',
  left: { one: '{count} code for {client}', other: '{count} codes for {client}' },
} as const;
const others = {
  de: {
    plain: 'Ja?',
    named: 'Bei {client} anmelden',
    left: { one: 'ein Code für {client}', other: '{count} Codes für {client}' },
  },
  fr: {
    plain: 'Oui ?',
    named: '{client} : entrer',
    left: { one: '{count} code {client}', many: '{count} codes {client}', other: '{count} codes {client}' },
  },
  es: {
    plain: '¿Sí?',
    named: '{client}',
    left: { one: '{count} c {client}', many: '{count} c {client}', other: '{count} c {client}' },
  },
  pt: {
    plain: 'Sim?',
    named: '{client}',
    left: { one: '{count} c {client}', many: '{count} c {client}', other: '{count} c {client}' },
  },
  pl: {
    plain: 'Tak?',
    named: '{client}',
    left: {
      one: 'jeden {client}',
      few: '{count} kody {client}',
      many: '{count} kodów {client}',
      other: '{count} kodu {client}',
    },
  },
  ja: { plain: 'はい', named: '{client}', left: { other: '{client} {count}' } },
  'zh-Hans': { plain: '是', named: '{client}', left: { other: '{client} {count}' } },
} as const;
const ar = {
  plain: 'نعم؟',
  named: 'إلى {client}',
  left: {
    zero: '0 {client}',
    one: '1 {client}',
    two: '2 {client}',
    few: 'few {count} {client}',
    many: 'many {count} {client}',
    other: '{count} {client}',
  },
} as const;
const say = catalogue(english, { ...others, ar });

test('a sentence is a string, or takes its parameters: text makes text, markup keeps its place', () => {
  expect(say('en').plain).toBe('Yes?');
  expect(say('de').named({ client: 'Notes' })).toBe('Bei Notes anmelden');
  const marked = say('de').named({ client: html`<b>${'<N>'}</b>` });
  expect(String(html`${marked}`)).toBe('Bei <b>&lt;N&gt;</b> anmelden');
});

test('each language has its own plural forms, and writes its own numbers', () => {
  expect([1, 2, 5, 22].map((count) => say('pl').left({ count, client: 'x' }))).toEqual([
    'jeden x',
    '2 kody x',
    '5 kodów x',
    '22 kody x',
  ]);
  expect([0, 2, 3, 11].map((count) => say('ar').left({ count, client: 'x' }).slice(0, 6))).toEqual(
    ['0 \u2068x\u2069', '2 \u2068x\u2069', 'few 3 ', 'many 1'].map((text) => text.slice(0, 6)),
  );
  expect(say('de').left({ count: 12_345, client: 'x' })).toBe('12.345 Codes für x');
});

test('French has spaces that do not break, and a name in an Arabic line is kept together', () => {
  expect(say('fr').plain).toBe('Oui\u202F?');
  expect(say('fr').named({ client: 'Notes' })).toBe('Notes\u00A0: entrer');
  expect(say('ar').named({ client: 'Notes' })).toBe('إلى \u2068Notes\u2069');
});

test('English binds the others: what is missing, unknown or without a parameter is a type error', () => {
  const made = [
    // @ts-expect-error a sentence is missing
    catalogue(english, { ...others, ar: { plain: 'x', named: '{client}' } }),
    // @ts-expect-error a sentence that nobody says
    catalogue(english, { ...others, ar: { ...ar, more: 'x' } }),
    // @ts-expect-error a parameter is missing
    catalogue(english, { ...others, ar: { ...ar, named: 'x' } }),
    // @ts-expect-error a parameter that is not given
    catalogue(english, { ...others, ar: { ...ar, named: '{client} {name}' } }),
    // @ts-expect-error a plural form is missing
    catalogue(english, { ...others, ar: { ...ar, left: { one: '{client}', other: '{count} {client}' } } }),
    // @ts-expect-error a plural form that the language does not have
    catalogue(english, { ...others, ar, ja: { ...others.ja, left: { one: '{client}', other: '{client}' } } }),
    // @ts-expect-error a language is missing
    catalogue(english, others),
  ];
  expect(made).toHaveLength(7);
  const t = say('en');
  // @ts-expect-error without its parameter
  expect(() => t.named()).toThrow(TypeError);
  // @ts-expect-error without the number that decides
  expect(t.left({ client: 'x' })).toContain('x');
});

describe('RFC 4647 §3.4: a tag is shortened from its end until a language of ours answers', () => {
  test.each([
    [['pt-BR'], 'pt'],
    [['PT_br'], 'pt'],
    [['zh'], 'zh-Hans'],
    [['zh-CN'], 'zh-Hans'],
    [['zh-Hans-SG'], 'zh-Hans'],
    [['de-CH-1996'], 'de'],
    [['de-a-foo-x-bar'], 'de'],
    [['tlh', 'nl-BE', 'ar-EG', 'en'], 'ar'],
    [['x-de'], undefined],
    [['*'], undefined],
    [['', '-', '--', 'a-'], undefined],
    [['constructor', '__proto__'], undefined],
    [['dex'], undefined],
    [[`${'x-'.repeat(9999)}de`], undefined],
    [[...Array.from({ length: 99 }, () => 'tlh'), 'de'], undefined],
  ] as const)('%j', (tags, expected) => {
    expect(lookUp(tags)).toBe(expected);
  });
});

test('dates, moments, how long ago, and lists are written as the language writes them', () => {
  const at = '2025-11-20T19:23:00Z';
  expect(languages.map((language) => dateIn(language, at))).toEqual([
    '20 November 2025',
    '20. November 2025',
    '20 novembre 2025',
    '20 de noviembre de 2025',
    '20 de novembro de 2025',
    '20 listopada 2025',
    '2025年11月20日',
    '2025年11月20日',
    '20 نوفمبر 2025',
  ]);
  expect(momentIn('en', at)).toBe('20 November 2025 at 19:23 UTC');
  expect(momentIn('de', at, 'Europe/Berlin')).toContain('20:23');
  expect(momentIn('de', at, 'Nowhere/At all')).toContain('19:23');
  expect([momentIn('en', 'never'), agoIn('en', 'never', at)]).toEqual(['–', '–']);
  expect(agoIn('de', '2025-11-19T19:00:00Z', at)).toBe('gestern');
  expect(agoIn('en', '2025-11-20T16:00:00Z', at)).toBe('3 hours ago');
  expect(agoIn('en', at, at)).toBe('now');
  expect(listIn('en', ['a', 'b', 'c']).join('')).toBe('a, b and c');
  expect(String(html`${listIn('ja', [html`<b>a</b>`, 'b'])}`)).toBe('<b>a</b>、b');
  expect(listIn('de', [])).toEqual([]);
});

test('Arabic is written from right to left, and nothing else', () => {
  expect(languages.filter((language) => directionOf(language) === 'rtl')).toEqual(['ar']);
});
