/** Clients: register, list, show, change, remove, and give another secret. Documents are those of RFC 7591. */
import { Option } from 'commander';
import {
  ClientExists,
  describeClient,
  register,
  removeClient,
  updateClient,
  type ClientDocument,
} from '../clients/register.ts';
import { setClientDisabled } from '../clients/disabling.ts';
import { addSecretTo } from '../clients/secrets.ts';
import type { Deps } from '../deps.ts';
import * as logos from '../store/client-logos.ts';
import * as store from '../store/clients.ts';
import * as scopes from '../store/scopes.ts';
import { BY } from './actor.ts';
import {
  fileOption,
  metadataOptions,
  negativeOptions,
  presetOption,
  readChanges,
  readRegistration,
  type MetadataOptions,
} from './client-metadata.ts';
import type { Answer, Group, Leaf } from './command.ts';
import { notAllowed, notFound, usage } from './failure.ts';
import { seconds } from './input.ts';
import { listOptions, readPages, type ListOptions } from './list.ts';
import { record, table } from './output.ts';

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
  async run({ open }, { options }) {
    const registration = await readRegistration(options);
    const { client_id } = registration;
    if (options.ifNotExists && client_id === undefined) throw usage('--if-not-exists needs --client-id');
    return open(async ({ deps }) => {
      try {
        return await answerOf(deps, await register(deps, registration, BY, deps.clock()));
      } catch (error) {
        if (!(error instanceof ClientExists) || !options.ifNotExists) throw error;
        const present = await store.find(deps.db, client_id!);
        if (!present) throw error;
        return answerOf(deps, describeClient(present));
      }
    });
  },
};

const list: Leaf<ListOptions> = {
  summary: 'list clients by id',
  options: listOptions,
  examples: ['clients list', 'clients list --json | jq -r ".[].client_id"'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const rows = await readPages(
        options,
        (limit, after) => store.list(deps.db, limit, after),
        ({ client_id }) => client_id,
      );
      return {
        json: rows.map(describeClient),
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
  run: ({ open }, { argument: client_id }) =>
    open(async ({ deps }) => {
      const row = await store.find(deps.db, client_id);
      if (!row) throw unknown(client_id);
      const answer = await answerOf(deps, describeClient(row));
      const logo = row.logo_uri === null ? undefined : logoOf(await logos.stateOf(deps.db, client_id));
      const more = record({ disabled: row.disabled_at, logo });
      return more === '' ? answer : { ...answer, text: `${answer.text}\n${more}` };
    }),
};

/** What became of a logo_uri. */
function logoOf(state: Awaited<ReturnType<typeof logos.stateOf>>): string {
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
  async run({ open }, { argument: client_id, options }) {
    const changes = await readChanges(client_id, options);
    return open(async ({ deps }) => {
      const document = await updateClient(deps, client_id, changes, BY, deps.clock());
      if (!document) throw unknown(client_id);
      return answerOf(deps, document);
    });
  },
};

const remove: Leaf = {
  summary: 'delete a client and end everything it was granted',
  argument: '<client_id>',
  examples: ['clients delete shop'],
  run: ({ open }, { argument: client_id }) =>
    open(async ({ deps }) => {
      if (!(await removeClient(deps, client_id, BY, deps.clock()))) throw unknown(client_id);
      return { json: { client_id, deleted: true }, ids: [client_id], text: `Client ${client_id} is deleted.` };
    }),
};

const disable: Leaf = {
  summary: 'disable a client and end everything it was granted; what it is stays',
  argument: '<client_id>',
  explanation: 'Running servers notice within 10 seconds; its grants end at once.',
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
  return ({ open }, { argument: client_id }) =>
    open(async ({ deps }) => {
      if (!(await setClientDisabled(deps, client_id, disabled, BY, deps.clock()))) throw unknown(client_id);
      const text = `Client ${client_id} is ${disabled ? 'disabled' : 'enabled'}.`;
      return { json: { client_id, disabled }, ids: [client_id], text };
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
  explanation: 'Running servers notice within 10 seconds. With --quiet only the new secret is printed.',
  examples: ['clients rotate-secret shop --overlap 7d'],
  async run({ open }, { argument: client_id, options: { overlap, clientSecret } }) {
    return open(async ({ deps }) => {
      const made = await addSecretTo(deps, client_id, { overlap, client_secret: clientSecret }, BY, deps.clock());
      if (made) {
        const shown = { client_id, client_secret: made.client_secret };
        const json = { ...shown, secret_id: made.secret_id, client_secret_expires_at: 0 };
        return { json, ids: [made.client_secret], text: record(shown, ['client_secret']), notes: [ONCE] };
      }
      if (await store.find(deps.db, client_id)) throw notAllowed(`${client_id} is a public client: it has no secret`);
      throw unknown(client_id);
    });
  },
};

const ONCE = 'The secret is shown this once: only its hash is kept.';

async function answerOf({ db, clock }: Pick<Deps, 'db' | 'clock'>, document: ClientDocument): Promise<Answer> {
  const { client_id } = document;
  const known = new Set((await scopes.all(db)).map(({ name }) => name));
  const missing = String(document['scope'])
    .split(' ')
    .filter((name) => name !== '' && !known.has(name));
  const notes = missing.map((name) => `The scope ${name} does not exist yet: postern scopes put ${name}`);
  if (document.client_secret !== undefined) notes.unshift(ONCE);
  else if ((await store.withoutSecret(db, clock())).includes(client_id)) {
    notes.unshift(`This client has no secret yet: postern clients rotate-secret ${client_id}`);
  }
  const { client_id: _id, client_secret, client_secret_expires_at: _never, client_id_issued_at, ...members } = document;
  const created = new Date(Number(client_id_issued_at) * 1000);
  const text = record({ client_id, client_secret, ...members, created }, ['client_id', 'client_secret']);
  return { json: document, ids: [client_id], text, notes };
}

export const clients: Group = {
  summary: 'applications that ask for tokens',
  commands: { create, list, get, update, disable, enable, delete: remove, 'rotate-secret': rotate },
};
