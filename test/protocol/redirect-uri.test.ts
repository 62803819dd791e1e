import { expect, test } from 'vitest';
import {
  isLoopbackHost,
  isRegisteredRedirectUri,
  isWebUri,
  redirectOrigin,
  redirectUriProblem,
} from '../../src/protocol/redirect-uri.ts';

const URI = 'https://app.example.test/callback';

test('specification §Authentication 5: redirect URIs are compared by exact string match', () => {
  expect(isRegisteredRedirectUri(URI, [URI], 'web')).toBe(true);
});

test.each([
  `${URI}/`,
  `${URI}?`,
  `${URI}?a=b`,
  `${URI}#`,
  `${URI}/../callback`,
  'https://app.example.test/Callback',
  'https://APP.example.test/callback',
  'HTTPS://app.example.test/callback',
  'https://app.example.test:443/callback',
  'https://app.example.test/%63allback',
  'http://app.example.test/callback',
  'https://app.example.test.evil.test/callback',
  'https://evil.test/https://app.example.test/callback',
  'https://user@app.example.test/callback',
  'https://app.example.test\\@evil.test/callback',
  ` ${URI}`,
  `${URI} `,
  `${URI}\n`,
  '',
])('specification §Authentication 5: pattern matching is forbidden: %j is not the registered URI', (presented) => {
  expect(isRegisteredRedirectUri(presented, [URI], 'web')).toBe(false);
  expect(isRegisteredRedirectUri(presented, [URI], 'native')).toBe(false);
});

test('RFC 9700 §2.1: a registered * or prefix stands for itself only', () => {
  expect(isRegisteredRedirectUri(URI, ['https://*.example.test/callback', 'https://app.example.test/*'], 'web')).toBe(
    false,
  );
});

test('RFC 8252 §7.3: for a native client the port of a loopback IP may vary, and nothing else', () => {
  const registered = ['http://127.0.0.1/cb', 'http://[::1]:8000/cb?x=1'];
  const accepts = (uri: string, type: 'native' | 'web' = 'native'): boolean =>
    isRegisteredRedirectUri(uri, registered, type);
  expect(accepts('http://127.0.0.1:51234/cb')).toBe(true);
  expect(accepts('http://127.0.0.1/cb')).toBe(true);
  expect(accepts('http://[::1]:9/cb?x=1')).toBe(true);
  for (const uri of [
    'http://127.0.0.1:51234/cb/',
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:51234/cb?x=1',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:1@evil.test/cb',
    'http://127.0.0.1:80.evil.test/cb',
    'http://127.0.0.1.evil.test/cb',
    'http://127.0.0.2:51234/cb',
    'http://localhost:51234/cb',
    'https://127.0.0.1:51234/cb',
    'http://[::1]:9/cb',
    'http://127.0.0.1:51234/cb\n',
  ]) {
    expect(accepts(uri), uri).toBe(false);
  }
  expect(accepts('http://127.0.0.1:51234/cb', 'web')).toBe(false);
});

