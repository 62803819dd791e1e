/** Dynamic registration (RFC 7591) and its management (RFC 7592): clients that register themselves, within limits. */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { changeOf } from '../events/change.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { DEVICE_GRANT, isClientId, MACHINE_GRANTS } from '../protocol/client.ts';
import {
  clientMetadataFields,
  OPERATOR_ONLY,
  SELF_REGISTERABLE,
  type ClientMetadataInput,
} from '../protocol/client-metadata.ts';
import { endpoints } from '../protocol/endpoint.ts';
import {
  invalidClientMetadata,
  invalidRedirectUri,
  invalidToken,
  OAuthError,
  tooManyRequests,
} from '../protocol/error.ts';
import { localizedMember } from '../protocol/localized.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { redact, sizeOf, strangeName } from '../protocol/redaction.ts';
import { formatScope, parseScope } from '../protocol/scope.ts';
import { FADES_AFTER } from '../protocol/throttle.ts';
import * as clients from '../store/clients.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as failures from '../store/failures.ts';
import { newId, sha256 } from '../protocol/handle.ts';
import * as initialAccessTokens from '../store/initial-access-tokens.ts';
import { fetchSector } from './sector.ts';
import { verifyStatement } from './software-statement.ts';
import { endClient, insertClient, metadataOf, removeClient, replaceClient, type ClientDocument } from './register.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'random' | 'clientKeys' | 'fetch'>;

/**
 * Registrations and replacements that one network may send until it has been quiet for a day, where nobody has to show
 * a token.
 */
const OPEN_QUOTA = 100;

/** A registration, and the token that manages it. RFC 7591 §3.2.1, RFC 7592 §3. */
export type Registered = ClientDocument & { registration_access_token: string; registration_client_uri: string };

/**
 * Registers a client. With REGISTRATION=token an initial access token is used up in the same transaction.
 * @throws OAuthError invalid_token, invalid_redirect_uri, invalid_client_metadata, invalid_software_statement,
 * unapproved_software_statement, too_many_requests
 */
export async function registerSelf(
  deps: Needs,
  document: unknown,
  initial_access_token: string | undefined,
  by: Requester,
  now: Date,
): Promise<Registered> {
  const { metadata, software_statement } = await selfMetadata(deps, document, now);
  const initial = sha256(initial_access_token ?? '');
  // Looked at before a stranger's sector is fetched, used up below.
  if (deps.config.REGISTRATION === 'token' && !(await initialAccessTokens.counts(deps.db, initial, now))) {
    throw refusedInitial(initial_access_token);
  }
  await countAgainstQuota(deps, by, now);
  const registration_access_token = deps.random(32).toString('base64url');
  const registered = await asRegistrationError(async () => {
    const sector = await fetchSector(deps, metadata, undefined, { trusted: false });
    return transact(deps.db, async (trx) => {
      if (deps.config.REGISTRATION === 'token' && !(await initialAccessTokens.use(trx, initial, now))) {
        throw refusedInitial(initial_access_token);
      }
      const registration_token_hash = sha256(registration_access_token);
      const owner = { registered_by: 'self', registration_token_hash, software_statement } as const;
      return insertClient(trx, deps, { metadata }, sector, owner, by, now);
    });
  });
  return managed(deps, registered, registration_access_token);
}

const refusedInitial = (token: string | undefined): OAuthError =>
  invalidToken('the initial access token is not valid', { check: 'initial_access_token', received: sizeOf(token) });

/**
 * The client that a registration token manages. Unknown client and wrong token are one answer. @throws OAuthError
 * invalid_token
 */
export async function authenticateRegistration(
  { db }: Needs,
  client_id: string,
  registration_access_token: string,
): Promise<clients.Client> {
  const client = isClientId(client_id) ? await clients.find(db, client_id) : undefined;
  const hash = client?.registration_token_hash;
  // RFC 7592 §2: a client that an operator disabled does not manage itself.
  if (!client || client.disabled_at !== null || !hash || !timingSafeEqual(hash, sha256(registration_access_token))) {
    throw refusedToken();
  }
  return client;
}

const refusedToken = (): OAuthError =>
  invalidToken('the registration access token is not valid', {
    check: 'registration_access_token',
    expected: 'the newest token of a client that registered itself',
  });

