/** Whose account somebody at a provider has here: connected, made, or to be proven first. Never found by an address alone. */
import type { Deps } from '../../deps.ts';
import { record, type Actor } from '../../events/index.ts';
import { personClaims } from '../../protocol/claims.ts';
import { accessDenied } from '../../protocol/error.ts';
import { foldName, isReservedName } from '../../protocol/names.ts';
import { domainOf, type UpstreamIdentity } from '../../protocol/upstream.ts';
import { WriteError } from '../../protocol/write-error.ts';
import { transact, type Trx } from '../../store/postgres/db.ts';
import * as links from '../../store/upstream-links.ts';
import type { Upstream } from '../../store/upstreams.ts';
import * as users from '../../store/users.ts';
import { postNotice } from '../../mail/outbox.ts';
import { insertAccount } from '../accounts.ts';
import { waysIn } from '../ways-in.ts';
import { sealTokens } from './sealed.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;
type Telling = Pick<Needs, 'config' | 'random' | 'secrets'>;

/** Somebody who came back from a provider. */
export interface Arrival {
  row: Upstream;
  identity: UpstreamIdentity;
  tokens: object;
}

export const keyOf = ({ row, identity }: Pick<Arrival, 'row' | 'identity'>): links.UpstreamLinkKey => ({
  upstream: row.upstream,
  issuer: row.issuer,
  upstream_sub: identity.upstream_sub,
});

/** How they are known there, for people to tell two apart. */
export const nameOf = ({ email, preferred_username, claims }: UpstreamIdentity): string | null =>
  email ?? preferred_username ?? (typeof claims['name'] === 'string' ? claims['name'].slice(0, 320) : null);

const TRIES = 5;

/**
 * The account of somebody who came back: the one they are connected with, or one that is made where the provider is trusted with
 * that. Undefined where they would have to prove an account of theirs first.
 * @throws OAuthError access_denied for a disabled account
 */
export async function personOf(
  deps: Needs,
  arrival: Arrival,
  by: Actor,
  now: Date,
): Promise<{ sub: string; username: string } | undefined> {
  const { row, identity, tokens } = arrival;
  const key = keyOf(arrival);
  const sealed_tokens = row.keep_tokens ? sealTokens(deps, key, tokens) : null;
  const seen = { name: nameOf(identity), sealed_tokens, used_at: now };
  // Who else makes an account at this moment may be the same person, in another tab.
  for (let tries = 0; tries < TRIES; tries += 1) {
    const person = await links.findPerson(deps.db, key);
    if (person) {
      if (person.disabled_at !== null) {
        const received = `${person.username}, disabled`;
        throw accessDenied('the account cannot sign in', { check: 'account', sub: person.sub, received });
      }
      await links.note(deps.db, key, seen);
      return person;
    }
    const email = identity.email_verified ? identity.email : undefined;
    if (!isWelcome(row, email)) return undefined;
    if (email !== undefined && (await users.findByName(deps.db, foldName(email)))) {
      // Taken just now it may be by themselves; and then it is connected, since both are written at once.
      if (await links.findPerson(deps.db, key)) continue;
      return undefined;
    }
    await makeAccount(deps, arrival, email, { ...key, ...seen, created_at: now }, tries, by, now);
  }
  return undefined;
}

function isWelcome({ registration, domains }: Upstream, email: string | undefined): boolean {
  if (registration === 'domains') return email !== undefined && domains.includes(domainOf(email));
  return registration === 'on';
}

/** Thrown to take everything back: somebody was faster. */
class Overtaken extends Error {}

/**
 * Makes an account and connects it, or leaves everything as it was where a name is taken. An address that is not verified is not
 * taken over at all: it may be somebody's, and its owner could not have it any more.
 */
async function makeAccount(
  deps: Needs,
  { row, identity }: Arrival,
  email: string | undefined,
  link: Omit<links.UpstreamLink, 'sub'>,
  tries: number,
  by: Actor,
  now: Date,
): Promise<void> {
  const username = usernameFor(deps, identity, tries);
  const claims = claimsOf(identity);
  try {
    await transact(deps.db, async (trx) => {
      const account = { username, email, email_verified: email !== undefined, claims };
      const { sub } = await insertAccount(trx, deps, account, undefined, by, now);
      if (!(await links.insert(trx, { ...link, sub }))) throw new Overtaken();
      const detail = { upstream: row.upstream, registered: true };
      await record(trx, { event: 'upstream_linked', sub, detail }, by, now);
    });
  } catch (error) {
    if (!(error instanceof Overtaken || error instanceof WriteError)) throw error;
  }
}

/** The name they have there, the first time as it is; then with something behind it, since it is taken. */
function usernameFor(
  { random }: Pick<Needs, 'random'>,
  { preferred_username, email }: UpstreamIdentity,
  tries: number,
): string {
  const wanted = (preferred_username ?? email ?? '').replace(/@.*$/s, '').replaceAll(/[^\p{L}\p{N}._-]+/gu, '');
  const suffix = random(4).toString('hex');
  // One that may not be, by its letters, is not tried for ever.
  if (wanted === '' || tries > 2 || isReservedName(wanted)) return `person-${suffix}`;
  return tries === 0 ? wanted.slice(0, 100) : `${wanted.slice(0, 100)}-${suffix}`;
}

/** Of the claims, those that are what ours have to be. */
function claimsOf({ claims }: UpstreamIdentity) {
  const kept = Object.entries(claims).filter(([name, value]) => personClaims.safeParse({ [name]: value }).success);
  return personClaims.parse(Object.fromEntries(kept));
}

/**
 * Connects somebody with an account whose person has just proven it.
 * `taken`: they are connected with another account.
 */
export async function connect(
  trx: Trx,
  deps: Telling,
  sub: string,
  { label, ...link }: links.UpstreamLinkKey & { name: string | null; label: string },
  by: Actor,
  now: Date,
): Promise<'connected' | 'taken'> {
  const { upstream, issuer, upstream_sub, name } = link;
  const row = { upstream, issuer, upstream_sub, name, sub, sealed_tokens: null, created_at: now, used_at: now };
  // Neither goes while this is written.
  const isThere = await users.findLocked(trx, sub);
  if (!isThere) return 'taken';
  if (!(await links.insert(trx, row))) {
    return (await links.findPerson(trx, link))?.sub === sub ? 'connected' : 'taken';
  }
  await record(trx, { event: 'upstream_linked', sub, detail: { upstream, registered: false } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'upstream_linked', name: label }, now);
  return 'connected';
}

/** Takes a connection away. `last`: nobody could sign in to the account any more. */
export async function disconnect(
  trx: Trx,
  deps: Telling,
  sub: string,
  which: Pick<links.UpstreamLink, 'upstream' | 'upstream_sub'>,
  by: Actor,
  now: Date,
): Promise<'disconnected' | 'none' | 'last'> {
  // Of two at once the second sees what the first left.
  const ways = await waysIn(trx, deps, sub);
  const { upstream, upstream_sub } = which;
  const link = (await links.ofPerson(trx, sub)).find(
    (each) => each.upstream === upstream && each.upstream_sub === upstream_sub,
  );
  if (!link) return 'none';
  if (ways - (link.works ? 1 : 0) < 1) return 'last';
  await links.remove(trx, sub, which);
  await record(trx, { event: 'upstream_unlinked', sub, detail: { upstream } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'upstream_unlinked', name: link.label }, now);
  return 'disconnected';
}
