/** Why a request was refused: by the id that its answer carried, or the latest refusals. */
import { Option } from 'commander';
import type { Deps } from '../../deps.ts';
import type { ExplainedRefusal } from '../../events/refusals.ts';
import type { Answer, Leaf } from '../command.ts';
import { Failure, usage } from '../failure.ts';
import { count } from '../input.ts';
import { record, strong, table } from '../output.ts';

interface Options {
  recent?: boolean;
  client?: string;
  user?: string;
  limit?: number;
}

const RECENT = 20;
const SAME = 'A caller calls its requests what it likes: these had the same X-Request-Id.';

export const explain: Leaf<Options> = {
  summary: 'why a request was refused',
  argument: '[request_id]',
  options: () => [
    new Option('--recent', 'the latest refusals instead'),
    new Option('--client <client_id>', 'the latest of this client'),
    new Option('--user <sub>', 'the latest about this person'),
    new Option('--limit <count>', `at most so many (default: ${RECENT})`).argParser(count),
  ],
  explanation: [
    'The request id is in the X-Request-Id header of every answer, on error pages, and in the log.',
    'What the caller sent as X-Request-Id does, too, unless it could be a secret.',
    'Servers write refusals down within a second or two, and keep them for REFUSAL_RETENTION seconds.',
  ].join('\n'),
  examples: ['explain pQ8Zl2wVn0aXk3Ts', 'explain --recent --client my-app', 'explain --user 4f1c… --json'],
  run({ open }, { argument: request_id, options }) {
    const lists = options.recent === true || options.client !== undefined || options.user !== undefined;
    if (lists === (request_id !== '')) throw usage('give a request id, or --recent, --client or --user');
    return open(({ deps }) => (lists ? latest(deps, options) : one(deps, request_id)));
  },
};

async function one({ db, config }: Deps, request_id: string): Promise<Answer> {
  const { findRefusals } = await import('../../events/refusals.ts');
  const refusals = await findRefusals({ db }, request_id);
  const [refusal] = refusals;
  if (!refusal) throw unknown(request_id, config.REFUSAL_RETENTION);
  return {
    json: refusals.length === 1 ? refusal : refusals,
    ids: refusals.map(({ refusal_id }) => refusal_id),
    text: refusals.map(describe).join('\n\n'),
    notes: refusals.length > 1 ? [SAME] : [],
  };
}

function describe(refusal: ExplainedRefusal): string {
  const { check, clause, expected, received, error, error_description, status, method, route } = refusal;
  const shown = {
    check,
    clause,
    expected,
    received,
    answered: `${status} ${error}: ${error_description}`,
    route: `${method} ${route}`,
    at: refusal.at,
    client_id: refusal.client_id,
    sub: refusal.sub,
    ip: refusal.ip,
    request_id: refusal.request_id,
    caller_request_id: refusal.caller_request_id,
  };
  return record(shown, ['check', 'expected', 'received']);
}

/** Exit code 3, and why it may be. */
const unknown = (request_id: string, retention: number): Failure =>
  new Failure(
    'not_found',
    `there is no refusal with the request id ${request_id}`,
    ...(retention === 0
      ? ['REFUSAL_RETENTION is 0: nothing is kept']
      : [
          'either the request was not refused; or it came more than ' +
            `${retention} seconds ago (REFUSAL_RETENTION), or in the last second or two; or it was one of so many at ` +
            'once that they were only counted (`postern explain --recent` says so). The log has a line for each.',
        ]),
  );

async function latest({ db }: Deps, { client, user, limit = RECENT }: Options): Promise<Answer> {
  const { listRefusals } = await import('../../events/refusals.ts');
  const refusals = await listRefusals({ db }, { client_id: client, sub: user }, limit);
  const row = (refusal: ExplainedRefusal): Parameters<typeof table>[1][number] => {
    const { at, request_id, check, client_id, route, received, dropped } = refusal;
    return dropped > 0
      ? [at, '', '', '', '', `${dropped} more that were not kept`]
      : [at, request_id, check, client_id, route, received];
  };
  return {
    json: refusals,
    ids: refusals.flatMap(({ request_id }) => request_id ?? []),
    text: table(
      ['AT', 'REQUEST ID', 'CHECK', 'CLIENT', 'ROUTE', 'RECEIVED'],
      refusals.map(row),
      'No refusals are kept.',
    ),
    notes: refusals.length > 0 ? [`${strong('postern explain')} with a request id says more.`] : [],
  };
}
