/** Every page of a running server, as one person meets them, in light and dark, wide and narrow. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, launchBrowser } from '../support/browser.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { PNG } from '../support/images.ts';
import { openVisit, tour } from '../support/journey.ts';

let browser: Browser;
let deployment: Deployment;
stopServersAfterwards();
beforeAll(async () => {
  [browser, deployment] = await Promise.all([launchBrowser(), deploy({ command: 'dev' })]);
  // As if it had been fetched: the pages of this client show it.
  const { db } = deployment.test.deps;
  const image = { hash: 'l'.repeat(43), media_type: 'image/png', image: PNG };
  await db
    .insertInto('client_logos')
    .values({ client_id: 'demo-web', attempts: 0, ...image })
    .execute();
  await db.updateTable('clients').set({ logo_hash: image.hash }).where('client_id', '=', 'demo-web').execute();
});
afterAll(() => browser?.close());

test.each([
  ['light', 1280],
  ['dark', 320],
] as const)(
  'WCAG 2.2 AA: axe finds nothing in %s at %i px, nothing scrolls sideways, the console is silent',
  async (colorScheme, width) => {
    const visit = await openVisit(browser, { colorScheme, width });
    const seen: Record<string, number> = {};
    let logos = 0;
    await tour(visit, deployment.issuer, async (name, status) => {
      seen[name] = status;
      expect(await axeViolations(visit.page), name).toEqual([]);
      expect(await visit.page.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
      expect(visit.problems, name).toEqual([]);
      // One pixel wide, if it loaded; a policy in its way would also be a problem above.
      const shown = await visit.page.evaluate('[...document.querySelectorAll(".logo")].map((e) => e.naturalWidth)');
      expect([[], [1]], name).toContainEqual(shown);
      logos += (shown as number[]).length;
    });
    expect(logos).toBeGreaterThan(5);
    await visit.context.close();
    // Problems are answered 400 at the URL where they happened.
    for (const [name, status] of Object.entries(seen)) {
      const expected = name === 'error-not-found' ? 404 : /problem|error/.test(name) ? 400 : 200;
      expect(status, name).toBe(expected);
    }
  },
);
