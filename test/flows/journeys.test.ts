/** People in a real Chromium at a running server, each journey with JavaScript and without. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { axeViolations, launchBrowser } from '../support/browser.ts';
import { deploy, stopServersAfterwards } from '../support/deployment.ts';
import { aClient, authorizationUrl, credentials, type AClient } from '../support/fixtures.ts';
import { ADA, BOB, openVisit, signIn, startApplication, type Application, type Visit } from '../support/journey.ts';
import { until } from '../support/postgres-process.ts';
import type { Server } from '../support/server.ts';
import { postTo } from '../support/visitor.ts';

let browser: Browser;
let server: Server;
let application: Application;
let client: AClient;
let visit: Visit;
stopServersAfterwards();
beforeAll(async () => {
  application = await startApplication();
  const prepare = async (test: TestApp): Promise<void> => {
    client = await aClient(test, {
      client_name: 'Notes',
      redirect_uris: [application.callback],
      post_logout_redirect_uris: [application.bye],
      frontchannel_logout_uri: application.frontchannel,
    });
  };
  const [launched, deployment] = await Promise.all([launchBrowser(), deploy({ command: 'dev', prepare })]);
  browser = launched;
  server = deployment.servers[0]!;
});
afterAll(async () => {
  await browser?.close();
  await application?.close();
});
afterEach(async () => {
  const { problems } = visit;
  await visit.context.close();
  expect(problems, 'what the console said').toEqual([]);
});

const requested = (parameters: Record<string, string> = {}): string =>
  authorizationUrl(server.issuer, client, parameters);

/** The parameters the application was called with last. */
const answer = (): Record<string, string> => application.called.at(-1)!.parameters;

/** Sends its token request. */
const redeem = () => {
  const { redirect_uri } = client;
  const fields = { grant_type: 'authorization_code', code: answer()['code'], redirect_uri, ...credentials(client) };
  return postTo(`${server.issuer}/token`, fields);
};
/** What that is answered. */
const redemption = async (): Promise<number> => (await redeem()).status;

