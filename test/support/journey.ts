/** What a person does in a real browser at a running `dev` server, and what must never appear on the way. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { authorizationUrl } from './fixtures.ts';
import { freePort } from './server.ts';

export const ADA = { username: 'ada', password: 'postern-demo' };
export const BOB = { username: 'bob', password: 'postern-demo' };

/** An application that people return to. It listens for real: browsers follow redirects out of a test's sight. */
export interface Application {
  callback: string;
  /** Where sign-outs lead, and the page that is framed at one, with the parameters of its visits so far. */
  bye: string;
  frontchannel: string;
  posted: Array<Record<string, string>>;
  /** The parameters of its callbacks so far, and how they came. */
  called: Array<{ method: string; parameters: Record<string, string> }>;
  /** Lets its next answers wait until the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

export async function startApplication(): Promise<Application> {
  const port = await freePort();
  const called: Application['called'] = [];
  const posted: Application['posted'] = [];
  let held: Promise<void> | undefined;
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { pathname, search, searchParams } = new URL(request.url!, `http://localhost:${port}`);
      const parameters = Object.fromEntries(body === '' ? searchParams : new URLSearchParams(body));
      if (pathname === '/callback' && search + body !== '') called.push({ method: request.method!, parameters });
      if (pathname === '/signed-out') posted.push(parameters);
      await held;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end('<!doctype html><title>The application</title><link rel="icon" href="data:,">');
    });
  });
  server.listen(port, 'localhost');
  await once(server, 'listening');
  return {
    callback: `http://localhost:${port}/callback`,
    bye: `http://localhost:${port}/bye`,
    frontchannel: `http://localhost:${port}/signed-out`,
    called,
    posted,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Everything the console said and every script that failed: a CSP violation, a missing file, an exception. */
  problems: string[];
}

export interface VisitOptions {
  javaScriptEnabled?: boolean;
  colorScheme?: 'light' | 'dark';
  width?: number;
}

/** A browser with no past. Whoever opens it closes the context. */
export async function openVisit(browser: Browser, options: VisitOptions = {}): Promise<Visit> {
  const { javaScriptEnabled = true, colorScheme = 'light', width = 1280 } = options;
  const viewport = { width, height: width < 600 ? 640 : 800 };
  const context = await browser.newContext({ javaScriptEnabled, colorScheme, viewport });
  // A step that does not come is a failure, and soon.
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // Chromium also tells the status of each document: 4xx is an answer of ours.
    const isComplaint = ['error', 'warning'].includes(message.type());
    if (isComplaint && !message.text().startsWith('Failed to load resource: the server responded with a status of 4')) {
      problems.push(message.text());
    }
  });
  return { page, context, problems };
}

/** Fills in the sign-in page in front of us. */
export async function signIn(page: Page, { username, password }: typeof ADA): Promise<void> {
  await page.fill('#username', username);
  await page.fill('#password', password);
  await page.click('#login-submit');
}

/** Every page of the server, in the order in which one person can meet them; `show` sees each once. */
export async function tour(
  { page }: Visit,
  issuer: string,
  show: (name: string, status: number) => Promise<void>,
): Promise<void> {
  // The demo page did not send these requests, and says so: that is one more page to see.
  const demo = { client_id: 'demo-web', client_secret: '', redirect_uri: `${issuer}/demo/callback` };
  const requested = (parameters: Record<string, string>): string => authorizationUrl(issuer, demo, parameters);
  const go = async (path: string): Promise<number> =>
    (await page.goto(path.startsWith('http') ? path : issuer + path))?.status() ?? 0;
  const submitted = async (button: string): Promise<number> => {
    const answers = page.waitForResponse(
      (response) => response.request().isNavigationRequest() && ![302, 303].includes(response.status()),
    );
    // The answer is there before its page is: until then the one before would be looked at, or neither.
    const [answer] = await Promise.all([answers, page.waitForEvent('load'), page.click(button)]);
    return answer.status();
  };
  const open = async (name: string, path: string): Promise<void> => show(name, await go(path));
  const press = async (name: string, button: string): Promise<void> => show(name, await submitted(button));
  const enter = async (person: typeof ADA): Promise<void> => {
    await page.fill('#username', person.username);
    await page.fill('#password', person.password);
  };

  await open('sign-up', '/signup');
  await page.fill('#email', 'new@example.test');
  await page.fill('#new-password', 'nine purple lighthouses');
  await press('verify', '#signup-submit');
  await page.fill('#otp', '000000');
  await press('verify-problem', '#verify-submit');
  await open('forgot-password', '/forgot-password');
  await page.fill('#username', 'nobody');
  await press('forgot-password-sent', '#forgot-submit');
  await open('login', '/login');
  await enter({ ...BOB, password: 'not it' });
  await press('login-problem', '#login-submit');

  await open('login-client', '/demo');
  await enter({ ...ADA, password: 'not it' });
  await press('login-client-problem', '#login-submit');
  await enter(ADA);
  await submitted('#login-submit');
  await open('consent', requested({ prompt: 'consent' }));
  await press('error-demo', '#consent-approve');
  const everything = 'openid profile email offline_access notes:read notes:write';
  const resource = 'https://notes.example.test';
  await open('consent-resource', requested({ scope: everything, resource, prompt: 'consent' }));
  await open('consent-some-new', requested({ scope: everything, prompt: 'consent' }));
  const answered = page.url();
  await submitted('#consent-deny');
  await open('error-answered', answered);

  await go('/demo');
  if (await page.locator('#consent-approve').count()) await submitted('#consent-approve');
  await show('demo', 200);
  await open('select-account', requested({ prompt: 'select_account' }));
  await open('login-again', requested({ prompt: 'login' }));
  await page.fill('#password', 'not it');
  await press('login-again-problem', '#login-submit');
  await open('device', '/device');
  await page.fill('#user_code', 'BBBB-BBBB');
  await press('device-problem', '#device-submit');
  const started = await page.request.post(`${issuer}/device_authorization`, {
    form: { client_id: 'demo-device', scope: 'openid notes:read' },
  });
  const { verification_uri_complete } = (await started.json()) as { verification_uri_complete: string };
  await open('device-filled', verification_uri_complete);
  await press('consent-device', '#device-submit');
  await press('device-done', '#consent-approve');
  await open('account', '/account');
  await open('account-connections', '/account/connections');
  await open('account-profile', '/account/profile');
  await open('account-activity', '/account/activity');
  await open('account-password', '/account/password');
  await open('account-email', '/account/email');
  await page.fill('#email', 'another@example.test');
  await press('account-email-code', '#email-submit');
  await page.fill('#otp', '000000');
  await press('account-email-code-problem', '#verify-submit');
  await open('account-passkeys', '/account/passkeys');
  await open('account-authenticator', '/account/authenticator');
  await page.fill('#otp', '000000');
  await press('account-authenticator-problem', '#authenticator-submit');
  await open('account-recovery-codes', '/account/recovery-codes');
  await open('account-sessions', '/account/sessions');
  await open('account-applications', '/account/applications');
  await open('account-data', '/account/data');
  await open('account-delete', '/account/delete');
  await open('dev-mail', '/dev/mail');
  await open('dev-theme', '/dev/theme');
  await open('error-redirect-uri', requested({ redirect_uri: 'https://elsewhere.example.test/' }));
  await open('error-client', requested({ client_id: 'nobody' }));
  await open('error-not-found', '/nowhere');
  await open('error-interaction', '/interaction/unknown');
  await open('logout-client', '/logout?client_id=demo-web');
  await open('logout', '/logout');
  await press('signed-out', '#logout-confirm');
}
