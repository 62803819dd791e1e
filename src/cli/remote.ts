/** The admin API of a server elsewhere, over HTTPS. */
import { readFileSync } from 'node:fs';
import type { RemoteVariables } from '../config.ts';
import { withoutSecrets } from '../config/shown.ts';
import { adminApiOf } from '../protocol/admin-api.ts';
import { endpoints } from '../protocol/endpoint.ts';
import { decodeUtf8 } from '../protocol/plain-text.ts';
import { isLoopbackHost } from '../protocol/redirect-uri.ts';
import { apiOf, type Api, type ApiRequest, type Item } from './api.ts';
import { Failure, notFound, refused, usage } from './failure.ts';

/** How to reach others: the network, chance, time, and patience. */
export interface Reach {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  random: (bytes: number) => Buffer;
  now: () => Date;
  /** Waits so many milliseconds. */
  wait: (ms: number) => Promise<unknown>;
}

/** Which server, and what we are allowed to do there with. */
export interface Access {
  issuer: string;
  token?: string | undefined;
  client?: { client_id: string; client_secret: string };
}

const TIMEOUT_MS = 30_000;
/** Tries of one request. */
const TRIES = 3;
/** Seconds that a server may ask us to wait before the next. */
const MAX_WAIT = 30;

/** The server that the options, or else the variables, name. Undefined when there is none. @throws Failure */
export function accessOf(
  { url, tokenFile }: { url?: string; tokenFile?: string },
  variables: RemoteVariables,
): Access | undefined {
  const named = url ?? variables.POSTERN_URL;
  if (named === undefined) {
    if (tokenFile !== undefined) throw usage('--token-file goes with --url: without it the database is worked on');
    return undefined;
  }
  const issuer = issuerOf(named);
  const token = tokenFile === undefined ? variables.POSTERN_TOKEN : readToken(tokenFile);
  if (token !== undefined) return { issuer, token };
  const { POSTERN_CLIENT_ID: client_id, POSTERN_CLIENT_SECRET: client_secret } = variables;
  if (client_id !== undefined && client_secret !== undefined) return { issuer, client: { client_id, client_secret } };
  return { issuer };
}

