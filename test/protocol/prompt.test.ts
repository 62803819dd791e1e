import { expect, test } from 'vitest';
import { parsePrompt as parse } from '../../src/protocol/prompt.ts';

const parsePrompt = (text: string | undefined) => parse(text, false);
const invalid = expect.objectContaining({ error: 'invalid_request' }) as Error;

test('OpenID Connect Core §3.1.2.1: prompt is a list of the known values, each once', () => {
  expect(parsePrompt(undefined)).toEqual([]);
  expect(parsePrompt('login  consent login')).toEqual(['login', 'consent']);
  expect(parsePrompt('select_account')).toEqual(['select_account']);
});

test('OpenID Connect Core §3.1.2.1: none stands alone', () => {
  expect(parsePrompt('none')).toEqual(['none']);
  expect(() => parsePrompt('none login')).toThrow(invalid);
  expect(() => parsePrompt('consent none')).toThrow(invalid);
});

test('OpenID Connect Core §3.1.2.1: values are case sensitive, unknown ones refused', () => {
  for (const bad of ['Login', 'create', 'login\tconsent', '__proto__'])
    expect(() => parsePrompt(bad), bad).toThrow(invalid);
});

test('Initiating User Registration §4.1: create is a value where people can make accounts, and alone with prompt=none refused', () => {
  expect(parse('create', true)).toEqual(['create']);
  expect(() => parse('none create', true)).toThrow(invalid);
  expect(() => parse('create', false)).toThrow(invalid);
});
