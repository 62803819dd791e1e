/** Tokens: what any of them is, why it is accepted or not, and its end. */
import type { Item } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { readToken } from '../input.ts';
import { record } from '../output.ts';

const STDIN =
  'With - the token is read from standard input: what is typed as an argument, others on the machine can see.';

const introspect: Leaf = {
  summary: 'say what a token is and whose, and everything that is wrong with it',
  argument: '<token>',
  explanation: STDIN,
  examples: ['tokens introspect - < token.txt'],
  async run({ api }, { argument }) {
    const token = await readToken(argument);
    const { FAULTS } = await import('../../tokens/inspect.ts');
    return api(async (to) => {
      const json = await to.call('POST /tokens/introspect', { body: { token } });
      const { grant, ...inspection } = json;
      const { grant_id, revoked_at, revoked_for } = (grant ?? {}) as Item;
      const meanings: Readonly<Record<string, string>> = FAULTS;
      return {
        json,
        ids: [grant_id ?? inspection['jti']].filter((id) => id !== undefined).map(String),
        text: record({ ...inspection, grant_id, revoked_at, revoked_for }, ['active', 'faults']),
        // A newer server may know more of them.
        notes: (inspection['faults'] as string[]).map((fault) => `${fault}: ${meanings[fault] ?? ''}`),
      };
    });
  },
};

const revoke: Leaf = {
  summary: 'end a token, with the grant that it belongs to',
  argument: '<token>',
  explanation: STDIN,
  examples: ['tokens revoke - < token.txt'],
  async run({ api }, { argument }) {
    const token = await readToken(argument);
    return api(async (to) => {
      const json = await to.call('POST /tokens/revoke', { body: { token } });
      if (json.ended === 'nothing') throw notFound('the token is unknown, or has expired');
      return {
        json,
        ids: json.grant_id === undefined ? [] : [json.grant_id],
        text: record(json, ['ended']),
      };
    });
  },
};

export const tokens: Group = { summary: 'what a token is, and its end', commands: { introspect, revoke } };