function issuerOf(url: string): string {
  const prefix = `--url is ${JSON.stringify(withoutSecrets(url))}:`;
  if (!URL.canParse(url)) throw usage(`${prefix} must be the issuer, e.g. https://id.example.com`);
  const { protocol, hostname, origin, pathname, search, hash, username, password } = new URL(url);
  // Tokens and secrets go there.
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackHost(hostname))) {
    throw usage(`${prefix} must be https (http is for this machine only)`);
  }
  if (`${search}${hash}${username}${password}` !== '') throw usage(`${prefix} must be the issuer and nothing more`);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function readToken(file: string): string {
  try {
    return decodeUtf8(readFileSync(file)).trim();
  } catch (error) {
    // Not its name: many put the token there in place of its file.
    throw new Failure(
      'failed',
      `--token-file names no file that can be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

/** The API of a server, with what it had to say beside its answers. */
export interface RemoteApi extends Api {
  notes: readonly string[];
}

/** The API at an issuer. The token is asked for once, when it is needed. */
export function remoteApi(access: Access, reach: Reach): RemoteApi {
  const notes: string[] = [];
  let token: Promise<string> | undefined;
  const api = apiOf(async (operation, request) => {
    const [method, template] = operation.split(' ') as [string, string];
    const url = `${adminApiOf(access.issuer)}${fill(template, request.ids)}${queryOf(request)}`;
    token ??= tokenFor(access, reach);
    const headers: Record<string, string> = {
      accept: 'application/json',
      authorization: `Bearer ${await token}`,
      ...(request.present && { 'if-match': '*' }),
      // One for all tries, so that it is done once.
      ...(method === 'POST' && { 'idempotency-key': reach.random(16).toString('base64url') }),
      ...(request.body !== undefined && {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      }),
    };
    const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) };
    const { answer, tries } = await send(reach, url, { method, headers, ...body });
    // It went at an earlier try, whose answer was lost.
    if (method === 'DELETE' && answer.status === 404 && tries > 1) return {};
    if (answer.headers.get('idempotent-replayed') === 'true') notes.push(REPLAYED);
    return read(answer, access.issuer);
  });
  return { ...api, notes };
}

const REPLAYED = 'The first answer was lost on the way, and what is shown once was in it: make another secret.';

/** A path with its parameters. A dot segment would lead elsewhere, and names nothing. @throws Failure */
function fill(template: string, ids: ApiRequest['ids'] = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const id = ids[name] ?? '';
    if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) throw notFound(`there is nothing named ${JSON.stringify(id)}`);
    return encodeURIComponent(id);
  });
}

function queryOf({ query = {} }: ApiRequest): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Sends a request, again where it may not have arrived or the server asks for it. @throws Failure */
async function send(
  { fetch, wait }: Reach,
  url: string,
  init: RequestInit,
): Promise<{ answer: Response; tries: number }> {
  for (let tries = 1; ; tries++) {
    let answer: Response | undefined;
    try {
      answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      if (tries === TRIES) throw new Failure('unavailable', `${new URL(url).origin} cannot be reached: ${why(error)}`);
    }
    const after = Number(answer?.headers.get('retry-after') ?? 2 ** (tries - 2));
    const again = answer === undefined || [429, 502, 503, 504].includes(answer.status) || isRunning(answer);
    if (answer && (!again || tries === TRIES || !(after <= MAX_WAIT))) return { answer, tries };
    await answer?.body?.cancel();
    await wait(after * 1000);
  }
}

/** The same request is still being carried out: 409 with Retry-After. */
const isRunning = ({ status, headers }: Response): boolean => status === 409 && headers.has('retry-after');

/** What fetch says is `fetch failed`; why is in its cause. */
function why(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

const isJson = (answer: Response, type: string): boolean =>
  new RegExp(`^application/${type}(?:;|$)`).test(answer.headers.get('content-type') ?? '');

async function read(answer: Response, issuer: string): Promise<Item> {
  if (answer.status === 204) return {};
  if (answer.ok && isJson(answer, 'json')) return (await answer.json()) as Item;
  if (!isJson(answer, 'problem\\+json')) {
    throw new Failure('failed', `${issuer} has no admin API: it answered ${answer.status}`);
  }
  const problem = (await answer.json()) as Record<string, unknown>;
  throw refused({
    code: String(problem['type']).replace('urn:postern:problem:', ''),
    detail: String(problem['detail']),
    errors: (problem['errors'] ?? []) as Array<{ pointer: string; detail: string; code: string }>,
    request_id: String(problem['request_id']),
  });
}

/** The token that was given, or one for the client (RFC 6749 §4.4) at this API (RFC 8707). @throws Failure */
async function tokenFor({ issuer, token, client }: Access, reach: Reach): Promise<string> {
  if (token !== undefined) {
    // What is no token would be no header either.
    if (/^[\x21-\x7E]+$/.test(token)) return token;
    throw usage('the access token is not one: it has to be one word');
  }
  if (!client) {
    throw usage('give an access token (--token-file, POSTERN_TOKEN), or POSTERN_CLIENT_ID and POSTERN_CLIENT_SECRET');
  }
  const pair = [client.client_id, client.client_secret].map((text) => encodeURIComponent(text)).join(':');
  const { answer } = await send(reach, `${issuer}${endpoints.token_endpoint}`, {
    method: 'POST',
    headers: { accept: 'application/json', authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: adminApiOf(issuer) }),
  });
  const body = isJson(answer, 'json') ? ((await answer.json()) as Item) : {};
  if (answer.ok && typeof body['access_token'] === 'string') return body['access_token'];
  const id = answer.headers.get('x-request-id');
  const { error_description: why = answer.status } = body as { error_description?: string };
  const problem = `${client.client_id} gets no token at ${issuer}: ${why}`;
  throw new Failure(
    answer.status < 500 ? 'not_allowed' : 'unavailable',
    id === null ? problem : `${problem} (request ${id})`,
  );
}
