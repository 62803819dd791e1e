import { describe, expect, test } from 'vitest';
import { saidIn } from '../../src/languages/translations.ts';

describe('OpenID Connect Registration §2.1: what is said in several languages, as somebody is told it', () => {
  test.each([
    ['in just that language, whatever the case of its tag', { 'de-AT': 'Servus', DE: 'Hallo' }, 'Hello', 'Hallo'],
    ['in one of its kind', { fr: 'Bonjour', 'de-AT': 'Servus' }, 'Hello', 'Servus'],
    ['without a language', { fr: 'Bonjour', en: 'Hi' }, 'Hello', 'Hello'],
    ['in English where nothing is said without one', { fr: 'Bonjour', en: 'Hi' }, null, 'Hi'],
    ['whatever there is', { fr: 'Bonjour' }, undefined, 'Bonjour'],
    ['nothing', {}, undefined, undefined],
  ])('%s', (_how, translations, untagged, expected) => {
    expect(saidIn('de', translations, untagged)).toBe(expected);
  });

  test('Chinese of a region is read by who reads simplified Chinese, and by nobody else', () => {
    expect(saidIn('zh-Hans', { 'zh-CN': '笔记' }, 'Notes')).toBe('笔记');
    expect(saidIn('ja', { 'zh-CN': '笔记' }, 'Notes')).toBe('Notes');
  });
});
