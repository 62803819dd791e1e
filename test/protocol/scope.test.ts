import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatScope,
  isScopeToken,
  isSubset,
  parseScope,
  scopeForMachine,
  scopeForPerson,
  type ScopeRule,
} from '../../src/protocol/scope.ts';

const invalid = expect.objectContaining({ error: 'invalid_scope', status: 400 }) as Error;
const rule = (name: string, for_people: boolean, for_machines: boolean): [string, ScopeRule] => [
  name,
  { name, for_people, for_machines },
];
const known = new Map([
  rule('openid', true, false),
  rule('email', true, false),
  rule('offline_access', true, false),
  rule('notes', true, true),
  rule('jobs', false, true),
]);

test('specification §Resources: several scopes are joined with a space', () => {
  expect(parseScope('openid email')).toEqual(['openid', 'email']);
  expect(formatScope(['openid', 'email'])).toBe('openid email');
  expect(parseScope(undefined)).toEqual([]);
  expect(parseScope('')).toEqual([]);
});

test('RFC 6749 §3.3: each token once, in the order given, however many spaces are between them', () => {
  expect(parseScope(' b  a b ')).toEqual(['b', 'a']);
});

test('RFC 6749 Appendix A.4: a token is %x21 / %x23-5B / %x5D-7E', () => {
  for (const bad of ['a"b', 'a\\b', 'ä', 'a\tb', 'a\nb', 'a\u0000'])
    expect(() => parseScope(bad), bad).toThrow(invalid);
  expect(isScopeToken('https://api.example.test/read:all!#[]~')).toBe(true);
  expect(isScopeToken('')).toBe(false);
  expect(isScopeToken('a b')).toBe(false);
});

test('RFC 6749 §3.3: formatting what was parsed loses nothing', () => {
  const token = fc.string({ minLength: 1, unit: fc.constantFrom(...'ab:/.#!~') });
  fc.assert(
    fc.property(fc.uniqueArray(token), (tokens) => {
      expect(parseScope(formatScope(tokens))).toEqual(tokens);
    }),
  );
});

test('specification §Resources: the granted scope may be a subset of the requested: unknown and unregistered tokens are dropped', () => {
  expect(scopeForPerson(['openid', 'nonsense', 'email', 'notes'], ['openid', 'notes', 'jobs'], known)).toEqual([
    'openid',
    'notes',
  ]);
});

test('RFC 6749 §3.3: when nothing that was asked is left, the request is invalid_scope', () => {
  expect(() => scopeForPerson(['nonsense'], ['openid'], known)).toThrow(invalid);
  expect(() => scopeForPerson(['jobs'], ['jobs'], known)).toThrow(invalid);
  expect(() => scopeForPerson(['ghost'], ['ghost'], known)).toThrow(invalid);
});

test('RFC 6749 §3.3: no scope asked for means the registered ones without openid and offline_access', () => {
  expect(scopeForPerson([], ['openid', 'email', 'offline_access', 'jobs'], known)).toEqual(['email']);
  expect(() => scopeForPerson([], ['openid', 'offline_access'], known)).toThrow(invalid);
});

test('specification §Endpoints 2b: scope is optional for a client acting for itself: none means all it has for machines', () => {
  expect(scopeForMachine([], ['openid', 'notes', 'jobs'], known)).toEqual(['notes', 'jobs']);
  expect(scopeForMachine(['jobs'], ['notes', 'jobs'], known)).toEqual(['jobs']);
});

test.each(['openid', 'email', 'nonsense', 'jobs'])(
  'RFC 6749 §4.4.2: a client that may not have %s for itself gets invalid_scope',
  (name) => {
    expect(() => scopeForMachine(['notes', name], ['openid', 'email', 'notes'], known)).toThrow(invalid);
  },
);

test('RFC 6749 §6: a subset has nothing the whole lacks', () => {
  expect(isSubset([], ['a'])).toBe(true);
  expect(isSubset(['a'], ['a', 'b'])).toBe(true);
  expect(isSubset(['a', 'c'], ['a', 'b'])).toBe(false);
});
