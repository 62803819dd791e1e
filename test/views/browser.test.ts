import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings, launchBrowser, loadAxe } from '../support/browser.ts';
import { isLanguage, type Language } from '../../src/languages/index.ts';
import { frameIn } from '../support/sample-pages/frame.ts';
import { FLEETING, headersOf, pages, samplePages } from '../support/sample-pages.ts';

const origin = 'https://id.example.test';
const names = Object.keys(pages).filter((name) => !FLEETING.includes(name));
let browser: Browser;
const rendered = new Map<Language, typeof pages>([['en', pages]]);
/** The samples in a language, made when first asked for. */
function spoken(lang: Language): typeof pages {
  const present = rendered.get(lang) ?? samplePages(frameIn(lang));
  rendered.set(lang, present);
  return present;
}

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

type Options = { colorScheme?: 'light' | 'dark'; width?: number; javaScriptEnabled?: boolean };

/** A page on which every path of our origin is a sample page, under the headers of the real one. */
async function open({ colorScheme = 'light', width = 320, javaScriptEnabled = true }: Options = {}): Promise<Page> {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 256 }, javaScriptEnabled });
  const page = await context.newPage();
  await page.route('**', (route) => {
    const url = new URL(route.request().url());
    // Elsewhere are the applications.
    if (url.origin !== origin) return route.fulfill({ contentType: 'text/html', body: '<title>ok</title>' });
    const name = url.pathname.slice(1);
    const lang = url.searchParams.get('lang') ?? 'en';
    const page = isLanguage(lang) ? spoken(lang)[name] : undefined;
    return route.fulfill({ headers: headersOf(name), body: String(page ?? '<title>ok</title>') });
  });
  return page;
}

/** A page as axe sees it: those that leave by themselves stay. */
const staying = (name: string, page: unknown): string =>
  FLEETING.includes(name)
    ? String(page).replaceAll(/<meta http-equiv="refresh".*?>|<script.*?<\/script>/gs, '')
    : String(page);

// Set into one document, which keeps axe: of the time a page takes loading is most. Colours are all that differs in the dark. Arabic
// is read from right to left, and German is the widest; what strangers wrote is the same in every language.
test('axe finds nothing on any page in light, in dark and in Arabic at 320 px, and none scrolls sideways', async () => {
  const context = await browser.newContext({ viewport: { width: 320, height: 256 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.setContent('<title>axe</title>');
  await loadAxe(page);
  const width = () => page.evaluate('document.documentElement.scrollWidth');
  for (const name of Object.keys(pages)) {
    const set = (html: unknown) => page.setContent(staying(name, html), { waitUntil: 'commit' });
    await set(pages[name]);
    expect(await axeFindings(page), name).toEqual([]);
    expect(await width(), name).toBe(320);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFindings(page, ['color-contrast', 'link-in-text-block']), `${name} in the dark`).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    if (/-(?:hostile|long)$|^(?:demo|admin-docs|dev-)/.test(name)) continue;
    await set(spoken('de')[name]);
    expect(await width(), `${name} in German`).toBe(320);
    await set(spoken('ar')[name]);
    expect(await axeFindings(page), `${name} in Arabic`).toEqual([]);
    expect(await width(), `${name} in Arabic`).toBe(320);
  }
  await context.close();
});

test('under the CSP nothing is refused, no handler or style attribute exists, and no hostile string runs', async () => {
  const page = await open({ width: 1280 });
  const refused: string[] = [];
  page.on('console', (message) => refused.push(message.text()));
  page.on('pageerror', (error) => refused.push(String(error)));
  page.on('dialog', (dialog) => {
    refused.push(dialog.message());
    void dialog.dismiss();
  });
  for (const name of names) {
    await page.goto(`${origin}/${name}`);
    const inline = await page.evaluate(`[...document.querySelectorAll('*')].flatMap((element) =>
      element.getAttributeNames().filter((attribute) => attribute === 'style' || attribute.startsWith('on')))`);
    expect(inline, name).toEqual([]);
    // What came from strangers made no element: no page has more scripts than its own one.
    expect(await page.evaluate('document.scripts.length'), name).toBeLessThanOrEqual(1);
    expect(await page.evaluate('getComputedStyle(document.querySelector("main")).maxWidth'), name).not.toBe('none');
  }
  expect(refused).toEqual([]);
  await page.context().close();
});

test('controls are at least 44 px high', async () => {
  const page = await open();
  for (const name of [
    'login-problem',
    'consent',
    'select-account-several',
    'logout-several',
    'account',
    'demo',
    'error',
  ]) {
    await page.goto(`${origin}/${name}`);
    const low =
      await page.evaluate(`[...document.querySelectorAll('button, .button, input:not([type=hidden]), summary')]
      .filter((element) => element.getBoundingClientRect().height < 44).map((element) => element.outerHTML)`);
    expect(low, name).toEqual([]);
  }
  await page.context().close();
});

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  test('Enter in a field signs in, Cancel needs no fields', async () => {
    const page = await open({ javaScriptEnabled });
    const posted = async (act: () => Promise<void>) => {
      await page.goto(`${origin}/login`);
      const [request] = await Promise.all([page.waitForRequest((each) => each.method() === 'POST'), act()]);
      return request.postDataJSON() as Record<string, string>;
    };
    const signIn = await posted(async () => {
      await page.fill('#username', 'ada');
      await page.fill('#password', 'postern-demo');
      await page.press('#username', 'Enter');
    });
    expect(signIn).toEqual({ form_token: 'form-token', username: 'ada', password: 'postern-demo', action: 'login' });
    expect(await posted(() => page.click('#login-cancel'))).toMatchObject({ action: 'cancel' });
    await page.context().close();
  });

  test('the account that signs in again can be filled in by programs, and is not in the way of people', async () => {
    const page = await open({ javaScriptEnabled });
    await page.goto(`${origin}/login-again`);
    await page.fill('#username', 'ada');
    expect(await page.getByRole('textbox').count()).toBe(1);
    await page.context().close();
  });

  test('form_post goes on: by itself, or with its button', async () => {
    const page = await open({ javaScriptEnabled });
    const request = page.waitForRequest((each) => each.method() === 'POST');
    await page.goto(`${origin}/form-post`, { waitUntil: 'commit' });
    if (!javaScriptEnabled) await page.click('button');
    expect((await request).url()).toBe('https://notes.example.test/callback');
    expect((await request).postDataJSON()).toMatchObject({ code: 'spl-code', submit: 'not a method' });
    await page.context().close();
  });
});

