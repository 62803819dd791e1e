/**
 * `node test/support/screenshots.ts [directory=screenshots]` draws every page in light and dark, as narrow as WCAG
 * 1.4.10 asks (320 px, which is 1280 px at 400% zoom) and wide, and fails where one scrolls sideways.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser } from './browser.ts';
import { pageHeaders, pages } from './sample-pages.ts';

const directory = process.argv[2] ?? 'screenshots';
mkdirSync(directory, { recursive: true });
const browser = await launchBrowser();

for (const colorScheme of ['light', 'dark'] as const) {
  for (const viewport of [
    { width: 320, height: 640 },
    { width: 1280, height: 800 },
  ]) {
    // Without JavaScript, so that the form_post bridge stays where it is; the script's part is in test/views.
    for (const javaScriptEnabled of [false, true]) {
      const context = await browser.newContext({ colorScheme, viewport, javaScriptEnabled });
      const page = await context.newPage();
      await page.route('**', (route) =>
        route.fulfill({ headers: pageHeaders, body: String(pages[new URL(route.request().url()).pathname.slice(1)]) }),
      );
      for (const name of Object.keys(pages).filter((each) => javaScriptEnabled !== (each === 'form-post'))) {
        await page.goto(`https://id.example.test/${name}`);
        await page.screenshot({
          path: join(directory, `${name}-${colorScheme}-${viewport.width}.png`),
          fullPage: true,
        });
        if (!javaScriptEnabled) continue;
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (width > viewport.width) {
          console.error(`${name} is ${width} px wide at ${viewport.width} px`);
          process.exitCode = 1;
        }
      }
      await context.close();
    }
  }
}
await browser.close();
console.log(`${Object.keys(pages).length} pages in ${directory}/`);
