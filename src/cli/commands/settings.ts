/** The settings in force where the work is done, and the themes, which are the settings that are kept in the database. */
import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import type { CallAnswer } from '../../admin/api/calls.ts';
import { orUndefined, type Api } from '../api.ts';
import type { Answer, Group, Leaf } from '../command.ts';
import { Failure, notFound, usage } from '../failure.ts';
import { record } from '../output.ts';

const own: Leaf = {
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

type Theme = CallAnswer<'GET /settings/theme'>;
type Of = { client?: string };

const ofClient = () => new Option('--client <client_id>', 'of the pages of this client; without it, of all pages');

const find = (to: Api, { client }: Of): Promise<Theme | undefined> =>
  orUndefined(
    client === undefined
      ? to.call('GET /settings/theme')
      : to.call('GET /clients/{client_id}/theme', { ids: { client_id: client } }),
  );

/** For people the logo is a line; a picture in a terminal is none. */
const answerOf = (json: Theme, { client }: Of): Answer => ({
  json,
  ids: [client ?? 'server'],
  text: record({
    ...json,
    logo: json.logo === null ? null : `${json.logo.slice(5, json.logo.indexOf(';'))}, kept here`,
  }),
});

const theme: Leaf<Of> = {
  summary: 'show how pages look: name, colours, logo and links',
  options: () => [ofClient()],
  examples: ['settings theme', 'settings theme --client notes'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const present = await find(to, options);
      if (!present) throw notFound('there is no theme: pages look as they come');
      return answerOf(present, options);
    }),
};

interface ThemeOptions extends Of {
  name?: string;
  color?: string;
  colorDark?: string;
  logo?: string;
  policyUri?: string;
  tosUri?: string;
}

/** Nothing said leaves a member as it is; nothing between quotes takes it away. */
const said = (value: string | undefined, before: string | null | undefined): string | null =>
  value === undefined ? (before ?? null) : value === '' ? null : value;

async function readLogo(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new Failure('failed', `${file} cannot be read: ${error.message}`);
  });
  // Which of the formats it is, its own bytes say.
  return `data:image/png;base64,${bytes.toString('base64')}`;
}

const set: Leaf<ThemeOptions> = {
  summary: 'change how pages look; what is not named stays as it is',
  options: () => [
    ofClient(),
    new Option('--name <name>', 'what the service calls itself'),
    new Option('--color <color>', 'of links and main buttons by day, such as #1d3157; it has to be legible'),
    new Option('--color-dark <color>', 'the same by night, such as #f2c26b'),
    new Option('--logo <file>', 'a PNG, JPEG, WebP or GIF of at most 64 KiB'),
    new Option('--policy-uri <uri>', 'where the privacy policy is'),
    new Option('--tos-uri <uri>', 'where the terms of service are'),
  ],
  examples: [`settings set-theme --name Example --color '#0b5d3b' --color-dark '#7fd6ae' --logo logo.png`],
  explanation: 'An empty value takes a member away. Development shows the result at /dev/theme.',
  run: ({ api }, { options }) =>
    api(async (to) => {
      const { client, name, color, colorDark, logo, policyUri, tosUri } = options;
      if (Object.keys(options).every((option) => option === 'client')) throw usage('name what is to change');
      const before = await find(to, options);
      const body = {
        name: said(name, before?.name),
        color: said(color, before?.color),
        color_dark: said(colorDark, before?.color_dark),
        logo: said(logo === undefined || logo === '' ? logo : await readLogo(logo), before?.logo),
        policy_uri: said(policyUri, before?.policy_uri),
        tos_uri: said(tosUri, before?.tos_uri),
      };
      const after =
        client === undefined
          ? await to.call('PUT /settings/theme', { body })
          : await to.call('PUT /clients/{client_id}/theme', { ids: { client_id: client }, body });
      return answerOf(after, options);
    }),
};

const remove: Leaf<Of> = {
  summary: 'let pages look as they come',
  options: () => [ofClient()],
  examples: ['settings remove-theme', 'settings remove-theme --client notes'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const { client } = options;
      if (client === undefined) await to.call('DELETE /settings/theme');
      else await to.call('DELETE /clients/{client_id}/theme', { ids: { client_id: client } });
      return { json: {}, ids: [client ?? 'server'], text: 'The theme is gone.' };
    }),
};

export const settings: Group = {
  summary: 'show the settings in force, and change how pages look',
  own,
  commands: { theme, 'set-theme': set, 'remove-theme': remove },
};