/** Replaces the client's metadata, whole, and its registration token (RFC 7592 §2.2). @throws OAuthError */
export async function replaceSelf(
  deps: Needs,
  client: clients.Client,
  document: unknown,
  by: Requester,
  now: Date,
): Promise<Registered> {
  const sent = z.looseObject({ client_id: z.string(), client_secret: z.string().optional() }).safeParse(document);
  if (!sent.success || sent.data.client_id !== client.client_id) {
    throw invalidClientMetadata('client_id must be that of the client', {
      check: 'client_metadata',
      expected: client.client_id,
      received: sent.data === undefined ? 'none' : strangeName(sent.data.client_id),
    });
  }
  const { client_secret } = sent.data;
  if (client_secret !== undefined && !client.secrets.some(({ hash }) => hash.equals(sha256(client_secret)))) {
    throw invalidClientMetadata('client_secret is not the client’s', { check: 'client_metadata' });
  }
  const { metadata: given, software_statement } = await selfMetadata(deps, document, now);
  await countAgainstQuota(deps, by, now);
  const registration_access_token = deps.random(32).toString('base64url');
  const registration_token_hash = sha256(registration_access_token);
  const replaced = await asRegistrationError(async () => {
    const sector = await fetchSector(deps, given, client, { trusted: false });
    return transact(deps.db, async (trx) => {
      // Of two replacements with one token, or one and a deletion, the second finds the token gone.
      const present = await clients.findLocked(trx, client.client_id);
      if (!present?.registration_token_hash?.equals(client.registration_token_hash!)) throw refusedToken();
      if (present.disabled_at !== null) throw refusedToken();
      const current = metadataOf(present);
      const metadata = { ...Object.fromEntries(OPERATOR_ONLY.map((name) => [name, current[name]])), ...given };
      const owner = { registration_token_hash, software_statement };
      return replaceClient(trx, deps, present, metadata, sector, owner, by, now);
    });
  });
  deps.directory.clear();
  return managed(deps, replaced, registration_access_token);
}

/** Deletes the client and ends everything it was granted (RFC 7592 §2.3). */
export async function removeSelf(deps: Needs, client: clients.Client, by: Requester, now: Date): Promise<void> {
  await transact(deps.db, (trx) => removeClient(trx, client.client_id, by, now));
  deps.directory.clear();
}

/** Adds what manages a registration. */
export const managed = ({ config }: Pick<Needs, 'config'>, document: ClientDocument, token: string): Registered => ({
  ...document,
  registration_access_token: token,
  registration_client_uri: `${config.ISSUER}${endpoints.registration_endpoint}/${document.client_id}`,
});

/**
 * The metadata that a client may register for itself, and its software statement: members of the standards alone, and no more
 * scope than REGISTRATION_SCOPE. No statement grants what only operators set.
 */
async function selfMetadata(
  deps: Needs,
  document: unknown,
  now: Date,
): Promise<{ metadata: ClientMetadataInput; software_statement: string | null }> {
  const { config, directory } = deps;
  const sent = z.record(z.string(), z.unknown()).safeParse(document);
  if (!sent.success) throw invalidClientMetadata('the body must be a JSON object', { check: 'client_metadata' });
  const statement = sent.data['software_statement'] ?? undefined;
  const vouched = statement === undefined ? {} : await verifyStatement(deps, statement, now);
  // RFC 7591 §3.1.1: what the statement says comes first, and says it for every language.
  const own = Object.entries(registerable(sent.data)).filter(
    ([name]) => !Object.hasOwn(vouched, localizedMember(name)?.member ?? name),
  );
  const metadata = { ...Object.fromEntries(own), ...registerable(vouched) };
  const { scope, grant_types, subject_type } = metadata;
  const uses = (grant_type: string): boolean => Array.isArray(grant_types) && grant_types.includes(grant_type);
  const machine = MACHINE_GRANTS.find(uses);
  if (machine !== undefined && config.REGISTRATION === 'open') {
    throw invalidClientMetadata(`${machine} is for clients that somebody vouches for`, {
      check: 'client_metadata',
      expected: `no ${machine} where REGISTRATION is open`,
      received: `grant_types with ${machine}`,
    });
  }
  // OpenID Connect Core §8.1: whose a sector is shows in where codes go. A device fetches its tokens without any, so a
  // stranger who names the redirect URIs of others would be told the subjects that they are told.
  if (subject_type === 'pairwise' && uses(DEVICE_GRANT)) {
    throw invalidClientMetadata('subject_type pairwise in the device flow is for clients that an operator registers');
  }
  // Registration §5: of its redirect URIs a stranger may name those of others; a sector says itself whose they are.
  if (subject_type === 'pairwise' && typeof metadata.sector_identifier_uri !== 'string') {
    throw invalidClientMetadata('sector_identifier_uri: is needed: who registers itself proves its sector', {
      check: 'client_metadata',
      expected: 'a sector_identifier_uri that lists every redirect URI',
    });
  }
  const known = await directory.scopes();
  const open = parseScope(config.REGISTRATION_SCOPE).filter((name) => known.has(name));
  const requested =
    scope === undefined ? open : parseScope(await asRegistrationError(async () => scopeMember.parse({ scope }).scope));
  return {
    metadata: { ...metadata, scope: formatScope(requested.filter((name) => open.includes(name))) },
    software_statement: typeof statement === 'string' ? statement : null,
  };
}

