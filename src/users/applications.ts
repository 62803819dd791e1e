/** The applications that a person is connected with: what each may do, and the end of that. */
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/index.ts';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import * as consents from '../store/consents.ts';
import { byClient } from '../store/granted-to-clients.ts';
import { transact } from '../store/postgres/db.ts';
import { narrowConsent, withdrawConsent } from './access.ts';

/** An application as its person sees it. */
export interface Application {
  client_id: string;
  /** As it is registered; the client_id where it has no name, or is there no longer. */
  client_name: string;
  /** What it may do: what was agreed to, and what it was given without being asked for (`skip_consent`). */
  scope: string[];
  /** The part of it that the person agreed to, and can take back alone. */
  agreed: string[];
  resource: string[];
  /** What exactly its grants are for (RFC 9396). */
  authorization_details: readonly AuthorizationDetail[];
  /** It may come back while nobody is there. */
  offline_access: boolean;
  /** Has it access now? Otherwise what was agreed to is remembered, so that it need not be asked again. */
  has_access: boolean;
  since: Date;
  /** When it was last let in; null where that is longer ago than grants are kept. */
  last_used: Date | null;
}

/** More than anybody looks through. */
const MOST = 200;

/** The applications of a person, by name. */
export async function applicationsOf({ db }: Pick<Deps, 'db'>, sub: string, now: Date): Promise<Application[]> {
  const keyset = { columns: ['client_id'], descending: false, after: undefined, limit: MOST };
  const [granted, agreed] = await Promise.all([byClient(db, sub, now), consents.page(db, sub, keyset)]);
  const byId = new Map<string, Application>();
  for (const { client_id, client_name, scope, resource, authorization_details, offline, since, last_used } of granted) {
    byId.set(client_id, {
      client_id,
      client_name: client_name ?? client_id,
      scope,
      agreed: [],
      resource,
      authorization_details,
      offline_access: offline,
      has_access: true,
      since,
      last_used,
    });
  }
  for (const { client_id, client_name, agreed: entries } of agreed.rows) {
    const present = byId.get(client_id);
    const since = entries.map(({ updated_at }) => new Date(updated_at)).reduce((a, b) => (a < b ? a : b));
    byId.set(client_id, {
      client_id,
      client_name: client_name ?? client_id,
      scope: union(present?.scope ?? [], ...entries.map(({ scope }) => scope)),
      agreed: union(...entries.map(({ scope }) => scope)),
      resource: union(present?.resource ?? [], ...entries.map(({ resource }) => resource.split(' ').filter(Boolean))),
      authorization_details: present?.authorization_details ?? [],
      offline_access: present?.offline_access ?? false,
      has_access: present !== undefined,
      since: present && present.since < since ? present.since : since,
      last_used: present?.last_used ?? null,
    });
  }
  return [...byId.values()].toSorted((a, b) => a.client_name.localeCompare(b.client_name));
}

const union = (...lists: ReadonlyArray<readonly string[]>): string[] => [...new Set(lists.flat())].toSorted();

/** Takes back everything that an application was given by a person: consents, grants, and with them every token. */
export const disconnectApplication = (
  { db }: Pick<Deps, 'db'>,
  sub: string,
  client_id: string,
  by: Actor,
  now: Date,
): Promise<boolean> => transact(db, (trx) => withdrawConsent(trx, sub, client_id, by, now));

/** Takes one thing back that an application may do, and with it the grants that have it; the rest stays agreed to. */
export const narrowApplication = (
  { db }: Pick<Deps, 'db'>,
  agreed: { sub: string; client_id: string; scope: string },
  by: Actor,
  now: Date,
): Promise<boolean> => transact(db, (trx) => narrowConsent(trx, agreed, by, now));
