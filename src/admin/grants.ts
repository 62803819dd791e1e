/** Grants: what people have let clients do. Revoking one ends its code, its refresh tokens and its access tokens. */
import { z } from 'zod';
import { formatScope } from '../protocol/scope.ts';
import * as store from '../store/grants.ts';
import type { Keyset } from '../store/listing.ts';
import { revokeGrant } from '../users/access.ts';
import { moment } from './list.ts';
import { listOf, type AdminResource, type Call, type Ids, type Item } from './resource.ts';
import { requireUser } from './users.ts';

/** The states that a list can show. */
export const GRANT_STATES = ['live', 'revoked'] as const;

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
export const describeGrant = (grant: store.Grant, now: Date): Item => ({
  grant_id: grant.grant_id,
  client_id: grant.client_id,
  sub: grant.sub,
  sid: grant.sid,
  live: grant.revoked_at === null && grant.expires_at > now,
  scope: formatScope(grant.scope),
  resource: grant.resource,
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
const common = {
  noun: 'grant',
  id: 'grant_id',
  subject: 'grants',
  item: grantItem,
  async find({ deps, now }: Call, { grant_id, sub }: Ids) {
    const row = await store.find(deps.db, grant_id!);
    return row && row.sub === (sub ?? row.sub) ? describeGrant(row, now) : undefined;
  },
  remove: ({ deps, by, now }: Call, { grant_id, sub }: Ids) => revokeGrant(deps, grant_id!, { sub }, by, now),
} as const;

const ORDER = { sorts: { created_at: ['created_at', 'grant_id'] }, descending: true } as const;

async function page({ deps, now }: Call, asked: Partial<store.GrantFilters>, keyset: Keyset) {
  const { rows, ...rest } = await store.page(deps.db, { ...asked, state: asked.state ?? 'live' }, now, keyset);
  return { items: rows.map((row) => describeGrant(row, now)), ...rest };
}

export const grants: AdminResource = {
  ...common,
  summary: 'grants',
  path: '/grants',
  list: listOf({
    ...ORDER,
    filters: z.strictObject({ sub: z.string(), ...filters }),
    page: (call, _ids, asked, keyset) => page(call, asked, keyset),
  }),
};

export const userGrants: AdminResource = {
  ...common,
  summary: 'the grants of a user',
  path: '/users/{sub}/grants',
  list: listOf({
    ...ORDER,
    filters: z.strictObject(filters),
    async page(call, { sub }, asked, keyset) {
      await requireUser(call, sub!);
      return page(call, { ...asked, sub }, keyset);
    },
  }),
};
