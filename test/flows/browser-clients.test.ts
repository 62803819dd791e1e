/** The examples of the documentation that are pages: libraries in a real browser, over CORS, with rotating refresh tokens. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { examplesFor, type Examples } from '../support/examples.ts';
import { aUser, PASSWORD } from '../support/fixtures.ts';
import type { User } from '../../src/store/users.ts';
import { openVisit, signIn, type Visit } from '../support/journey.ts';
import { postTo, summary } from '../support/visitor.ts';

/** What the page's own code could do with its manager. */
const FOR_THE_TEST = `
globalThis.manager = manager;
globalThis.userinfo = async () => {
  const headers = { authorization: 'Bearer ' + (await manager.getUser()).access_token };
  return (await fetch(await manager.metadataService.getUserInfoEndpoint(), { headers })).json();
};`;

let deployment: Deployment;
let examples: Examples;
let browser: Browser;
let visit: Visit;
const origins = new Map<string, string>();
const pages: Server[] = [];
stopServersAfterwards();
beforeAll(async () => {
  [browser, deployment] = await Promise.all([launchBrowser(), deploy()]);
  examples = examplesFor(deployment);
  await serve('oidc-client-ts', FOR_THE_TEST);
  await serve('react-oidc-context');
});
afterAll(async () => {
  await browser?.close();
  await examples?.close();
  for (const server of pages) server.closeAllConnections();
  for (const server of pages) server.close();
});
afterEach(async () => {
  await visit.context.close();
  expect(visit.problems, 'what the console said').toEqual([]);
});

/** A front end's server: one page with the example's script. */
async function serve(name: string, addition?: string): Promise<void> {
  const example = await examples.save(name, { paths: ['/'] });
  const script = await examples.bundle(example, addition);
  const server = createServer((request, response) => {
    const isScript = request.url === '/app.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    const head = '<link rel="icon" href="data:,"><script type="module" src="/app.js"></script>';
    response.end(isScript ? script : `<!doctype html><title>${name}</title>${head}<div id="root"></div>`);
  });
  server.listen(Number(new URL(example.origin).port), 'localhost');
  await once(server, 'listening');
  pages.push(server);
  origins.set(name, `${example.origin}/`);
}

/** Somebody new opens the page, signs in, allows, and returns to it. */
async function arrive(name: string): Promise<{ page: Page; user: User }> {
  visit = await openVisit(browser);
  const user = await aUser(deployment.test);
  const { page } = visit;
  await page.goto(origins.get(name)!);
  await page.click('text=Sign in');
  await signIn(page, { username: user.username, password: PASSWORD });
  await page.click('button[value=approve]');
  await page.waitForSelector('text=Hello Ada Lovelace');
  expect(page.url()).toBe(origins.get(name));
  return { page, user };
}

/** Signs out at the page and at Postern, and returns to the page. */
async function leave(page: Page, name: string): Promise<void> {
  await page.click('text=Sign out');
  await page.waitForSelector('text=Sign in');
  expect(page.url()).toBe(origins.get(name));
}

interface Tokens {
  access_token: string;
  refresh_token: string;
  profile: Record<string, unknown>;
}
/** What an expression of the page is worth. */
const evaluate = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression);

test('oidc-client-ts signs a person in, renews without a frame, asks userinfo and signs out', async () => {
  const { page, user } = await arrive('oidc-client-ts');
  const { sub, username, email } = user;
  const first = await evaluate<Tokens>(page, 'manager.getUser()');
  expect(first.profile).toMatchObject({ sub, preferred_username: username, email });

  const second = await evaluate<Tokens>(page, 'manager.signinSilent()');
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(second.access_token).not.toBe(first.access_token);
  expect(second.profile).toMatchObject({ sub });
  expect(page.frames()).toHaveLength(1);
  expect(await evaluate(page, 'userinfo()')).toMatchObject({ sub, name: 'Ada Lovelace', email });

  await leave(page, 'oidc-client-ts');
  expect(await evaluate(page, 'manager.getUser()')).toBeNull();
});

test('oidc-client-ts revokes its tokens, which then refresh nothing', async () => {
  const { page } = await arrive('oidc-client-ts');
  const { refresh_token } = await evaluate<Tokens>(page, 'manager.getUser()');
  await evaluate(page, 'manager.revokeTokens()');
  const form = { grant_type: 'refresh_token', client_id: 'demo-spa-oidc-client-ts', refresh_token };
  expect(summary(await postTo(`${deployment.issuer}/token`, form))).toBe('400 invalid_grant');
});

test('react-oidc-context signs a person in, and out again', async () => {
  const { page } = await arrive('react-oidc-context');
  await leave(page, 'react-oidc-context');
  expect(await page.getByText('Hello').count()).toBe(0);
});
