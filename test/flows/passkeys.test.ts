/** Passkeys in a real Chromium with its virtual authenticator, at a running server. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { axeViolations, launchBrowser } from '../support/browser.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, authorizationUrl, aUser, PASSWORD, type AClient } from '../support/fixtures.ts';
import { openVisit, signIn, startApplication, type Application, type Visit } from '../support/journey.ts';

let browser: Browser;
let deployment: Deployment;
let issuer: string;
let visit: Visit;
let application: Application;
let strict: AClient;
stopServersAfterwards();
beforeAll(async () => {
  application = await startApplication();
  const prepare = async (at: TestApp): Promise<void> => {
    for (const username of ['carol', 'dora']) await aUser(at, { username });
    const redirect_uris = [application.callback];
    strict = await aClient(at, { skip_consent: true, require_second_factor: true, redirect_uris });
  };
  [browser, deployment] = await Promise.all([launchBrowser(), deploy({ command: 'dev', prepare })]);
  ({ issuer } = deployment);
});
afterAll(async () => {
  await browser?.close();
  await application?.close();
});
afterEach(async () => {
  await visit.context.close();
  expect(visit.problems, 'what the console said').toEqual([]);
});

/** An authenticator of a device that makes sure who uses it, without anybody having to do something. */
async function authenticator(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  // Only where a test is about it does the page wait to be filled in: the authenticator would answer before any button.
  await page.addInitScript(`if (!location.search.includes('filled-in') && window.PublicKeyCredential)
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;`);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}
const password = (page: Page, username: string): Promise<void> => signIn(page, { username, password: PASSWORD });

test('a passkey is made on the account page, signs in at the button and as the page is filled in, and is removed', async () => {
  visit = await openVisit(browser);
  const { page, context } = visit;
  const { cdp, authenticatorId } = await authenticator(page);
  await page.goto(`${issuer}/login`);
  // Nothing to fill in yet: it waits, and the password goes on working.
  await password(page, 'carol');
  await page.goto(`${issuer}/account/passkeys`);
  expect(await axeViolations(page)).toEqual([]);
  await page.fill('#passkey-name', 'Work laptop');
  await page.press('#passkey-name', 'Enter');
  await page.waitForSelector('#done');
  expect(await page.textContent('h2 bdi')).toBe('Work laptop');
  // On a device that has one, no second one is made.
  await page.click('#passkey-create');
  await page.waitForSelector('#passkey-already:visible');

  // At the button.
  await context.clearCookies();
  await page.goto(`${issuer}/login`);
  await page.click('#passkey-signin');
  await page.waitForURL(`${issuer}/account`);
  expect(await page.textContent('main')).toContain('carol');

  // As it is filled in: where the authenticator answers at once the page signs in by itself.
  await context.clearCookies();
  await page.goto(`${issuer}/login?filled-in`, { waitUntil: 'commit' });
  await page.waitForURL(`${issuer}/account`);

  await page.goto(`${issuer}/account/passkeys`);
  expect(await page.textContent('#passkeys')).toContain('Last used');
  await page.click('#passkeys summary');
  expect(await axeViolations(page)).toEqual([]);
  await page.click('#passkeys button[value=remove]');
  await page.waitForSelector('#done');
  expect(await page.textContent('#passkeys')).toContain('You have no passkeys yet');
  // Where browsers can be told, its keeper has forgotten it.
  const canSignal = await page.evaluate(`'signalAllAcceptedCredentials' in PublicKeyCredential`);
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  expect(canSignal === true ? credentials : []).toEqual([]);
});

test('whoever needs a second factor and has none makes a passkey on the way, keeps the codes, and signs in with it', async () => {
  visit = await openVisit(browser);
  const { page, context } = visit;
  await authenticator(page);
  const { redirect_uri } = strict;
  const arrives = () => page.waitForURL((url) => url.href.startsWith(redirect_uri));
  await page.goto(authorizationUrl(issuer, strict));
  await password(page, 'dora');
  await page.waitForURL(/second-factor/);
  await page.click('#passkey-create');
  await page.waitForSelector('#recovery-codes');
  expect((await page.textContent('#recovery-codes'))!.trim().split('\n')).toHaveLength(10);
  await page.click('#second-factor-continue');
  await arrives();
  expect(new URL(page.url()).searchParams.get('code')).toBeTruthy();

  await context.clearCookies();
  await page.goto(authorizationUrl(issuer, strict));
  await page.click('#passkey-signin');
  await arrives();
  expect(new URL(page.url()).searchParams.get('code')).toBeTruthy();
});