test.each([true, false])(
  'a problem is focused, and is a link to its field (JavaScript: %s)',
  async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled });
    await page.goto(`${origin}/login-problem`);
    await page.locator('#problem:focus').waitFor();
    await page.click('#problem a');
    await page.locator('#password:focus').waitFor();
    expect(await page.getAttribute('#password', 'aria-describedby')).toBe('password-problem');
    await page.context().close();
  },
);

test.each([
  ['second-factor', 'otp'],
  ['second-factor-recovery-only', 'recovery-code'],
  ['mail-code', 'otp'],
  ['account-email-code', 'otp'],
  ['second-factor-recovery', 'problem'],
  ['account-email-code-problem', 'problem'],
])(
  'by keys alone: on %s the cursor is in #%s, and Tab reaches every control in the order of the page',
  async (name, first) => {
    const page = await open();
    await page.goto(`${origin}/${name}`);
    await page.locator(`#${first}:focus`).waitFor();
    const reached = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')]
      .filter((element) => element.checkVisibility() && element.tabIndex === 0)
      .filter((element) => document.activeElement.compareDocumentPosition(element) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY))
      .map((element) => element.id || element.textContent.trim())`,
    );
    const visited: string[] = [];
    for (const _ of reached) {
      await page.keyboard.press('Tab');
      visited.push(await page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()'));
    }
    expect(visited).toEqual(reached);
    expect(reached.slice(-2)).toEqual(['language', 'language-submit']);
    const [posted] = await Promise.all([
      page.waitForRequest((each) => each.method() === 'POST'),
      page.keyboard.press('Enter'),
    ]);
    expect(new URL(posted.url()).pathname).toBe('/language');
    await page.context().close();
  },
);

// What a browser would ask its authenticator for is answered at once: the keys are what is tried here.
const AUTHENTICATOR = `PublicKeyCredential.parseCreationOptionsFromJSON = (json) => json;
navigator.credentials.create = () => Promise.resolve({ toJSON: () => ({ id: 'made' }) });`;
const made = { passkey: '{"id":"made"}', action: 'create' };

test.each<[page: string, typed: Array<[id: string, text: string]>, asked: string, sent: Record<string, string>]>([
  ['account-authenticator', [['otp', '123456']], 'POST /account/authenticator', { otp: '123456' }],
  [
    'second-factor-setup',
    [['otp', '123456']],
    'POST /interaction/i1/second-factor',
    { otp: '123456', action: 'setup' },
  ],
  ['second-factor-setup', [['passkey-create', '']], 'POST /interaction/i1/second-factor', made],
  ['second-factor-setup', [['second-factor-later', '']], 'POST /interaction/i1/second-factor', { action: 'later' }],
  [
    'account-passkeys',
    [
      ['passkey-name', 'Phone'],
      ['passkey-create', ''],
    ],
    'POST /account/passkeys',
    made,
  ],
  ['account-recovery-codes', [['recovery-codes-renew', '']], 'POST /account/recovery-codes', {}],
  [
    'second-factor-codes',
    [
      ['recovery-codes', ''],
      ['recovery-download', ''],
    ],
    'POST /interaction/i1/second-factor',
    { action: 'download' },
  ],
  [
    'dev-theme',
    [
      ['theme-name', ''],
      ['theme-color', ''],
      ['theme-color_dark', ''],
      ['theme-try', ''],
    ],
    'GET /dev-theme',
    {},
  ],
])('by keys alone: on %s Tab leads to %j, and Enter sends %s', async (name, typed, asked, sent) => {
  const page = await open();
  await page.addInitScript(AUTHENTICATOR);
  await page.goto(`${origin}/${name}`);
  for (const [id, text] of typed) {
    // No page here has as many controls: whatever Tab does not reach fails below.
    for (let tabs = 0; tabs < 40 && (await page.evaluate('document.activeElement.id')) !== id; tabs += 1) {
      await page.keyboard.press('Tab');
    }
    expect(await page.evaluate('document.activeElement.id')).toBe(id);
    await page.keyboard.type(text);
  }
  const [request] = await Promise.all([
    page.waitForRequest((each) => each.isNavigationRequest()),
    page.keyboard.press('Enter'),
  ]);
  expect(`${request.method()} ${new URL(request.url()).pathname}`).toBe(asked);
  expect(request.postDataJSON() ?? {}).toMatchObject(sent);
  await page.context().close();
});

test('Show and Hide come with JavaScript, and a shown password is hidden again on submit', async () => {
  const page = await open();
  await page.goto(`${origin}/login`);
  await page.fill('#username', 'ada');
  await page.fill('#password', 'x');
  await page.getByRole('button', { name: 'Show password' }).click();
  expect(await page.getAttribute('#password', 'type')).toBe('text');
  await page.evaluate('document.forms[0].addEventListener("submit", (event) => event.preventDefault())');
  await page.click('#login-submit');
  expect(await page.getAttribute('#password', 'type')).toBe('password');
  await page.context().close();
});
