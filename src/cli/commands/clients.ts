/** Clients: register, list, show, change, remove, and give another secret. Documents are those of RFC 7591. */
import { Option } from 'commander';
import type { Deps } from '../../deps.ts';
import { adminApiOf } from '../../protocol/admin-api.ts';
import { usesSecret } from '../../protocol/client.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { isBuiltInScope } from '../../protocol/scope.ts';
import { NOTICED_WITHIN } from '../../store/postgres/noticed.ts';
import type { CallAnswer } from '../../admin/api/calls.ts';
import { everything, orUndefined, type Api, type Item } from '../api.ts';
import {
  documentOf,
  fileOption,
  metadataOptions,
  negativeOptions,
  presetOption,
  readChanges,
  readRegistration,
  type MetadataOptions,
} from '../client-metadata.ts';
import type { Answer, Group, Leaf } from '../command.ts';
import { check } from './clients-check.ts';
import { Failure, notFound, usage } from '../failure.ts';
import { seconds } from '../input.ts';
import { listOptions, readList, type ListOptions } from '../list.ts';
import { record, table } from '../output.ts';

type Client = CallAnswer<'GET /clients/{client_id}'>;
type Secret = CallAnswer<'POST /clients/{client_id}/secrets'>;

const NOTICED = `Running servers notice within ${NOTICED_WITHIN.clients} seconds`;

const unknown = (client_id: string): Error => notFound(`there is no client ${client_id}`);

const create: Leaf<MetadataOptions & { clientId?: string; clientSecret?: string; ifNotExists?: boolean }> = {
  summary: 'register a client; its secret is shown once, now',
  options: () => [
    presetOption(),
    ...metadataOptions(),
    new Option('--client-id <id>', 'its id, instead of a random one'),
    new Option('--client-secret <secret>', 'its secret, instead of a random one (or in the document of --file)'),
    fileOption(),
    new Option('--if-not-exists', 'with --client-id: answer with the client that has it, unchanged'),
  ],
  explanation: [
    'Without --preset, --grant-type and --file the preset is web. Options win over the document, the document over the preset.',
    'An id that is taken ends with exit code 1, unless --if-not-exists is given. With --quiet the secret is not shown at all.',
  ].join('\n'),
  examples: [
    'clients create --name "My shop" --redirect-uri https://shop.example.com/callback',
    'clients create --preset spa --name Notes --redirect-uri http://localhost:5173/ --scope "openid profile" --json',
    'clients create --preset m2m --client-id reports --scope "reports:write" --if-not-exists',
    'clients create --file - < client.json',
  ],
  async run({ api, access }, { options }) {
    const body = await readRegistration(options);
    const client_id = body['client_id'];
    if (options.ifNotExists && client_id === undefined) throw usage('--if-not-exists needs --client-id');
    return api(async (to) => {
      try {
        const answer = await answerOf(to, await to.call('POST /clients', { body }));
        const url = access?.issuer ?? '$ISSUER';
        return options.preset === 'admin'
          ? { ...answer, notes: [...(answer.notes ?? []), howToAsk(answer, url)] }
          : answer;
      } catch (error) {
        if (!(error instanceof Failure) || error.error !== 'conflict' || !options.ifNotExists) throw error;
        if (typeof client_id !== 'string') throw error;
        const present = await orUndefined(to.call('GET /clients/{client_id}', { ids: { client_id } }));
        if (!present) throw error;
        return answerOf(to, present);
      }
    });
  },
};

/** How a client of the admin API gets its first token. */
const howToAsk = ({ ids: [id] }: Answer, issuer: string): string =>
  [
    'A token for the admin API (and the same with POSTERN_CLIENT_ID and POSTERN_CLIENT_SECRET, for postern --url):',
    `  curl -u ${id}:$CLIENT_SECRET ${issuer}${endpoints.token_endpoint} -d grant_type=client_credentials -d resource=${adminApiOf(issuer)}`,
  ].join('\n');

