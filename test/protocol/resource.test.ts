import { expect, test } from 'vitest';
import { narrowResource, parseResource } from '../../src/protocol/resource.ts';

const invalid = expect.objectContaining({ error: 'invalid_target', status: 400 }) as Error;
const API = 'https://api.example.test';

test('RFC 8707 §2: a resource is an absolute URI, each counted once', () => {
  expect(parseResource(undefined)).toEqual([]);
  expect(parseResource([API, 'urn:example:api', API])).toEqual([API, 'urn:example:api']);
});

test.each(['/relative', 'api.example.test', `${API}#fragment`, `${API}#`, `${API}/ä`, `${API}/a b`, '', `${API}\n`])(
  'RFC 8707 §2: %j is invalid_target',
  (uri) => {
    expect(() => parseResource([uri])).toThrow(invalid);
  },
);

test('more than ten resources are refused', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `${API}/${index}`);
  expect(parseResource(many(10))).toHaveLength(10);
  expect(() => parseResource(many(11))).toThrow(invalid);
});

test('RFC 8707 §2.2: a token is for what was asked, within what was granted; nothing asked is all of it', () => {
  const granted = [API, 'urn:b'];
  expect(narrowResource([], granted)).toEqual(granted);
  expect(narrowResource(['urn:b'], granted)).toEqual(['urn:b']);
  expect(() => narrowResource(['urn:c'], granted)).toThrow(invalid);
  expect(() => narrowResource([`${API}/`], granted)).toThrow(invalid);
});
