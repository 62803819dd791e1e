/**
 * Sign-out: RP-initiated (OpenID Connect RP-Initiated Logout 1.0: who asks, whether to ask the person, and where it leads),
 * and the page that tells applications in frames (OpenID Connect Front-Channel Logout 1.0).
 */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { invalidRequest, type OAuthError } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { listOf, strangeName } from '../protocol/redaction.ts';
import { sectorOf } from '../protocol/sector.ts';
import type { Client } from '../store/clients.ts';
import { transact } from '../store/postgres/db.ts';
import { drawHandle, readHandle } from '../protocol/handle.ts';
import type { LiveSession } from '../store/sessions.ts';
import * as signOuts from '../store/sign-outs.ts';
import { readHint } from '../tokens/id-token-hint.ts';
import { sidFor } from '../tokens/subject.ts';
import { endSession } from './index.ts';

/** A logout request, checked. */
export interface LogoutRequest {
  client: Client | undefined;
  /** Where to go afterwards: registered for the client of a genuine hint, `state` included; never anything else. */
  return_to: string | undefined;
  /** Why it does not go where a genuine hint's client wants it to: nobody is led elsewhere, or signed out, unasked. */
  refusal: OAuthError | undefined;
  /** The one of the browser's sessions it is about: which the hint names, else the current one. */
  session: LiveSession | undefined;
  /** A genuine hint names the very session: the application was part of it, so nobody is tricked by an old token. */
  recognised: boolean;
}

type Needs = Pick<Deps, 'config' | 'directory' | 'keys'>;

/** @throws OAuthError invalid_request when client_id contradicts the hint (§2) */
export async function readLogoutRequest(
  deps: Needs,
  parameters: Parameters,
  sessions: readonly LiveSession[],
  now: Date,
): Promise<LogoutRequest> {
  const get = (name: string): string | undefined => {
    const value = parameters[name];
    return typeof value === 'string' ? value : undefined;
  };
  const id_token_hint = get('id_token_hint');
  const hint = id_token_hint === undefined ? undefined : await readHint(deps, id_token_hint, now);
  const client_id = get('client_id');
  if (hint && client_id !== undefined && client_id !== hint.client_id) {
    throw invalidRequest('client_id is not the audience of id_token_hint', {
      check: 'logout_hint',
      expected: hint.client_id,
      received: strangeName(client_id),
      client_id: hint.client_id,
      sub: hint.sub,
    });
  }
  const named = hint?.client_id ?? client_id;
  const client = named === undefined ? undefined : await deps.directory.client(named);
  const uri = get('post_logout_redirect_uri');
  // §2: only with a genuine hint; a name alone could be anybody's.
  const requested = hint && client ? uri : undefined;
  const registered = requested !== undefined && client?.post_logout_redirect_uris.includes(requested);
  const hinted = client && sessions.find(({ sid }) => sidFor(deps, sectorOf(client), sid) === hint?.sid);
  const state = get('state');
  return {
    client,
    return_to: registered ? withQuery(requested, state === undefined ? {} : { state }) : undefined,
    refusal: client && requested !== undefined && !registered ? unregistered(client, requested) : undefined,
    session: hinted ?? sessions[0],
    recognised: hinted !== undefined,
  };
}

// §3: "the OP MUST NOT perform post-logout redirection", and a person who expects it has to be told.
const unregistered = ({ client_id, post_logout_redirect_uris }: Client, received: string): OAuthError =>
  invalidRequest('post_logout_redirect_uri is not registered for this client', {
    check: 'post_logout_redirect_uri',
    expected: listOf(post_logout_redirect_uris),
    received,
    client_id,
  });

/** Adds parameters to the query a registered URI may have. */
function withQuery(uri: string, parameters: Record<string, string>): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length === 0 ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${query.join('&')}`;
}

/** Seconds a browser has to come for the page after a sign-out. */
const PAGE_TTL = 600;

/** Where the person is to be led, and in which browser. */
export interface SignOutChoice extends Pick<LogoutRequest, 'client' | 'return_to'> {
  browser_hash: Buffer;
}

/**
 * Ends sessions of one browser. Returns the handle of the page to be shown before anything else; undefined when nobody has
 * to be told on a page.
 */
export async function signOut(
  { db, random }: Pick<Deps, 'db' | 'random'>,
  sessions: readonly LiveSession[],
  { browser_hash, client, return_to }: SignOutChoice,
  by: Requester,
  now: Date,
): Promise<string | undefined> {
  // In one order, whichever tab asks: two that sign out at once wait for each other only once.
  const sids = sessions.map(({ sid }) => sid).toSorted();
  const expires_at = secondsAfter(now, PAGE_TTL);
  const { handle, ...key } = drawHandle(random, expires_at);
  const client_id = client?.client_id ?? null;
  return transact(db, async (trx) => {
    for (const sid of sids)
      await endSession(
        trx,
        sessions.find((session) => session.sid === sid)!,
        by,
        now,
      );
    const row = { ...key, browser_hash, sids, client_id, return_to: return_to ?? null, created_at: now, expires_at };
    return (await signOuts.insert(trx, row)) ? handle : undefined;
  });
}

/** What the page after a sign-out shows. */
export interface SignOutPage extends Pick<LogoutRequest, 'client' | 'return_to'> {
  /** The applications that are notified. */
  notified: ReadonlyArray<Pick<signOuts.NotifiedClient, 'client_id' | 'client_name' | 'localized'>>;
  /** The addresses to be framed: §3, with the session's `iss` and `sid`. */
  frames: string[];
}

/** Opens the page of a sign-out in the browser it was done in; undefined in any other, and when it is too late. */
export async function openSignOut(
  deps: Pick<Deps, 'config' | 'db' | 'directory' | 'keys'>,
  handle: string,
  browser_hash: Buffer,
  now: Date,
): Promise<SignOutPage | undefined> {
  const { config, db, directory } = deps;
  const key = readHandle(handle);
  const signedOut = key && (await signOuts.find(db, key, browser_hash, now));
  if (!signedOut) return undefined;
  const clients = await signOuts.notifiedClients(db, signedOut);
  const notified = new Map(clients.map((client) => [client.client_id, client]));
  const framed = clients.map(async ({ client_id, frontchannel_logout_uri: uri, sid, sector }) => {
    const client = uri === null ? undefined : await directory.client(client_id);
    // The address belongs to the client's present sector: it learns nothing of sessions in another.
    if (uri === null || !client || (sector ?? sectorOf(client)) !== sectorOf(client)) return [];
    return withQuery(uri, { iss: config.ISSUER, sid: sidFor(deps, sectorOf(client), sid) });
  });
  return {
    client: signedOut.client_id === null ? undefined : await directory.client(signedOut.client_id),
    return_to: signedOut.return_to ?? undefined,
    notified: [...notified.values()],
    frames: (await Promise.all(framed)).flat(),
  };
}
