/** Authorization details (RFC 9396) as values: what is read, what is refused, and what lies within what. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  areWithin,
  isSame,
  narrowDetails,
  parseDetails,
  type AuthorizationDetail,
} from '../../src/protocol/authorization-details.ts';

const invalid = expect.objectContaining({ error: 'invalid_authorization_details', status: 400 }) as Error;
const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)]);

test('RFC 9396 §2: authorization_details are objects with a type, in a JSON array', () => {
  expect(parseDetails(undefined)).toEqual([]);
  expect(parseDetails('[{"type":"payment","amount":"1.50"}]')).toEqual([{ type: 'payment', amount: '1.50' }]);
});

describe('RFC 9396 §5: what is no such array is invalid_authorization_details', () => {
  test.each([
    ['no JSON', '[{'],
    ['an object', '{"type":"a"}'],
    ['nothing', '[]'],
    ['text', '["a"]'],
    ['null', '[null]'],
    ['a list', '[[]]'],
    ['no type', '[{"a":1}]'],
    ['a type that is no text', '[{"type":{}}]'],
    ['a type with a space', '[{"type":"a b"}]'],
    ['locations that are no list', '[{"type":"a","locations":"https://a.test"}]'],
    ['a name that poisons prototypes', '[{"type":"a","__proto__":{"admin":true}}]'],
    ['one deeper', '[{"type":"a","b":{"constructor":1}}]'],
    ['a line that turns around', '[{"type":"a","b":"\\u202Eevil"}]'],
    ['a control character', '[{"type":"a","b":"\\u0000"}]'],
    ['half a character', '[{"type":"a","b":"\\ud800"}]'],
    ['a number that nobody can keep', '[{"type":"a","b":1e999}]'],
    ['the same twice', '[{"type":"a","b":1,"c":2},{"c":2,"b":1,"type":"a"}]'],
    ['too many', JSON.stringify(Array.from({ length: 17 }, (_, b) => ({ type: 'a', b })))],
    ['too long', JSON.stringify([{ type: 'a', b: 'b'.repeat(8200) }])],
    ['too deep', JSON.stringify([{ type: 'a', b: deep(9) }])],
    ['deeper than a stack', `[{"type":"a","b":${'['.repeat(4000)}${']'.repeat(4000)}}]`],
  ])('%s', (_what, text) => {
    expect(() => parseDetails(text)).toThrow(invalid);
  });
});

const types = new Map([
  ['payment', { narrowable: ['/actions', '/money/amount', '/limit'] }],
  ['other', { narrowable: [] }],
]);
const payment = (more: object = {}): AuthorizationDetail => ({
  type: 'payment',
  to: 'DE02',
  actions: ['read', 'write', 'write'],
  money: { amount: '100.50', currency: 'EUR' },
  limit: 10,
  ...more,
});
const fits = (...requested: AuthorizationDetail[]): boolean => areWithin(requested, [payment()], types);

test('RFC 9396 §6.1: what is narrowed is what its type allows, and everything else is as it was granted', () => {
  expect(fits(payment())).toBe(true);
  expect(fits(payment({ actions: ['write'] }))).toBe(true);
  expect(fits(payment({ actions: [] }))).toBe(true);
  expect(fits(payment({ money: { currency: 'EUR', amount: '100.5' } }))).toBe(true);
  expect(fits(payment({ limit: 0 }))).toBe(true);
  for (const wider of [
    { actions: ['read', 'read'] },
    { actions: ['delete'] },
    { actions: 'read' },
    { money: { amount: '100.500001', currency: 'EUR' } },
    { money: { amount: '-1', currency: 'EUR' } },
    { money: { amount: '1', currency: 'USD' } },
    { money: { amount: '1' } },
    { money: { amount: 1, currency: 'EUR' } },
    { limit: 10.000001 },
    { limit: -1 },
    { limit: '1' },
    { to: 'DE03' },
    { more: true },
    { type: 'other' },
    { type: 'toString' },
  ]) {
    expect(fits(payment(wider)), JSON.stringify(wider)).toBe(false);
  }
  const { limit: _limit, ...without } = payment();
  expect(fits(without as AuthorizationDetail)).toBe(false);
});

test('RFC 9396 §6.1: two things within one that was granted would be twice as much', () => {
  const [small, smaller] = [payment({ limit: 2 }), payment({ limit: 1 })];
  expect(fits(small, smaller)).toBe(false);
  expect(areWithin([small, smaller], [payment(), payment({ limit: 1 })], types)).toBe(true);
  // Whichever comes first: the one that fits two places gives way to the one that fits only one of them.
  expect(areWithin([smaller, small], [payment(), payment({ limit: 1 })], types)).toBe(true);
});

const aDetail = fc
  .record({
    to: fc.constantFrom('a', 'b'),
    actions: fc.array(fc.constantFrom('read', 'write', 'list'), { maxLength: 3 }),
    money: fc.record({
      amount: fc.integer({ min: 0, max: 40 }).map((n) => (n / 4).toFixed(2)),
      currency: fc.constant('EUR'),
    }),
    limit: fc.integer({ min: 0, max: 3 }),
  })
  .map((detail): AuthorizationDetail => ({ type: 'payment', ...detail }));
const details = fc.array(aDetail, { minLength: 1, maxLength: 4 });
/** Something within a detail, or not: drawn from it. */
const nearby = (detail: AuthorizationDetail) =>
  fc
    .record({
      actions: fc.shuffledSubarray([...(detail['actions'] as string[])]),
      limit: fc.integer({ min: 0, max: (detail['limit'] as number) + 1 }),
    })
    .map((less): AuthorizationDetail => ({ ...detail, ...less }));
const chain = details.chain((granted) =>
  fc
    .tuple(...granted.map(nearby))
    .chain((first) => fc.tuple(fc.constant(granted), fc.shuffledSubarray(first, { minLength: 1 })))
    .chain(([all, first]) => fc.tuple(fc.constant(all), fc.constant(first), fc.tuple(...first.map(nearby)))),
);
const narrowed = (requested: readonly AuthorizationDetail[], granted: readonly AuthorizationDetail[]) => {
  try {
    return narrowDetails(requested, granted, types);
  } catch {
    return undefined;
  }
};
const total = (of: readonly AuthorizationDetail[]): number => of.reduce((sum, { limit }) => sum + (limit as number), 0);

test('RFC 9396 §6.1: narrowing is monotone: what is had is within the grant, and doing it again never widens', () => {
  let both = 0;
  fc.assert(
    fc.property(chain, ([granted, first, second]) => {
      const once = narrowed(first, granted);
      if (!once) return;
      expect(total(once)).toBeLessThanOrEqual(total(granted));
      expect(once.length).toBeLessThanOrEqual(granted.length);
      const twice = narrowed(second, once);
      if (!twice) return;
      both += 1;
      // Transitive: nothing comes by two steps that does not come by one.
      expect(areWithin(twice, granted, types)).toBe(true);
    }),
    { numRuns: 400 },
  );
  expect(both).toBeGreaterThan(20);
  fc.assert(
    fc.property(details, (granted) => areWithin(granted, granted, types)),
    { numRuns: 50 },
  );
  fc.assert(
    fc.property(
      aDetail,
      aDetail,
      (a, b) => !(areWithin([a], [b], types) && areWithin([b], [a], types)) || amountsEqual(a, b),
    ),
    { numRuns: 100 },
  );
});

/** Each within the other: the same but for the order of a list. */
const amountsEqual = (a: AuthorizationDetail, b: AuthorizationDetail): boolean =>
  isSame({ ...a, actions: [] }, { ...b, actions: [] });
