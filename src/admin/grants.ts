/** Grants: what people have let clients do. Revoking one ends its code, its refresh tokens and its access tokens. */
import { z } from 'zod';
import { formatScope } from '../protocol/scope.ts';
import * as store from '../store/grants.ts';
import type { Keyset } from '../store/postgres/listing.ts';
import { revokeGrant } from '../users/access.ts';
import { moment } from './api/list.ts';
import { collectionOf, type ReadCall } from './api/collection.ts';
import { requireUser } from './users.ts';

/** The states that a list can show. */
const GRANT_STATES = ['live', 'revoked'] as const;

const time = z.iso.datetime();
/** The schema of a grant. */
export const grantItem = z.strictObject({
  grant_id: z.string().describe('The `gid` of its tokens'),
  client_id: z.string(),
  sub: z.string(),
  sid: z.string().describe('The session it was given in'),
  live: z.boolean(),
  scope: z.string(),
  resource: z.array(z.string()),
  authorization_details: z.array(z.looseObject({ type: z.string() })).describe('What exactly was agreed to (RFC 9396)'),
  auth_time: time,
  acr: z.string(),
  amr: z.array(z.string()),
  offline: z.boolean().describe('With offline_access: it outlives its session'),
  created_at: time,
  expires_at: time,
  revoked_at: time.nullable(),
  revoked_for: z.string().nullable(),
});

/** A grant as it is answered. */
export const describeGrant = (grant: store.Grant, now: Date): z.output<typeof grantItem> => ({
  grant_id: grant.grant_id,
  client_id: grant.client_id,
  sub: grant.sub,
  sid: grant.sid,
  live: grant.revoked_at === null && grant.expires_at > now,
  scope: formatScope(grant.scope),
  resource: grant.resource,
  authorization_details: [...(grant.authorization_details ?? [])],
  auth_time: grant.auth_time.toISOString(),
  acr: grant.acr,
  amr: grant.amr,
  offline: grant.offline,
  created_at: grant.created_at.toISOString(),
  expires_at: grant.expires_at.toISOString(),
  revoked_at: grant.revoked_at?.toISOString() ?? null,
  revoked_for: grant.revoked_for,
});

const filters = {
  client_id: z.string(),
  state: z.enum(GRANT_STATES).describe('live unless said otherwise; those that ran out are in neither'),
  created_after: moment.describe('Given then, or later'),
  created_before: moment.describe('Given before then'),
};
const common = { noun: 'grant', id: 'grant_id', subject: 'grants', item: grantItem } as const;

/** One grant, if it is this person's where one is named. */
async function find({ db, now }: ReadCall, grant_id: string, sub?: string) {
  const row = await store.find(db, grant_id);
  return row && row.sub === (sub ?? row.sub) ? describeGrant(row, now) : undefined;
}

const ORDER = { sorts: { created_at: ['created_at', 'grant_id'] }, descending: true } as const;

async function page({ db, now }: ReadCall, filters: Partial<store.GrantFilters>, keyset: Keyset) {
  const { rows, ...rest } = await store.page(db, { ...filters, state: filters.state ?? 'live' }, now, keyset);
  return { items: rows.map((row) => describeGrant(row, now)), ...rest };
}

const ofAll = collectionOf({ ...common, summary: 'grants', path: '/grants' });

export const grants = ofAll.with({
  list: ofAll.list({
    ...ORDER,
    filters: z.strictObject({ sub: z.string(), ...filters }),
    page: (call, _ids, filters, keyset) => page(call, filters, keyset),
  }),
  find: (call, { grant_id }) => find(call, grant_id),
  remove: ({ trx, by, now }, { grant_id }) => revokeGrant(trx, grant_id, {}, by, now),
});

const ofUser = collectionOf({ ...common, summary: 'the grants of a user', path: '/users/{sub}/grants' });

export const userGrants = ofUser.with({
  list: ofUser.list({
    ...ORDER,
    filters: z.strictObject(filters),
    async page(call, { sub }, filters, keyset) {
      await requireUser(call, sub);
      return page(call, { ...filters, sub }, keyset);
    },
  }),
  find: (call, { sub, grant_id }) => find(call, grant_id, sub),
  remove: ({ trx, by, now }, { sub, grant_id }) => revokeGrant(trx, grant_id, { sub }, by, now),
});
