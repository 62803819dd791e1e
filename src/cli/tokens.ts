/** Tokens: what any of them is, why it is accepted or not, and its end. */
import { describeEnd, describeToken } from '../admin/tokens.ts';
import { FAULTS, inspect } from '../tokens/inspect.ts';
import { endTarget, findTarget } from '../tokens/revoke.ts';
import { BY } from './actor.ts';
import type { Group, Leaf } from './command.ts';
import { notFound } from './failure.ts';
import { readToken } from './input.ts';
import { record } from './output.ts';

const STDIN =
  'With - the token is read from standard input: what is typed as an argument, others on the machine can see.';

const introspect: Leaf = {
  summary: 'say what a token is and whose, and everything that is wrong with it',
  argument: '<token>',
  explanation: STDIN,
  examples: ['tokens introspect - < token.txt'],
  async run({ open }, { argument }) {
    const token = await readToken(argument);
    return open(async ({ deps }) => {
      const now = deps.clock();
      const inspection = await inspect(deps, token, now);
      const { grant, ...said } = describeToken(inspection, now);
      const about = inspection.grant && {
        grant_id: inspection.grant.grant_id,
        revoked_at: inspection.grant.revoked_at,
        revoked_for: inspection.grant.revoked_for,
      };
      return {
        json: { ...said, ...(grant !== undefined && { grant }) },
        ids: [inspection.grant?.grant_id ?? inspection.jti ?? ''].filter((id) => id !== ''),
        text: record({ ...(said as Record<string, string>), ...about }, ['active', 'faults']),
        notes: inspection.faults.map((fault) => `${fault}: ${FAULTS[fault]}`),
      };
    });
  },
};

const revoke: Leaf = {
  summary: 'end a token, with the grant that it belongs to',
  argument: '<token>',
  explanation: STDIN,
  examples: ['tokens revoke - < token.txt'],
  async run({ open }, { argument }) {
    const token = await readToken(argument);
    return open(async ({ deps }) => {
      const now = deps.clock();
      const target = await findTarget(deps, token, now);
      if (!target) throw notFound('the token is unknown, or has expired');
      await endTarget(deps, target, 'operator', BY, now);
      const json = describeEnd(target);
      const id = target.gid ?? target.jti ?? '';
      return { json, ids: [id], text: record(json as Record<string, string>, ['ended']) };
    });
  },
};

export const tokens: Group = { summary: 'what a token is, and its end', commands: { introspect, revoke } };
