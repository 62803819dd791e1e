/** Mail: what waits to be sent, what was sent lately, and what could not be. Never what it says. */
import { z } from 'zod';
import { removeMail, retryMail } from '../mail/retry.ts';
import * as store from '../store/mails.ts';
import { collectionOf } from './api/collection.ts';
import { Problem } from './api/problem.ts';

const STATES = ['waiting', 'sent', 'dead'] as const satisfies store.MailState[];

const item = z.strictObject({
  mail_id: z.string(),
  template: z.string().describe('What kind of mail it is'),
  recipient: z.string(),
  sub: z.string().nullable().describe('Whose account it is about'),
  lang: z.string(),
  state: z.enum(STATES).describe('dead: given up; it can be retried until its link has expired'),
  attempts: z.int(),
  next_at: z.iso.datetime().nullable().describe('When it is tried next'),
  until: z.iso.datetime().describe('Until when sending it makes sense'),
  last_failure: z.string().nullable(),
  created_at: z.iso.datetime(),
  done_at: z.iso.datetime().nullable().describe('When it was sent, or given up'),
});

const itemOf = (mail: store.Mail): z.output<typeof item> => {
  const { sealed: _sealed, expires_bucket: _bucket, next_at, until, created_at, done_at, ...rest } = mail;
  return {
    ...rest,
    next_at: mail.state === 'waiting' ? next_at.toISOString() : null,
    until: until.toISOString(),
    created_at: created_at.toISOString(),
    done_at: done_at?.toISOString() ?? null,
  };
};

const text = z.string().max(500);

const collection = collectionOf({
  noun: 'mail',
  summary: 'mails that wait, were sent lately, or could not be sent',
  path: '/mails',
  id: 'mail_id',
  subject: 'users',
  item,
});

export const mails = collection.with({
  list: collection.list({
    filters: z.strictObject({ state: z.enum(STATES), recipient: text.describe('The whole address'), sub: text }),
    sorts: { created_at: ['created_at', 'mail_id'] },
    descending: true,
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { mail_id }) {
    const mail = await store.find(db, mail_id);
    return mail && itemOf(mail);
  },
  remove: ({ trx, by, now }, { mail_id }) => removeMail(trx, mail_id, by, now),
  actions: {
    retry: collection.action({
      summary: 'Send it again, if it was given up and what it says is of use',
      body: z.strictObject({}).default({}),
      answer: null,
      async run({ trx, by, now }, { mail_id }) {
        if (!(await retryMail(trx, mail_id, by, now)) && (await store.find(trx, mail_id)))
          throw new Problem('conflict', 'it was not given up, or its link has expired');
        return undefined;
      },
    }),
  },
});
