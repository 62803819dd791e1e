import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseForm, uniqueParameters } from '../../src/protocol/form-encoding.ts';
import { parseParameters } from '../../src/protocol/parameters.ts';

const schema = z.object({ code: z.string().max(5), scope: z.string().optional() });
const read = (text: string): unknown => parseParameters(schema, uniqueParameters(parseForm(text)));

test('RFC 6749 §3.2: unrecognised parameters are ignored', () => {
  expect(read('code=abc&__proto__=x&constructor=y&x[]=1&code[]=2')).toEqual({ code: 'abc' });
});

test('RFC 6749 §5.2: a missing parameter is invalid_request and named; a malformed one is told apart', () => {
  expect(() => read('scope=a')).toThrow('invalid_request: code is missing');
  expect(() => read('code=')).toThrow('invalid_request: code is missing');
  expect(() => read('code=abcdef')).toThrow('invalid_request: code is malformed');
});

test('RFC 6749 §5.2: the value of a malformed parameter is not repeated', () => {
  expect(() => read('code=secret-value')).not.toThrow('secret-value');
});
