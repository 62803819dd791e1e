/** Sessions: who is signed in, everywhere or one person; ending one is that person's sign-out. */
import { z } from 'zod';
import { endSessionOf, idleSince } from '../sessions/index.ts';
import * as store from '../store/sessions.ts';
import { listOf, type AdminResource, type Call, type Ids, type Item } from './resource.ts';
import { requireUser } from './users.ts';

/** The states that a list can show. */
export const SESSION_STATES = ['live', 'ended'] as const;

const moment = z.iso.datetime();
const item = z.strictObject({
  sid: z.string(),
  sub: z.string(),
  kind: z.enum(['browser', 'login']).describe('A browser, or a script at POST /login'),
  live: z.boolean(),
  auth_time: moment,
  amr: z.array(z.string()),
  acr: z.string(),
  created_at: moment,
  seen_at: moment,
  expires_at: moment,
  ended_at: moment.nullable(),
});

/** A session as it is answered. */
export function describeSession({ deps: { config }, now }: Pick<Call, 'deps' | 'now'>, row: store.SeenSession): Item {
  const idle = row.kind === 'browser' && row.seen_at <= idleSince(config, now);
  return {
    sid: row.sid,
    sub: row.sub,
    kind: row.kind,
    live: row.ended_at === null && row.expires_at > now && !idle,
    auth_time: row.auth_time.toISOString(),
    amr: row.amr,
    acr: row.acr,
    created_at: row.created_at.toISOString(),
    seen_at: row.seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

const state = z.enum(SESSION_STATES).describe('live unless said otherwise; those that ran out are in neither');
const common = {
  noun: 'session',
  id: 'sid',
  subject: 'sessions',
  item,
  async find(call: Call, { sid, sub }: Ids) {
    const row = await store.find(call.deps.db, sid!);
    return row && row.sub === (sub ?? row.sub) ? describeSession(call, row) : undefined;
  },
  remove: ({ deps, by, now }: Call, { sid, sub }: Ids) => endSessionOf(deps, sid!, { sub }, by, now),
} as const;

const ORDER = { sorts: { created_at: ['created_at', 'sid'] }, descending: true } as const;

async function page(call: Call, filters: store.SessionFilters, keyset: Parameters<typeof store.page>[4]) {
  const { deps, now } = call;
  const { rows, ...rest } = await store.page(deps.db, filters, now, idleSince(deps.config, now), keyset);
  return { items: rows.map((row) => describeSession(call, row)), ...rest };
}

export const sessions: AdminResource = {
  ...common,
  summary: 'sessions',
  path: '/sessions',
  list: listOf({
    ...ORDER,
    filters: z.strictObject({ sub: z.string(), state }),
    page: (call, _ids, { sub, state: wanted = 'live' }, keyset) => page(call, { sub, state: wanted }, keyset),
  }),
};

export const userSessions: AdminResource = {
  ...common,
  summary: 'the sessions of a user',
  path: '/users/{sub}/sessions',
  list: listOf({
    ...ORDER,
    filters: z.strictObject({ state }),
    async page(call, { sub }, { state: wanted = 'live' }, keyset) {
      await requireUser(call, sub!);
      return page(call, { sub, state: wanted }, keyset);
    },
  }),
};
