/** Somebody at a listening server who is no browser: fetch and a small cookie jar, following links by hand. */
import { fetch, type RequestInit, type Response } from 'undici';
import { authorizationUrl, PASSWORD, type AClient } from './fixtures.ts';

export class Visitor {
  readonly issuer: string;
  readonly cookies = new Map<string, string>();

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  get(url: string): Promise<Response> {
    return this.#send(url, { method: 'GET' });
  }

  /** Submits a form as a page of the issuer would. */
  post(url: string, fields: Record<string, string>): Promise<Response> {
    const { origin } = new URL(this.issuer);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin, 'sec-fetch-site': 'same-origin' };
    return this.#send(url, { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
  }

  async #send(
    url: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> },
  ): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers };
    const answer = await fetch(new URL(url, `${this.issuer}/`), { ...init, headers: all, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Signs in at /login. */
  async signIn(username: string, password = PASSWORD): Promise<this> {
    const page = await this.get(`${this.issuer}/login`);
    const form_token = formTokenIn(await page.text());
    const answer = await this.post(`${this.issuer}/login`, { username, password, form_token });
    if (answer.status !== 303) throw new Error(`the sign-in answered ${answer.status}: ${await answer.text()}`);
    await answer.body?.cancel();
    return this;
  }

  /**
   * Opens an /authorize URL, signs in if it is asked for, approves what is asked, and returns where the client is
   * answered.
   */
  async authorize(url: string | URL, person?: { username: string; password?: string }): Promise<URL> {
    let answer = await this.get(String(url));
    for (let hops = 0; hops < 10; hops += 1) {
      const body = await answer.text();
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`stuck at ${answer.status}: ${body.slice(0, 800)}`);
      if (!location.startsWith(`${this.issuer}/interaction/`)) return new URL(location);
      answer = await this.get(location);
      if (answer.status !== 200) continue;
      const form_token = formTokenIn(await answer.text());
      const { username = '', password = PASSWORD } = person ?? {};
      answer = location.endsWith('/login')
        ? await this.post(location, { username, password, form_token, action: 'login' })
        : await this.post(location, { form_token, action: 'approve' });
    }
    throw new Error('the authorization request went in circles');
  }

  /** A code of a client that this person allowed before: the answer comes at once. */
  async code(client: AClient, parameters: Record<string, string | undefined> = {}): Promise<string> {
    const answer = await this.authorize(authorizationUrl(this.issuer, client, parameters));
    const code = answer.searchParams.get('code');
    if (code === null) throw new Error(`no code: ${answer.href}`);
    return code;
  }
}

/** The hidden form token of a page. */
export const formTokenIn = (page: string): string =>
  /name="form_token"[^>]*value="([^"]*)"/.exec(page)?.[1] ??
  /value="([^"]*)"[^>]*name="form_token"/.exec(page)?.[1] ??
  '';

/** What an endpoint of clients answered. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  json: Record<string, unknown>;
}

/** POSTs a form as a client would. Any answer is JSON, or empty. */
export async function postTo(
  url: string,
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(given).toString(),
  });
  return readAnswer(answer);
}

export async function readAnswer(answer: Response): Promise<Answer> {
  const text = await answer.text();
  const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: answer.status, headers: Object.fromEntries(answer.headers), json };
}
