/** The settings in force where the work is done: the database's here, or those of the server that --url names. */
import type { Leaf } from '../command.ts';
import { record } from '../output.ts';

export const settings: Leaf = {
  summary: 'show configuration (without secrets), versions and migrations, as the admin API does',
  examples: ['settings', 'settings --url https://id.example.com --json'],
  run: ({ api }) =>
    api(async (to) => {
      const json = await to.call('GET /settings');
      const { configuration, versions, migrations } = json;
      const missing = migrations.filter(({ applied }) => !applied).map(({ name }) => name);
      return { json, ids: missing, text: record({ ...versions, missing_migrations: missing, ...configuration }) };
    }),
};
