import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html, raw, safeUrl, type Interpolation } from '../../src/views/html.ts';

// By another name, so that prettier leaves these templates alone.
const tag = html;
const text = (page: unknown) => String(page);

describe('html', () => {
  test('escapes what is interpolated, in text and in attributes', () => {
    const hostile = `<script>"&'</script>`;
    expect(text(tag`<p title="${hostile}">${hostile}</p>`)).toBe(
      '<p title="&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;">&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</p>',
    );
  });

  test('leaves no character of any string that could end a text or a quoted attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const inside = text(tag`${value}`);
        expect(inside).not.toMatch(/[<>"']/);
        expect(inside.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });

  test('keeps Html as it is, and joins lists of it', () => {
    const items = ['a', '<b>'].map((item) => tag`<li>${item}</li>`);
    expect(text(tag`<ul>${items}</ul>`)).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
  });

  test('writes numbers, and nothing for null, undefined and false', () => {
    expect(text(tag`${0}|${null}|${undefined}|${false}|${[1, [2, null]]}`)).toBe('0||||12');
  });

  test.each([
    ['true', true],
    ['an object', {}],
    ['an object that says it is a string', { toString: () => '<b>' }],
    ['an object with the prototype of Html', Object.create(Object.getPrototypeOf(tag``) as object)],
    ['a function', () => ''],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['a string object', new String('<b>')],
    ['any of these in a list', [{}]],
  ])('refuses %s', (_, value) => {
    expect(() => tag`<p>${value as Interpolation}</p>`).toThrow(TypeError);
  });

  test('refuses an unquoted attribute, a handler, a style, and text inside script and style', () => {
    const value = 'x';
    expect(() => tag`<p title=${value}></p>`).toThrow(TypeError);
    expect(() => tag`<p title='${value}'></p>`).toThrow(TypeError);
    expect(() => tag`<p onclick="${value}"></p>`).toThrow(TypeError);
    expect(() => tag`<p style="color: ${value}"></p>`).toThrow(TypeError);
    for (const element of ['script', 'style']) {
      const strings = Object.assign([`<${element} nonce="n">const x = `, ''], { raw: [] });
      expect(() => html(strings, value)).toThrow(TypeError);
      expect(text(html(strings, raw('1 < 2')))).toContain('1 < 2');
    }
  });

  test('refuses markup inside an attribute', () => {
    expect(() => tag`<p title="${tag`<b></b>`}"></p>`).toThrow(TypeError);
  });

  test('sends every URL attribute through safeUrl', () => {
    const url = 'javascript:alert(1)';
    expect(text(tag`<a href="${url}"></a>`)).toBe('<a href="#"></a>');
    expect(text(tag`<form action="${url}"></form>`)).toBe('<form action="#"></form>');
    expect(text(tag`<img src="${url}" />`)).toBe('<img src="#" />');
    expect(text(tag`<button formaction="${url}"></button>`)).toBe('<button formaction="#"></button>');
  });
});

describe('safeUrl', () => {
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    '\u0000javascript:alert(1)',
    '\u0001\u001F javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\r\nscript:alert(1)',
    'javascript\n:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:msgbox(1)',
    'blob:https://example.test/1',
    'file:///etc/passwd',
    'com.example.app:/callback',
    'https://exa\nmple.test/',
    'https:\\\\example.test',
    'http://[',
  ])('gives # for %j', (url) => {
    expect(text(safeUrl(url))).toBe('#');
  });

  test.each(['https://example.test/a?b=c#d', 'http://localhost:3000/', '/interaction/1', '?a=b', '#password', ''])(
    'keeps %j',
    (url) => {
      expect(text(safeUrl(url))).toBe(url);
    },
  );

  test('escapes what it keeps', () => {
    expect(text(safeUrl(`https://example.test/?a=1&b="'`))).toBe('https://example.test/?a=1&amp;b=&quot;&#39;');
  });

  test('allows the scheme that a native application registered, in an attribute too', () => {
    const url = safeUrl('com.example.app:/callback', ['com.example.app:']);
    expect(text(tag`<a href="${url}"></a>`)).toBe('<a href="com.example.app:/callback"></a>');
  });
});
