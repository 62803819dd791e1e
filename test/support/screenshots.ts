/**
 * `node test/support/screenshots.ts [directory=screenshots]` starts a development server and takes a picture of every page that one
 * person meets there, and of the sample pages of test/views, which are every page in every state, also with what strangers may put
 * there; with `--samples` of these alone. Each in light and dark, as narrow as WCAG 1.4.10 asks (320 px, which is 1280 px at 400%
 * zoom) and wide; the samples in Arabic as well, in light. It fails where a page scrolls sideways.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { openVisit, tour } from './journey.ts';
import type { Language } from '../../src/languages/index.ts';
import { frameIn } from './sample-pages/frame.ts';
import { FLEETING, headersOf, pages, samplePages } from './sample-pages.ts';
import { startServer, stopServers, temporaryDirectory } from './server.ts';

const { values, positionals } = parseArgs({ options: { samples: { type: 'boolean' } }, allowPositionals: true });
const directory = positionals[0] ?? 'screenshots';
const widths = [320, 1280];
const schemes = ['light', 'dark'] as const;
let taken = 0;

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
  taken += 1;
}

async function complainIfTooWide(page: Page, name: string): Promise<void> {
  const [wide, width] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  if (wide <= width) return;
  console.error(`${name} is ${wide} px wide at ${width} px`);
  process.exitCode = 1;
}

/** A server of its own for each picture book: what a person did before shows on the pages. */
async function runningServer(browser: Browser): Promise<void> {
  for (const colorScheme of schemes) {
    for (const width of widths) {
      const env = { DATA_DIR: join(temporaryDirectory(), 'data') };
      const server = await startServer({ command: 'dev', env });
      const visit = await openVisit(browser, { colorScheme, width });
      await tour(visit, server.issuer, async (name) => {
        await complainIfTooWide(visit.page, name);
        await take(visit.page, `${name}-${colorScheme}-${width}`);
      });
      await visit.context.close();
      await server.stop();
    }
  }
}

async function samples(browser: Browser): Promise<void> {
  for (const colorScheme of schemes) {
    for (const width of widths) await samplesIn(browser, 'en', { colorScheme, width });
  }
  for (const width of widths) await samplesIn(browser, 'ar', { colorScheme: 'light', width });
}

async function samplesIn(browser: Browser, lang: Language, look: { colorScheme: 'light' | 'dark'; width: number }) {
  const drawn = lang === 'en' ? pages : samplePages(frameIn(lang));
  // Without JavaScript, so that the form_post bridge stays where it is; the script's part is in test/views.
  for (const javaScriptEnabled of [false, true]) {
    const { page, context } = await openVisit(browser, { ...look, javaScriptEnabled });
    await page.route('**', (route) => {
      const name = new URL(route.request().url()).pathname.slice(1);
      return route.fulfill({ headers: headersOf(name), body: String(drawn[name]) });
    });
    for (const name of Object.keys(drawn).filter((each) =>
      javaScriptEnabled ? !FLEETING.includes(each) : each === 'form-post',
    )) {
      await page.goto(`https://id.example.test/${name}`);
      await take(page, `sample-${name}-${lang}-${look.colorScheme}-${look.width}`);
      if (javaScriptEnabled) await complainIfTooWide(page, name);
    }
    await context.close();
  }
}

mkdirSync(directory, { recursive: true });
const browser = await launchBrowser();
try {
  if (values.samples !== true) await runningServer(browser);
  await samples(browser);
} finally {
  await browser.close();
  await stopServers();
}
console.log(`${taken} pictures in ${directory}/`);