/** Read before the rest of the document, since it is narrowed. */
const scopeMember = clientMetadataFields.pick({ scope: true });

// RFC 7591 §2: members that are not understood are ignored; so are those that only an operator may set.
const registerable = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => (SELF_REGISTERABLE.has(name) || localizedMember(name)) && value !== null,
    ),
  );

/** Where nobody has to show a token, each network has only so many goes. @throws OAuthError too_many_requests */
async function countAgainstQuota({ config, db }: Needs, { network }: Requester, now: Date): Promise<void> {
  if (config.REGISTRATION !== 'open') return;
  const key = `registration:${network}`;
  const counts = await failures.count(db, [key], now, secondsAfter(now, -FADES_AFTER));
  if ((counts.get(key) ?? 0) > OPEN_QUOTA) {
    throw tooManyRequests('too many clients were registered from here', {
      retry_after: FADES_AFTER,
      check: 'registration_quota',
      expected: `at most ${OPEN_QUOTA} a day from one network`,
    });
  }
}

/** Makes an initial access token. It is shown once. `expires_in` in seconds. */
export async function createInitialAccessToken(
  trx: Trx,
  { random }: Pick<Needs, 'random'>,
  { label = null, uses, expires_in }: { label?: string | null | undefined; uses: number; expires_in: number },
  by: Actor,
  now: Date,
): Promise<{
  token_id: string;
  initial_access_token: string;
  label: string | null;
  uses_left: number;
  expires_at: Date;
}> {
  const initial_access_token = random(32).toString('base64url');
  const token_id = newId(random, 9);
  const shown = { token_id, label, uses_left: uses, expires_at: secondsAfter(now, expires_in) };
  const detail = { token_id, ...changeOf(undefined, { label, uses_left: uses, expires_at: shown.expires_at }) };
  await initialAccessTokens.insert(trx, { ...shown, hash: sha256(initial_access_token), created_at: now });
  await record(trx, { event: 'registration_token_created', detail }, by, now);
  return { ...shown, initial_access_token };
}

/** Takes an initial access token back; false when there is none. */
export async function removeInitialAccessToken(trx: Trx, token_id: string, by: Actor, now: Date): Promise<boolean> {
  if (!(await initialAccessTokens.remove(trx, token_id))) return false;
  await record(trx, { event: 'registration_token_deleted', detail: { token_id } }, by, now);
  return true;
}

const REDIRECT_MEMBERS = new Set(['redirect_uris', 'post_logout_redirect_uris']);

/** RFC 7591 §3.2.2: which of the two errors a problem is. */
async function asRegistrationError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError || !(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    const member = String(issue?.path[0] ?? 'the document');
    const problem = `${member}: ${issue?.message ?? 'is not valid'}`;
    const detail = { check: 'client_metadata', expected: redact(problem) } as const;
    throw REDIRECT_MEMBERS.has(member) ? invalidRedirectUri(problem, detail) : invalidClientMetadata(problem, detail);
  }
}

/** Seconds a client that registered itself has to be used for the first time. */
const PATIENCE = 7 * DAY;
const BATCH = 100;

/** Removes clients that registered themselves, were never used and hold no live grant; returns how many. */
export function reapUnused({ db }: Pick<Needs, 'db'>, by: Actor, now: Date): Promise<number> {
  return transact(db, async (trx) => {
    const unused = await clients.takeUnused(trx, secondsAfter(now, -PATIENCE), BATCH, now);
    for (const client_id of unused) await endClient(trx, client_id, by, now);
    return unused.length;
  });
}
