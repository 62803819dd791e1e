/** Sessions: who is signed in, everywhere or one person; ending one is that person's sign-out. */
import { z } from 'zod';
import { endSessionOf, idleSince } from '../sessions/index.ts';
import * as store from '../store/sessions.ts';
import { collectionOf, type Call, type ReadCall } from './api/collection.ts';
import { requireUser } from './users.ts';

/** The states that a list can show. */
const SESSION_STATES = ['live', 'ended'] as const;

const moment = z.iso.datetime();
const item = z.strictObject({
  sid: z.string(),
  sub: z.string(),
  kind: z.enum(['browser', 'login']).describe('A browser, or a script at POST /login'),
  live: z.boolean(),
  device: z.string().nullable().describe('Program and system, as the browser names itself: Firefox/Windows'),
  network: z.string().nullable().describe('The network it began in: /24, or /56 of IPv6'),
  auth_time: moment,
  amr: z.array(z.string()),
  acr: z.string(),
  created_at: moment,
  seen_at: moment,
  expires_at: moment,
  ended_at: moment.nullable(),
});

/** A session as it is answered. */
function describeSession(
  { deps: { config }, now }: Pick<Call, 'deps' | 'now'>,
  row: store.ShownSession,
): z.output<typeof item> {
  const idle = row.kind === 'browser' && row.seen_at <= idleSince(config, now);
  return {
    sid: row.sid,
    sub: row.sub,
    kind: row.kind,
    live: row.ended_at === null && row.expires_at > now && !idle,
    device: row.device,
    network: row.network,
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
const common = { noun: 'session', id: 'sid', subject: 'sessions', item } as const;

/** One session, if it is this person's where one is named. */
async function find(call: ReadCall, sid: string, sub?: string) {
  const row = await store.find(call.db, sid);
  return row && row.sub === (sub ?? row.sub) ? describeSession(call, row) : undefined;
}

const ORDER = { sorts: { created_at: ['created_at', 'sid'] }, descending: true } as const;

async function page(call: ReadCall, filters: store.SessionFilters, keyset: Parameters<typeof store.page>[4]) {
  const { db, deps, now } = call;
  const { rows, ...rest } = await store.page(db, filters, now, idleSince(deps.config, now), keyset);
  return { items: rows.map((row) => describeSession(call, row)), ...rest };
}

const ofAll = collectionOf({ ...common, summary: 'sessions', path: '/sessions' });

export const sessions = ofAll.with({
  list: ofAll.list({
    ...ORDER,
    filters: z.strictObject({ sub: z.string(), state }),
    page: (call, _ids, { sub, state: listed = 'live' }, keyset) => page(call, { sub, state: listed }, keyset),
  }),
  find: (call, { sid }) => find(call, sid),
  remove: ({ trx, by, now }, { sid }) => endSessionOf(trx, sid, {}, by, now),
});

const ofUser = collectionOf({ ...common, summary: 'the sessions of a user', path: '/users/{sub}/sessions' });

export const userSessions = ofUser.with({
  list: ofUser.list({
    ...ORDER,
    filters: z.strictObject({ state }),
    async page(call, { sub }, { state: listed = 'live' }, keyset) {
      await requireUser(call, sub);
      return page(call, { sub, state: listed }, keyset);
    },
  }),
  find: (call, { sub, sid }) => find(call, sid, sub),
  remove: ({ trx, by, now }, { sub, sid }) => endSessionOf(trx, sid, { sub }, by, now),
});
