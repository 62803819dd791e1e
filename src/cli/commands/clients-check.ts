/** What a client's registration says against a profile, with the command that mends each point. */
import { Option } from 'commander';
import { deviationsFrom, PROFILES, type Profile, type Profiled } from '../../protocol/profile.ts';
import { orUndefined } from '../api.ts';
import type { Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { table } from '../output.ts';

export const check: Leaf<{ profile?: Profile }> = {
  summary: 'list what keeps a client from a profile, and how to mend it; exit code 1 when something does',
  argument: '<client_id>',
  options: () => [
    new Option('--profile <name>', "which one, instead of the client's own, or else fapi2_security").choices(PROFILES),
  ],
  examples: ['clients check wallet', 'clients check shop --profile fapi2_message_signing'],
  run: ({ api }, { argument: client_id, options }) =>
    api(async (to) => {
      const client = await orUndefined(to.call('GET /clients/{client_id}', { ids: { client_id } }));
      if (!client) throw notFound(`there is no client ${client_id}`);
      const profile = options.profile ?? client.profile ?? 'fapi2_security';
      const deviations = deviationsFrom(profile, client as Profiled).map((one) => ({
        ...one,
        command: `postern clients update ${client_id} ${one.mend}`,
      }));
      const together = deviations.map(({ mend }) => mend).join(' ');
      return {
        json: { client_id, profile, deviations },
        ids: deviations.map(({ member }) => member),
        text: table(
          ['CLAUSE', 'WHAT IS WRONG', 'MENDED BY'],
          deviations.map(({ clause, problem, command }) => [clause, problem, command]),
          `Client ${client_id} keeps to ${profile}.`,
        ),
        ...(together !== '' && {
          notes: [`All of it: postern clients update ${client_id} --profile ${profile} ${together}`],
          exit_code: 1,
        }),
      };
    }),
};
