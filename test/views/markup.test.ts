/** Every sample page as a validator of HTML reads it. */
import { HtmlValidate, StaticConfigLoader } from 'html-validate';
import { expect, test } from 'vitest';
import { pages } from '../support/sample-pages.ts';

const validator = new HtmlValidate(
  new StaticConfigLoader({
    extends: ['html-validate:recommended'],
    rules: {
      // How markup is written down: Prettier's business, and of templates that leave lines empty.
      'doctype-style': 'off',
      'no-trailing-whitespace': 'off',
      'void-style': ['error', { style: 'selfclose' }],
      // The standard's defaults, submit and text, are what is meant.
      'no-implicit-button-type': 'off',
      'no-implicit-input-type': 'off',
      // Scopes are part of ids, and have colons: HTML forbids white space alone.
      'valid-id': ['error', { relaxed: true }],
      // A section would have no scrollbar: what scrolls is the text.
      'prefer-native-element': ['error', { exclude: ['region'] }],
    },
  }),
);

/** What is no finding: the form of a passkey is hidden and sent by the script that fills it in. */
const isSentByScript = ({ ruleId, selector }: { ruleId: string; selector: string | null }): boolean =>
  ruleId === 'wcag/h32' && (selector ?? '').endsWith('#passkey-form');
/** Names as long as they may be make long titles, and hostile ids that nobody can have. */
const OF_STRANGERS = ['long-title', 'valid-id', 'attribute-allowed-values'];

test.each(Object.entries(pages))('html-validate finds nothing on %s', (name, page) => {
  const { results } = validator.validateStringSync(String(page));
  const found = results
    .flatMap(({ messages }) => messages)
    .filter((message) => !isSentByScript(message))
    .filter(({ ruleId }) => !(/-(?:hostile|long)$/.test(name) && OF_STRANGERS.includes(ruleId)))
    .map(({ ruleId, message, selector }) => `${ruleId}: ${message} at ${selector}`);
  expect(found).toEqual([]);
});