const list: Leaf<ListOptions> = {
  summary: 'list clients by id',
  options: listOptions,
  examples: ['clients list', 'clients list --json | jq -r ".[].client_id"'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const rows = await readList(to, 'GET /clients', 'client_id', options, { sort: 'client_id' });
      return {
        json: rows.map(documentOf),
        ids: rows.map(({ client_id }) => client_id),
        text: table(
          ['CLIENT ID', 'NAME', 'AUTHENTICATION', 'GRANT TYPES'],
          rows.map((row) => [row.client_id, row.client_name, row.token_endpoint_auth_method, row.grant_types]),
          'There are no clients yet: postern clients create',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show a client, without its secret',
  argument: '<client_id>',
  examples: ['clients get shop', 'clients get shop --json > shop.json'],
  run: ({ api }, { argument: client_id }) =>
    api(async (to, deps) => {
      const client = await find(to, client_id);
      const answer = await answerOf(to, client);
      const { registered_by, last_used_at, disabled_at: disabled } = client;
      const logo = client.logo_uri === undefined || !deps ? undefined : await logoOf(deps, client_id);
      const more = record({ registered_by, last_used_at, disabled, logo });
      return { ...answer, text: `${answer.text}\n${more}` };
    }),
};

async function find(to: Api, client_id: string): Promise<Client> {
  const client = await orUndefined(to.call('GET /clients/{client_id}', { ids: { client_id } }));
  if (!client) throw unknown(client_id);
  return client;
}

/** What became of a logo_uri: only the database knows. */
async function logoOf({ db }: Deps, client_id: string): Promise<string> {
  const { stateOf } = await import('../../store/client-logos.ts');
  const state = await stateOf(db, client_id);
  const { fetched_at = null, media_type = null, last_failure = null, next_at = null } = state ?? {};
  const failed = last_failure === null ? '' : `, the last try failed: ${last_failure}`;
  if (fetched_at !== null) return `${media_type}, fetched ${fetched_at.toISOString()}${failed}`;
  if (next_at === null) return `given up${failed}; any \`clients update\` tries again`;
  return `not there yet${failed}`;
}

const update: Leaf<MetadataOptions> = {
  summary: 'change what is named of a client; the rest stays',
  argument: '<client_id>',
  options: () => [presetOption(), ...metadataOptions(), ...negativeOptions(), fileOption()],
  explanation: 'A list replaces the list before it. A member that is null in the document goes back to its default.',
  examples: [
    'clients update shop --redirect-uri https://shop.example.com/cb',
    'clients update shop --file - < shop.json',
  ],
  async run({ api }, { argument: client_id, options }) {
    const body = await readChanges(client_id, options);
    return api(async (to) => {
      const changed = await orUndefined(to.call('PATCH /clients/{client_id}', { ids: { client_id }, body }));
      if (!changed) throw unknown(client_id);
      return answerOf(to, changed);
    });
  },
};

const remove: Leaf = {
  summary: 'delete a client and end everything it was granted',
  argument: '<client_id>',
  examples: ['clients delete shop'],
  run: ({ api }, { argument: client_id }) =>
    api(async (to) => {
      const request = { ids: { client_id }, present: true };
      if (!(await orUndefined(to.call('DELETE /clients/{client_id}', request)))) throw unknown(client_id);
      return { json: { client_id, deleted: true }, ids: [client_id], text: `Client ${client_id} is deleted.` };
    }),
};

const disable: Leaf = {
  summary: 'disable a client and end everything it was granted; what it is stays',
  argument: '<client_id>',
  explanation: `${NOTICED}; its grants end at once.`,
  examples: ['clients disable shop'],
  run: ability(true),
};

const enable: Leaf = {
  summary: 'let a client that was disabled be used again',
  argument: '<client_id>',
  explanation: 'What it had before stays ended.',
  examples: ['clients enable shop'],
  run: ability(false),
};

function ability(disabled: boolean): Leaf['run'] {
  const name = disabled ? 'disable' : 'enable';
  return ({ api }, { argument: client_id }) =>
    api(async (to) => {
      const done = await orUndefined(to.call(`POST /clients/{client_id}/${name}`, { ids: { client_id } }));
      if (!done) throw unknown(client_id);
      return { json: { client_id, disabled }, ids: [client_id], text: `Client ${client_id} is ${name}d.` };
    });
}

const rotate: Leaf<{ overlap: number; clientSecret?: string }> = {
  summary: 'give a client another secret, shown once, now',
  argument: '<client_id>',
  options: () => [
    new Option('--overlap <time>', 'how long the old secrets keep working: seconds, or 12h, 7d')
      .argParser(seconds)
      .default(0, 'they stop at once'),
    new Option('--client-secret <secret>', 'the new secret, instead of a random one'),
  ],
  explanation: `${NOTICED}. With --quiet only the new secret is printed.`,
  examples: ['clients rotate-secret shop --overlap 7d'],
  run: ({ api }, { argument: client_id, options: { overlap, clientSecret } }) =>
    api(async (to) => {
      const made = await addSecret(to, client_id, { overlap, client_secret: clientSecret });
      const { secret_id, client_secret } = made;
      const shown = { client_id, client_secret };
      const json = { ...shown, secret_id, client_secret_expires_at: 0 };
      const notes = client_secret === undefined ? [] : [ONCE];
      return {
        json,
        ids: [client_secret ?? ''],
        text: record(shown, ['client_secret']),
        notes,
      };
    }),
};

async function addSecret(to: Api, client_id: string, body: Item): Promise<Secret> {
  const made = await orUndefined(to.call('POST /clients/{client_id}/secrets', { ids: { client_id }, body }));
  if (!made) throw unknown(client_id);
  return made;
}

const secrets: Leaf = {
  summary: 'list the secrets of a client: their ids and times, never what they are',
  argument: '<client_id>',
  examples: ['clients secrets shop'],
  run: ({ api }, { argument: client_id }) =>
    api(async (to) => {
      const rows = await secretsOf(to, client_id);
      if (!rows) throw unknown(client_id);
      return {
        json: rows,
        ids: rows.map(({ secret_id }) => secret_id),
        text: table(
          ['SECRET ID', 'MADE', 'UNTIL'],
          rows.map((row) => [row.secret_id, row.created_at, row.expires_at]),
          `There are none: postern clients rotate-secret ${client_id}`,
        ),
      };
    }),
};

const deleteSecret: Leaf<{ secretId?: string }> = {
  summary: 'take one secret away from a client, now',
  argument: '<client_id>',
  options: () => [new Option('--secret-id <id>', 'which one: postern clients secrets ID').makeOptionMandatory()],
  examples: ['clients delete-secret shop --secret-id 3kQd…'],
  run: ({ api }, { argument: client_id, options: { secretId: secret_id = '' } }) =>
    api(async (to) => {
      const request = { ids: { client_id, secret_id }, present: true };
      const done = await orUndefined(to.call('DELETE /clients/{client_id}/secrets/{secret_id}', request));
      if (!done) throw notFound(`${client_id} has no secret ${secret_id}`);
      return {
        json: { client_id, secret_id, deleted: true },
        ids: [secret_id],
        text: `Secret ${secret_id} is deleted.`,
      };
    }),
};

const secretsOf = (to: Api, client_id: string): Promise<Secret[] | undefined> =>
  orUndefined(everything(to, 'GET /clients/{client_id}/secrets', { ids: { client_id } }));

const ONCE = 'The secret is shown this once: only its hash is kept.';

async function answerOf(to: Api, client: Client): Promise<Answer> {
  const document = documentOf(client);
  const { client_id, scope = '', client_id_issued_at } = client;
  const {
    client_id: _id,
    client_secret,
    client_secret_expires_at: _never,
    client_id_issued_at: _at,
    ...members
  } = document;
  const notes = await missingScopes(to, scope);
  if (client_secret !== undefined) notes.unshift(ONCE);
  else if (await lacksSecret(to, client)) {
    notes.unshift(`This client has no secret yet: postern clients rotate-secret ${client_id}`);
  }
  const created = new Date(client_id_issued_at * 1000);
  const text = record({ client_id, client_secret, ...members, created }, ['client_id', 'client_secret']);
  return { json: document, ids: [client_id], text, notes };
}

/** For people only, so that whoever may not look is not told. */
async function missingScopes(to: Api, scope: string): Promise<string[]> {
  const named = scope.split(' ').filter((name) => name !== '' && !isBuiltInScope(name));
  const notes: string[] = [];
  for (const name of named) {
    const known = await to.call('GET /scopes/{name}', { ids: { name } }).catch((error: Failure) => error);
    if (known instanceof Failure && known.error === 'not_found') {
      notes.push(`The scope ${name} does not exist yet: postern scopes put ${name}`);
    }
  }
  return notes;
}

async function lacksSecret(to: Api, client: Client): Promise<boolean> {
  if (!usesSecret(client)) return false;
  const rows = await secretsOf(to, client.client_id);
  return rows?.every(({ expires_at }) => expires_at !== null) ?? false;
}

export const clients: Group = {
  summary: 'applications that ask for tokens',
  commands: {
    create,
    list,
    get,
    update,
    check,
    disable,
    enable,
    delete: remove,
    'rotate-secret': rotate,
    secrets,
    'delete-secret': deleteSecret,
  },
};
