import { expect, test } from 'vitest';
import { isResource } from '../../src/protocol/resource.ts';
import { redirectUriProblem } from '../../src/protocol/redirect-uri.ts';
import { requestUriProblem } from '../../src/protocol/request-object.ts';
import { webUri, webUriProblem } from '../../src/protocol/uri.ts';

test.each(['https://a.example', 'https://a.example/x?y=%20#z', 'HTTP://a.example:8080/', "https://[::1]/(a)'*;,=@!$"])(
  'RFC 3986: %s is an address on the web',
  (uri) => expect([webUriProblem(uri), webUri().parse(uri)]).toEqual([undefined, uri]),
);

test.each([
  ['a line break', 'https://a.example/\nx'],
  ['a line break behind it', 'https://a.example/\n'],
  ['a tab in the scheme', 'ht\ttps://a.example/'],
  ['space before it', ' https://a.example/'],
  ['a space', 'https://a.example/ x'],
  ['an escape', 'https://a.example/\u001b[31m'],
  ['a backslash', 'https://a.example\\@b.example/'],
  ['letters that are not ASCII', 'https://ä.example/'],
  ['quotes', 'https://a.example/"x"'],
])('RFC 3986 §2: with %s it is no URI, whoever registers it', (_what, uri) => {
  expect(webUriProblem(uri)).toBe('must hold URI characters only');
  expect(webUri().safeParse(uri).success).toBe(false);
  expect(redirectUriProblem(uri, 'web')).toBeDefined();
  expect(requestUriProblem(uri)).toBeDefined();
  expect(isResource(uri)).toBe(false);
});

test.each([
  ['javascript:alert(1)', 'must be an http(s) URL'],
  ['https:a.example', 'must be an http(s) URL'],
  ['https:///a.example', 'must be an http(s) URL'],
  ['//a.example', 'must be an http(s) URL'],
  ['https://ada:secret@a.example/', 'must not hold user information'],
])('%s %s', (uri, problem) => expect(webUriProblem(uri)).toBe(problem));

test('where only https will do', () => {
  expect(webUriProblem('http://a.example/', 'https')).toBe('must use https');
  expect(webUri('https').safeParse('http://a.example/').success).toBe(false);
});