/** Somebody with a fresh browser. */
const somebody = (javaScriptEnabled: boolean) => {
  const open = async (): Promise<Visit> => (visit = await openVisit(browser, { javaScriptEnabled }));
  /** Goes to an authorization request and signs in. */
  const arrive = async (parameters: Record<string, string> = {}, person = ADA): Promise<Visit> => {
    await open();
    await visit.page.goto(requested(parameters));
    await signIn(visit.page, person);
    return visit;
  };
  return { open, arrive };
};

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  const { open, arrive } = somebody(javaScriptEnabled);
  /** axe is a script. */
  const objections = async (page: Page): Promise<string[]> => (javaScriptEnabled ? axeViolations(page) : []);

  test('specification §Endpoints 1: the link of the banner leads through sign-in and consent to the decoded tokens', async () => {
    const { page } = await open();
    const link = server
      .output()
      .split('\n')
      .find((line) => line.includes('/authorize?'))!;
    await page.goto(link);
    expect(await page.title()).toMatch(/^Sign in to Demo Web App/);
    // Each of them goes this way for the first time, and so is asked.
    const [person, name] = javaScriptEnabled ? [ADA, 'Ada Lovelace'] : [BOB, 'Bob Noyce'];
    await signIn(page, person);
    await page.waitForSelector('#consent-approve');
    expect(await page.title()).toMatch(/^Allow access for Demo Web App/);
    await page.click('#consent-approve');
    await page.waitForURL(/\/demo\/callback/);
    expect(await page.textContent('h1')).toContain(`Signed in as ${name}`);
    const text = await page.textContent('main');
    for (const claim of ['at_hash', 'auth_time', '"aud": "demo-web"', `${person.username}@example.test`]) {
      expect(text).toContain(claim);
    }
    // The page is made of tokens that were redeemed: another visit to its address has no code to redeem.
    expect((await page.reload())?.status()).toBe(400);
  });

  test('RFC 6749 §4.1.2: an approval returns to the application with a code that works, the state and iss', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(answer()).toEqual({ code: expect.any(String), state: 'a state', iss: server.issuer });
    expect(await redemption()).toBe(200);
  });

  test('RFC 6749 §4.1.2.1: a refusal returns with access_denied, the state and iss, and no code', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.click('#consent-deny');
    await page.waitForURL(`${client.redirect_uri}**`);
    const { error_description, ...rest } = answer();
    expect(rest).toEqual({ error: 'access_denied', state: 'a state', iss: server.issuer });
    expect(error_description).toBeTruthy();
  });

  test('Cancel on the sign-in page returns with access_denied, and needs no fields', async () => {
    const { page } = await open();
    await page.goto(requested());
    await page.click('#login-cancel');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(answer()).toMatchObject({ error: 'access_denied', state: 'a state' });
  });

  test('a wrong password stays at its URL with status 400 and a summary; then the right one goes on', async () => {
    const { page } = await open();
    await page.goto(requested({ prompt: 'consent' }));
    const url = page.url();
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await signIn(page, { ...BOB, password: 'wrong' });
    expect((await answered).status()).toBe(400);
    expect(page.url()).toBe(url);
    expect(await page.title()).toMatch(/^Error: Sign in/);
    expect(await page.textContent('#problem h2')).toBe('There is a problem');
    expect(await page.inputValue('#username')).toBe('bob');
    expect(await page.inputValue('#password')).toBe('');
    const wrong = await page.textContent('#problem a');
    await signIn(page, { username: 'nobody', password: 'wrong' });
    // Who exists is nobody's business.
    expect(await page.textContent('#problem a')).toBe(wrong);
    await signIn(page, BOB);
    await page.waitForSelector('#consent-approve');
    expect(await page.textContent('main')).toContain('bob@example.test');
  });

  test('specification §Errors: an unregistered redirect URI gives an error page, and no way to go there', async () => {
    const { page } = await open();
    const there = 'https://elsewhere.example.test/callback';
    const shown = await page.goto(requested({ redirect_uri: there }));
    expect(shown?.status()).toBe(400);
    expect(await page.title()).toMatch(/^Error/);
    expect(await page.textContent('#error')).toBe('invalid_request');
    expect(await page.textContent('#error_description')).toMatch(/redirect_uri/);
    // In development it is named beside the registered ones, but it is no link.
    expect(await page.textContent('details')).toContain(there);
    expect(await page.locator(`a[href*="elsewhere"], form:not([action$="/language"])`).count()).toBe(0);
  });

  test('/login leads to /account, and /logout asks before it signs out', async () => {
    const { page } = await open();
    await page.goto(`${server.issuer}/account`);
    expect(page.url()).toBe(`${server.issuer}/login`);
    await signIn(page, { ...ADA, username: 'ada@example.test' });
    await page.waitForURL(`${server.issuer}/account`);
    await page.click('#account-logout');
    await page.click('#logout-cancel');
    await page.waitForURL(`${server.issuer}/account`);
    await page.click('#account-logout');
    expect(await page.textContent('main')).toContain('ada@example.test');
    await page.click('#logout-confirm');
    await page.waitForURL(`${server.issuer}/logout/done`);
    expect(await page.title()).toMatch(/^Signed out/);
    await page.goto(`${server.issuer}/account`);
    expect(page.url()).toBe(`${server.issuer}/login`);
  });

  test('OpenID Connect Core §3.1.2.1: prompt=select_account goes on as the one signed in, or as another', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    await page.goto(requested({ prompt: 'select_account' }));
    await page.click('#account-continue');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(answer()['code']).toBeTruthy();

    await page.goto(requested({ prompt: 'select_account consent' }));
    await page.click('#account-another');
    await signIn(page, BOB);
    await page.waitForSelector('#consent-approve');
    expect(await page.textContent('main')).toContain('bob@example.test');
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);

    // Both are signed in now, Bob before Ada.
    await page.goto(requested({ prompt: 'select_account' }));
    expect(await page.textContent('#account-continue')).toContain('bob@example.test');
    expect(await objections(page)).toEqual([]);
    await page.click('#account-2');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(await redemption()).toBe(200);
    await page.goto(`${server.issuer}/account`);
    expect(await page.textContent('.who')).toContain('ada@example.test');
    await page.click('#account-2');
    expect(await page.textContent('.who')).toContain('bob@example.test');
    await page.click('#account-logout');
    await page.click('#logout-all');
    expect(await page.textContent('#logout-told')).toContain('Notes');
    await page.goto(`${server.issuer}/account`);
    expect(page.url()).toBe(`${server.issuer}/login`);
  });

  test('Front-Channel Logout §3: the application is told in a frame, and the way back waits until it is', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    const id_token = String((await redeem()).json['id_token']);
    const sent = { id_token_hint: id_token, post_logout_redirect_uri: application.bye, state: `a b&c="d';url=/x` };
    const before = application.posted.length;
    const release = application.hold();
    try {
      await page.goto(`${server.issuer}/logout?${new URLSearchParams(sent).toString()}`, { waitUntil: 'commit' });
      await until('the application is told', () => application.posted.length > before);
      await page.waitForSelector('#logout-continue');
      expect(page.url()).toMatch(/\/logout\/done\?sign_out=[\w-]+$/);
      expect(await objections(page)).toEqual([]);
    } finally {
      release();
    }
    await page.waitForURL(`${application.bye}**`);
    expect(page.url()).toBe(new URL(`${application.bye}?state=${encodeURIComponent(sent.state)}`).href);
    const { sid } = JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString()) as { sid: string };
    expect(application.posted.slice(before)).toEqual([{ iss: server.issuer, sid }]);
  });

  test('OAuth 2.0 Form Post Response Mode §2: the answer is posted to the application', async () => {
    const { page } = await arrive({ prompt: 'consent', response_mode: 'form_post' });
    await page.click('#consent-approve');
    if (!javaScriptEnabled) await page.click('#form-post button');
    await page.waitForURL(client.redirect_uri);
    expect(application.called.at(-1)!.method).toBe('POST');
    expect(answer()).toEqual({ code: expect.any(String), state: 'a state', iss: server.issuer });
    expect(await redemption()).toBe(200);
  });

  test('a double click on Allow is one approval, and ends at the application', async () => {
    const before = application.called.length;
    const { page } = await arrive({ prompt: 'consent' });
    await page.dblclick('#consent-approve', { noWaitAfter: true });
    // The second click may break off the navigation of the first.
    await expect.poll(() => page.url(), { timeout: 15_000 }).toContain(client.redirect_uri);
    expect(application.called).toHaveLength(before + 1);
    expect(await redemption()).toBe(200);
  });
});