test('RFC 8252 §7.3: a loopback IP without a path varies its port too, and an empty path is / (RFC 3986 §6.2.3)', () => {
  const accepts = (uri: string, ...registered: string[]): boolean => isRegisteredRedirectUri(uri, registered, 'native');
  for (const registered of ['http://127.0.0.1', 'http://127.0.0.1/', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000/'])
    for (const uri of ['http://127.0.0.1', 'http://127.0.0.1/', 'http://127.0.0.1:51234', 'http://127.0.0.1:51234/'])
      expect(accepts(uri, registered), `${uri} for ${registered}`).toBe(true);
  expect(accepts('http://[::1]:51234/', 'http://[::1]')).toBe(true);
  expect(accepts('http://127.0.0.1:51234/?x=1', 'http://127.0.0.1?x=1')).toBe(true);
  for (const uri of [
    'http://127.0.0.1:51234//',
    'http://127.0.0.1:51234/cb',
    'http://127.0.0.1:51234?',
    'http://[::1]:5',
  ])
    expect(accepts(uri, 'http://127.0.0.1'), uri).toBe(false);
  expect(isRegisteredRedirectUri('https://app.example.test/', ['https://app.example.test'], 'native')).toBe(false);
  expect(isRegisteredRedirectUri('http://127.0.0.1:1/', ['http://127.0.0.1:1'], 'web')).toBe(false);
});

test('RFC 8252 §8.3: localhost by name has no free port', () => {
  expect(isRegisteredRedirectUri('http://localhost:2/cb', ['http://localhost:1/cb'], 'native')).toBe(false);
});

test.each([
  [URI, 'web'],
  ['https://app.example.test', 'web'],
  ['https://app.example.test/cb?tenant=a%20b', 'web'],
  ['http://localhost:3000/cb', 'web'],
  ['http://127.0.0.1:3000/cb', 'web'],
  ['http://[::1]/cb', 'native'],
  ['com.example.app:/oauth2redirect', 'native'],
] as const)('RFC 8252 §7: %s may be registered by a %s client', (uri, type) => {
  expect(redirectUriProblem(uri, type)).toBeUndefined();
});

test.each([
  ['http://app.example.test/cb', 'web', 'https'],
  ['http://192.168.0.1/cb', 'native', 'https'],
  ['javascript:alert(1)', 'native', 'scheme'],
  ['JavaScript:alert(1)', 'native', 'scheme'],
  ['data:text/html,x', 'native', 'scheme'],
  ['vbscript:x', 'native', 'scheme'],
  ['file:///etc/passwd', 'native', 'scheme'],
  ['blob:https://a.example.test/x', 'native', 'scheme'],
  ['com.example.app:/cb', 'web', 'https'],
  ['app.example.test/cb', 'web', 'begins with no scheme, such as https://'],
  ['localhost:8080/cb', 'web', 'begins with no scheme, such as https://'],
  ['localhost:8080/cb', 'native', 'begins with no scheme, such as https://'],
  ['app.example.test:8080/cb', 'native', 'begins with no scheme, such as https://'],
  ['127.0.0.1:8080/cb', 'native', 'begins with no scheme, such as https://'],
  ['/cb', 'native', 'begins with no scheme, such as https://'],
  ['myapp:/cb', 'native', 'dot'],
  [`${URI}#x`, 'web', 'fragment'],
  [`${URI}#`, 'web', 'fragment'],
  ['https://*.example.test/cb', 'web', 'wildcards'],
  ['https://app.example.test/*', 'web', 'wildcards'],
  ['https:\\\\evil.test', 'web', 'wildcards'],
  ['https:evil.test', 'web', 'absolute'],
  ['https:/evil.test', 'web', 'absolute'],
  ['https:///evil.test', 'web', 'absolute'],
  ['//evil.test/cb', 'web', 'absolute'],
  ['/cb', 'web', 'absolute'],
  ['', 'web', 'ASCII'],
  ['https://user:pw@app.example.test/cb', 'web', 'user information'],
  ['https://app.example.test/ä', 'web', 'ASCII'],
  ['https://app.example.test/a b', 'web', 'ASCII'],
  ['https://app.example.test/\ncb', 'web', 'ASCII'],
  [`https://app.example.test/${'a'.repeat(2000)}`, 'web', '2000'],
] as const)('RFC 9700 §4.1.3: %j may not be registered by a %s client', (uri, type, why) => {
  expect(redirectUriProblem(uri, type)).toContain(why);
});

test('the origin of a redirect URI is that of its page; a private-use scheme has none', () => {
  expect(redirectOrigin('https://app.example.test:8443/cb')).toBe('https://app.example.test:8443');
  expect(redirectOrigin('com.example.app:/cb')).toBeUndefined();
  expect(isWebUri('com.example.app:/cb')).toBe(false);
  expect(isWebUri('https://app.example.test/cb')).toBe(true);
});

test('loopback is localhost, its subdomains and the two literals', () => {
  for (const host of ['localhost', 'app.localhost', '127.0.0.1', '[::1]']) expect(isLoopbackHost(host)).toBe(true);
  for (const host of ['localhost.evil.test', 'notlocalhost', '127.0.0.1.nip.io', '0.0.0.0', '']) {
    expect(isLoopbackHost(host)).toBe(false);
  }
});
