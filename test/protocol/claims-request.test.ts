import { expect, test } from 'vitest';
import { claimNames, narrowClaimsRequest, parseClaimsRequest } from '../../src/protocol/claims-request.ts';

test('OpenID Connect Core §5.5: the example of the standard is read, and what is not understood is ignored', () => {
  const text = `{
    "userinfo": {
      "given_name": {"essential": true}, "nickname": null, "email": {"essential": true},
      "picture": null, "http://example.info/claims/groups": null
    },
    "id_token": {
      "auth_time": {"essential": true, "purpose": "audit"},
      "acr": {"values": ["urn:mace:incommon:iap:silver"]}
    },
    "transformed_claims": {"anything": [[[]]]}
  }`;
  const read = {
    userinfo: {
      given_name: { essential: true },
      nickname: {},
      email: { essential: true },
      picture: {},
      'http://example.info/claims/groups': {},
    },
    id_token: { auth_time: { essential: true }, acr: { values: ['urn:mace:incommon:iap:silver'] } },
  };
  expect(parseClaimsRequest(text)).toEqual(read);
  expect(claimNames(parseClaimsRequest(text)).toSorted()[0]).toBe('acr');
  // A request object holds it as JSON (§6.1).
  expect(parseClaimsRequest(JSON.parse(text))).toEqual(read);
  expect(parseClaimsRequest(undefined)).toBeUndefined();
  expect(parseClaimsRequest('{}')).toEqual({ userinfo: {}, id_token: {} });
});

test('OpenID Connect Core §5.5.1: values may be texts, numbers, booleans, lists and flat objects', () => {
  const requests = {
    email_verified: { value: true },
    updated_at: { values: [1, 2.5] },
    groups: { value: ['admins'] },
    address: { value: { country: 'GB' } },
  };
  expect(parseClaimsRequest({ userinfo: requests })?.userinfo).toEqual(requests);
});

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each<[what: string, sent: unknown]>([
  ['no JSON', '{"userinfo":'],
  ['nothing but a name', 'name'],
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"name"'],
  ['a list', '[]'],
  ['a list of names for a member', '{"userinfo":["name"]}'],
  ['a text for a member', '{"id_token":"name"}'],
  ['null for a member', '{"id_token":null}'],
  ['true for a claim', '{"userinfo":{"name":true}}'],
  ['a text for a claim', '{"userinfo":{"name":"essential"}}'],
  ['a list for a claim', '{"userinfo":{"name":[]}}'],
  ['essential as a text', '{"userinfo":{"name":{"essential":"true"}}}'],
  ['values that are no list', '{"userinfo":{"name":{"values":"Ada"}}}'],
  ['null as a value', '{"userinfo":{"name":{"value":null}}}'],
  ['a value with U+0000, which Postgres cannot hold', String.raw`{"userinfo":{"name":{"value":"a\u0000"}}}`],
  ['half a surrogate pair', String.raw`{"userinfo":{"name":{"value":"\ud800"}}}`],
  ['a number beyond all numbers', '{"userinfo":{"name":{"value":1e999}}}'],
  ['a value that nests', '{"userinfo":{"name":{"value":{"a":{"b":1}}}}}'],
  ['a value that nests deeply', `{"userinfo":{"name":{"value":${deep(3000)}}}}`],
  ['sub that is no text', '{"id_token":{"sub":{"value":7}}}'],
  ['sub with a list of lists', '{"id_token":{"sub":{"values":[["ada"]]}}}'],
  ['acr that is no text', '{"id_token":{"acr":{"values":[2]}}}'],
  ['too many values', { userinfo: { name: { values: Array.from({ length: 101 }, () => 'x') } } }],
  ['too many claims', { userinfo: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`c${index}`, null])) }],
])('OpenID Connect Core §5.5: %s is invalid_request', (_what, sent) => {
  expect(() => parseClaimsRequest(sent)).toThrow(/^invalid_request: the claims parameter is/);
});

test('depth where nobody looks, and names of Object’s own, are harmless', () => {
  expect(parseClaimsRequest(`{"other":${deep(4000)}}`)).toEqual({ userinfo: {}, id_token: {} });
  const sent = parseClaimsRequest('{"userinfo":{"__proto__":{"value":"x"},"constructor":null,"name":null}}')!;
  expect(narrowClaimsRequest(sent, new Set(['name']))?.userinfo).toEqual({ name: {} });
  expect(({} as Record<string, unknown>)['value']).toBeUndefined();
});

test('ASVS 15.3.3: only what may be told is kept, and nothing when that is nothing', () => {
  const sent = parseClaimsRequest('{"userinfo":{"name":null,"email":null},"id_token":{"email":null}}')!;
  expect(narrowClaimsRequest(sent, new Set(['email', 'phone_number']))).toEqual({
    userinfo: { email: {} },
    id_token: { email: {} },
  });
  expect(narrowClaimsRequest(sent, new Set())).toBeUndefined();
});
