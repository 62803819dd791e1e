/** The audit log: who did what, and what happened to whom. */
import { once } from 'node:events';
import { Option } from 'commander';
import { z } from 'zod';
import { secondsAfter } from '../../protocol/numeric-date.ts';
import { everything, items, type ApiRequest } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { usage } from '../failure.ts';
import { count, seconds } from '../input.ts';
import { table } from '../output.ts';

interface FilterOptions {
  event?: string;
  sub?: string;
  client?: string;
  actor?: string;
  requestId?: string;
  since?: string;
  until?: string;
}

const filterOptions = (): Option[] => [
  new Option('--event <name>', 'only this kind, e.g. sign_in or refresh_token_reuse'),
  new Option('--sub <sub>', 'only what is about this person'),
  new Option('--client <client_id>', 'only what is about this client'),
  new Option('--actor <actor>', 'only what this operator did'),
  new Option('--request-id <id>', 'only what this request did'),
  new Option('--since <time>', 'from then on: a date, a time with its zone, or 12h, 7d before now'),
  new Option('--until <time>', 'before then'),
];

function filtersOf(
  { since, until, client, requestId, ...named }: FilterOptions,
  now: Date,
): NonNullable<ApiRequest['query']> {
  return {
    event: named.event,
    sub: named.sub,
    actor: named.actor,
    client_id: client,
    request_id: requestId,
    since: momentOf('--since', since, now)?.toISOString(),
    until: momentOf('--until', until, now)?.toISOString(),
  };
}

const moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

function momentOf(option: string, text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,10}[smhd]$/.test(text)) return secondsAfter(now, -seconds(text));
  if (moment.safeParse(text).success) return new Date(text);
  throw usage(`${option} is ${text}: use 2026-01-31, 2026-01-31T12:00:00Z, or 12h, 7d before now`);
}

const list: Leaf<FilterOptions & { limit: number }> = {
  summary: 'list what happened, latest first',
  options: () => [...filterOptions(), new Option('--limit <count>', 'at most so many').argParser(count).default(50)],
  examples: ['audit list', 'audit list --event refresh_token_reuse --since 7d', 'audit list --client shop --json'],
  run: ({ api, reach }, { options }) =>
    api(async (to, deps) => {
      const query = filtersOf(options, deps?.clock() ?? reach.now());
      const rows = await everything(to, 'GET /audit-events', { query }, options.limit);
      return {
        json: rows,
        ids: rows.map(({ event_id }) => event_id),
        text: table(
          ['AT', 'EVENT', 'SUB', 'CLIENT', 'ACTOR', 'ADDRESS', 'DETAIL'],
          rows.map((row) => [row.at, row.event, row.sub, row.client_id, row.actor, row.ip, row.detail]),
          'Nothing of this kind happened.',
        ),
      };
    }),
};

const exportAll: Leaf<FilterOptions> = {
  summary: 'write what happened to standard output, latest first, a line of JSON each',
  options: filterOptions,
  examples: ['audit export --since 2026-01-01 --until 2026-02-01 > january.ndjson'],
  run: ({ api, reach }, { options }) =>
    api(async (to, deps) => {
      const query = filtersOf(options, deps?.clock() ?? reach.now());
      for await (const row of items(to, 'GET /audit-events', { query })) {
        // A log has more lines than fit in memory: it waits for its reader.
        if (!process.stdout.write(`${JSON.stringify(row)}\n`)) {
          await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]);
        }
        if (process.stdout.destroyed) break;
      }
      return undefined;
    }),
};

export const audit: Group = { summary: 'who did what, and what happened', commands: { list, export: exportAll } };
