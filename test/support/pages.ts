/** Reading answers of the browser's doors, and walking an authorization request page by page. */
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { User } from '../../src/store/users.ts';
import type { TestApp } from './app.ts';
import { authorizationUrl, formTokenOf, PASSWORD, type AClient, type TestBrowser } from './fixtures.ts';

/** The code that an error page shows. */
export const errorOn = (page: LightMyRequestResponse): string | undefined =>
  /<code[^>]*\bid="error"[^>]*>([^<]*)</.exec(page.body)?.[1];

export const titleOf = (page: LightMyRequestResponse): string => /<title>([^<]*)</.exec(page.body)?.[1] ?? '';

/** The value of an input, unescaped as far as tests need it. */
export const valueOf = (page: LightMyRequestResponse, name: string): string | undefined =>
  new RegExp(`<input[^>]*\\bname="${name}"[^>]*?\\bvalue="([^"]*)"`, 's').exec(page.body)?.[1];

/** An error that stays here: a page, and nothing that leads on by itself. */
export function expectErrorPage(page: LightMyRequestResponse, error = 'invalid_request', status = 400): void {
  expect({ status: page.statusCode, error: errorOn(page), location: page.headers.location }).toEqual({
    status,
    error,
    location: undefined,
  });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(titleOf(page)).toMatch(/^Error/);
  expect(page.body).not.toMatch(/http-equiv="refresh"|id="form-post"/);
}

/** What was answered to the client in the query of its redirect URI. */
export function answerTo(
  { redirect_uri }: Pick<AClient, 'redirect_uri'>,
  response: LightMyRequestResponse,
  status = 302,
): Record<string, string> {
  const location = response.headers.location ?? '';
  const begin = `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}`;
  expect({ status: response.statusCode, begin: location.slice(0, begin.length) }).toEqual({ status, begin });
  const pairs = [...new URLSearchParams(location.slice(begin.length))];
  const answer = Object.fromEntries(pairs);
  expect(Object.keys(answer)).toHaveLength(pairs.length);
  return answer;
}

/** A page, and the URL at which it is. */
export interface At {
  url: string;
  response: LightMyRequestResponse;
}

/** Follows redirects as long as they stay at the issuer. */
export async function follow(browser: TestBrowser, response: LightMyRequestResponse, url = ''): Promise<At> {
  let at = { url, response };
  for (let hops = 0; hops < 8; hops += 1) {
    const { location } = at.response.headers;
    if (location?.startsWith(`${browser.issuer}/`) !== true) return at;
    at = { url: location, response: await browser.get(location) };
  }
  throw new Error(`went in circles at ${at.url}`);
}

/** Opens an authorization request and follows it to the first page, or to the client's answer. */
export const open = async (
  browser: TestBrowser,
  client: AClient,
  parameters: Record<string, string | undefined> = {},
): Promise<At> => follow(browser, await browser.get(authorizationUrl(browser.issuer, client, parameters)));

/** Submits the form of the page, once, without following. */
export const submit = (
  browser: TestBrowser,
  { url, response }: At,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> =>
  browser.post(url.split('?')[0]!, { form_token: formTokenOf(response), ...fields }, headers);

/** Submits the form of the page and follows. */
export const proceed = async (browser: TestBrowser, at: At, fields: Record<string, string>): Promise<At> =>
  follow(browser, await submit(browser, at, fields));

/** Signs in on the sign-in page of a request. */
export const signInAt = (browser: TestBrowser, at: At, user: User, password = PASSWORD): Promise<At> =>
  proceed(browser, at, { username: user.username, password, action: 'login' });

/** Which step's page this is: the last part of its path. */
export const stepOf = ({ url }: At): string => new URL(url).pathname.split('/').at(-1) ?? '';

/** A form that a page of another site submits: its Origin, and none of our cookies. */
export const crossSitePost = (
  { app, deps }: TestApp,
  path: string,
  fields: Record<string, string | undefined> | string,
): Promise<LightMyRequestResponse> => {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return app.inject({
    method: 'POST',
    url: new URL(deps.config.ISSUER + path).pathname,
    headers: {
      host: new URL(deps.config.ISSUER).host,
      accept: 'text/html,*/*;q=0.8',
      origin: 'https://app.example.test',
      'sec-fetch-site': 'cross-site',
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: typeof fields === 'string' ? fields : new URLSearchParams(given).toString(),
  });
};
