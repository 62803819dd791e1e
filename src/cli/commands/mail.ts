/** Mail: what waits, what was sent, what could not be, and trying again. */
import { Option } from 'commander';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { Failure, notFound, usage } from '../failure.ts';
import { newestOptions, readNewest, type NewestOptions } from '../list.ts';
import { table } from '../output.ts';

const list: Leaf<NewestOptions & { state?: string; to?: string }> = {
  summary: 'list mails of the last two weeks, latest first; never what they say',
  options: () => [
    new Option('--state <state>', 'those that wait, were sent, or were given up').choices(['waiting', 'sent', 'dead']),
    new Option('--to <address>', 'only those to this address'),
    ...newestOptions(),
  ],
  examples: ['mail list --state dead', 'mail list --to ada@example.com'],
  run: ({ api }, { options: { state, to: recipient, ...options } }) =>
    api(async (to) => {
      const { rows, notes } = await readNewest(to, 'GET /mails', options, { state, recipient });
      return {
        json: rows,
        ids: rows.map(({ mail_id }) => mail_id),
        text: table(
          ['MAIL', 'STATE', 'TO', 'WHAT', 'POSTED', 'TRIES', 'LAST FAILURE'],
          rows.map((row) => [
            row.mail_id,
            row.state,
            row.recipient,
            row.template,
            row.created_at,
            String(row.attempts),
            row.last_failure,
          ]),
          'There are none.',
        ),
        notes,
      };
    }),
};

const retry: Leaf<{ all?: true }> = {
  summary: 'send mails that were given up again, while their links are good',
  argument: '[mail_id]',
  options: () => [new Option('--all', 'every one that was given up')],
  examples: ['mail retry --all', 'mail retry fe4_Yx0…'],
  run: ({ api }, { argument, options }) =>
    api(async (to) => {
      if ((argument === '') !== (options.all === true)) throw usage('name one mail, or use --all');
      const dead = options.all ? await everything(to, 'GET /mails', { query: { state: 'dead' } }) : [];
      const wanted = options.all ? dead.map(({ mail_id }) => mail_id) : [argument];
      const retried: string[] = [];
      for (const mail_id of wanted) {
        const call = to.call('POST /mails/{mail_id}/retry', { ids: { mail_id }, present: true });
        // One whose link has expired meanwhile stays.
        if (options.all) await call.then(() => retried.push(mail_id)).catch(unlessNotAllowed);
        else if (await orUndefined(call)) retried.push(mail_id);
        else throw notFound(`there is no mail ${mail_id}`);
      }
      const text = retried.length === 1 ? 'One mail is tried again.' : `${retried.length} mails are tried again.`;
      return { json: { retried }, ids: retried, text };
    }),
};

function unlessNotAllowed(error: unknown): void {
  if (!(error instanceof Failure) || error.error !== 'conflict') throw error;
}

const remove: Leaf = {
  summary: 'forget a mail; one that waits is not sent',
  argument: '<mail_id>',
  examples: ['mail delete fe4_Yx0…'],
  run: ({ api }, { argument: mail_id }) =>
    api(async (to) => {
      const call = to.call('DELETE /mails/{mail_id}', { ids: { mail_id }, present: true });
      if (!(await orUndefined(call))) throw notFound(`there is no mail ${mail_id}`);
      return { json: { mail_id, deleted: true }, ids: [mail_id], text: `Mail ${mail_id} is deleted.` };
    }),
};

export const mail: Group = {
  summary: 'mail that waits, was sent, or could not be',
  commands: { list, retry, delete: remove },
};
