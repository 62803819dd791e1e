import { expect, test } from 'vitest';
import { contextsProblem, levelOf, metContext, readContexts, requestedAcr } from '../../src/protocol/acr.ts';

const SILVER = 'urn:mace:incommon:iap:silver';
const contexts = readContexts([`${SILVER}=1`, 'https://refeds.org/profile/mfa?a=b=2', 'phrh=hwk+user']);

test('1 is one factor, 2 is more than one; other names are mapped to these, or to methods', () => {
  expect([levelOf(['pwd']), levelOf(['pwd', 'otp', 'mfa'])]).toEqual(['1', '2']);
  expect(Object.fromEntries(contexts)).toEqual({
    '1': [[]],
    '2': [['mfa'], ['hwk', 'user'], ['swk', 'user']],
    [SILVER]: [[]],
    'https://refeds.org/profile/mfa?a=b': [['mfa'], ['hwk', 'user'], ['swk', 'user']],
    phrh: [['hwk', 'user']],
  });
  expect(readContexts(['either=pwd+otp|2|sc']).get('either')).toEqual([
    ['pwd', 'otp'],
    ['mfa'],
    ['hwk', 'user'],
    ['swk', 'user'],
    ['sc'],
  ]);
});

test('RFC 8176 §2: a passkey that knew its person is two factors in one; one that did not is one', () => {
  const levels = [['hwk', 'user'], ['swk', 'user'], ['hwk'], ['user'], ['pwd', 'user']].map(levelOf);
  expect(levels).toEqual(['2', '2', '1', '1', '1']);
});

test.each([
  'silver',
  '=1',
  'silver=',
  'silver=a++b',
  'silver=a|',
  'silver=|',
  'silver=a||b',
  'sil ver=1',
  '1=pwd',
  '2=1',
  'silver=a b',
])('ACR_VALUES does not take %s', (entry) => {
  expect(contextsProblem([entry])).toBeDefined();
});

test('ACR_VALUES takes each name once', () => {
  expect(contextsProblem(['silver=1', 'gold=hwk'])).toBeUndefined();
  expect(contextsProblem(['silver=1', 'silver=2'])).toMatch(/twice/);
});

test('OpenID Connect Core §5.5.1.1: the first requested context that was really met', () => {
  expect(metContext(contexts, ['2', SILVER, '1'], ['pwd'])).toBe(SILVER);
  expect(metContext(contexts, ['2', SILVER], ['pwd', 'otp', 'mfa'])).toBe('2');
  expect(metContext(contexts, ['phrh'], ['hwk'])).toBeUndefined();
  expect(metContext(contexts, ['phrh'], ['user', 'hwk'])).toBe('phrh');
  expect(metContext(contexts, ['toString', '0'], ['pwd'])).toBeUndefined();
});

test('OpenID Connect Registration §2: a claim request comes before acr_values, and these before default_acr_values', () => {
  const of = (claim: Parameters<typeof requestedAcr>[0], acr_values?: string, defaults: string[] | null = ['1']) =>
    requestedAcr(claim, acr_values, defaults, contexts);
  expect(of(undefined)).toEqual({ values: ['1'], essential: false });
  expect(of(undefined, '2 unknown  2 1')).toEqual({ values: ['2', '1'], essential: false });
  expect(of({ values: [SILVER] }, '2')).toEqual({ values: [SILVER], essential: false });
  expect(of({ value: '2', essential: true }, '1')).toEqual({ values: ['2'], essential: true });
  // Without a value any acr will do, and one is always there.
  expect(of({ essential: true }, '2')).toEqual({ values: ['2'], essential: false });
  expect(of({ value: 'unknown', essential: true })).toEqual({ values: [], essential: true });
  expect(of(undefined, undefined, null)).toBeUndefined();
});
