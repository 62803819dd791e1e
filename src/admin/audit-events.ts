/** The audit log, to be read and exported. Nobody changes it; what is past its retention is swept. */
import { z } from 'zod';
import * as store from '../store/audit-log.ts';
import { moment } from './api/list.ts';
import { collectionOf } from './api/collection.ts';

const item = z.strictObject({
  event_id: z.string(),
  at: z.iso.datetime(),
  event: z.string(),
  sub: z.string().nullable().describe('Whom it is about'),
  client_id: z.string().nullable().describe('The client that it is about'),
  actor: z.string().nullable().describe('The operator who did it: a client_id, or cli: and an account of the system'),
  ip: z.string().nullable(),
  request_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()).describe('For a change, what was before and after; never a secret'),
});

const text = z.string().min(1).max(300);

/** An event as it is shown and exported. */
const itemOf = ({ at, ...event }: store.AuditEvent): z.output<typeof item> => ({ ...event, at: at.toISOString() });

const collection = collectionOf({
  noun: 'audit event',
  summary: 'what happened',
  path: '/audit-events',
  id: 'event_id',
  subject: 'audit',
  item,
});

export const auditEvents = collection.with({
  list: collection.list({
    filters: z.strictObject({
      event: text,
      sub: text,
      client_id: text,
      actor: text,
      ip: text,
      request_id: text,
      since: moment,
      until: moment,
    }),
    sorts: { at: store.BY_TIME },
    descending: true,
    exports: true,
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { event_id }) {
    const event = await store.find(db, event_id);
    return event && itemOf(event);
  },
});