describe('once, with JavaScript', () => {
  const { open, arrive } = somebody(true);

  test('OpenID Connect Core §3.1.2.1: prompt=login asks the one signed in again, who can say to be somebody else', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.waitForSelector('#consent-approve');
    await page.goto(requested({ prompt: 'login consent' }));
    expect(await page.textContent('h1')).toBe('Confirm it’s you');
    await page.getByRole('link', { name: /Use another account/ }).click();
    expect(await page.inputValue('#username')).toBe('');
    await page.goBack();
    await page.fill('#password', 'wrong');
    await page.click('#login-submit');
    expect(await page.textContent('#problem a')).toBe('That password doesn’t match this account.');
    await page.fill('#password', ADA.password);
    await page.click('#login-submit');
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
  });

  test('the back button after the answer shows an error page with a way on, and gives no second code', async () => {
    const before = application.called.length;
    const { page } = await arrive({ prompt: 'consent' });
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    await page.goBack();
    expect(await page.title()).toMatch(/^Error: This was answered already/);
    expect(await page.getAttribute('a.button', 'href')).toMatch(/^http:\/\/localhost/);
    await page.goBack();
    expect(application.called).toHaveLength(before + 1);
    expect(await redemption()).toBe(200);
  });

  test('a second click on Allow while the application is slow to answer does not take the first one back', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    const { x, y } = (await page.locator('#consent-approve').boundingBox())!;
    const before = application.called.length;
    const release = application.hold();
    // By position: a locator would wait until the page has been left.
    await page.mouse.click(x + 20, y + 20);
    try {
      await until('the application is called', () => application.called.length > before);
      await page.mouse.click(x + 20, y + 20);
    } finally {
      release();
    }
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(application.called).toHaveLength(before + 1);
    expect(await redemption()).toBe(200);
  });

  test('two tabs of one browser are two requests; signing in in one lets the other go on', async () => {
    const { page, context } = await open();
    const other = await context.newPage();
    await page.goto(requested({ state: 'one', prompt: 'consent' }));
    await other.goto(requested({ state: 'two', prompt: 'consent' }));
    await signIn(page, ADA);
    await page.waitForSelector('#consent-approve');
    await other.reload();
    await other.click('#consent-approve');
    await other.waitForURL(`${client.redirect_uri}**`);
    expect(answer()).toMatchObject({ state: 'two' });
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(answer()).toMatchObject({ state: 'one' });
  });

  test('the back button before the answer, and the form of a page that is over, do no harm', async () => {
    const { page } = await arrive({ prompt: 'consent' });
    await page.waitForSelector('#consent-approve');
    // The sign-in page is over: it leads on again.
    await page.goBack();
    await page.waitForSelector('#consent-approve');
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(await redemption()).toBe(200);
  });

  test('a request opened at 127.0.0.1 instead of localhost still ends at the application', async () => {
    const { page } = await open();
    await page.goto(requested({ prompt: 'consent' }).replace('localhost', '127.0.0.1'));
    expect(new URL(page.url()).hostname).toBe('localhost');
    await signIn(page, ADA);
    await page.click('#consent-approve');
    await page.waitForURL(`${client.redirect_uri}**`);
    expect(answer()['code']).toBeTruthy();
  });
});
