/** Providers that people may sign in with: Google, another Postern, whoever speaks OpenID Connect. */
import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { pages } from '../../protocol/endpoint.ts';
import { upstreamPresets, type UpstreamPreset } from '../../protocol/upstream-presets.ts';
import { UPSTREAM_AUTH_METHODS, UPSTREAM_KINDS, UPSTREAM_REGISTRATIONS } from '../../protocol/upstream.ts';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { Failure, notFound, usage } from '../failure.ts';
import { readDocument, readPassword, words } from '../input.ts';
import { record, table } from '../output.ts';

const list: Leaf = {
  summary: 'list the providers that people may sign in with',
  examples: ['upstreams list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /upstreams');
      return {
        json: rows,
        ids: rows.map(({ upstream }) => upstream),
        text: table(
          ['UPSTREAM', 'LABEL', 'ISSUER', 'REGISTRATION', 'DOMAINS', 'DISABLED'],
          rows.map((row) => [row.upstream, row.label, row.issuer, row.registration, row.domains, row.disabled]),
          'There are no upstreams yet: postern upstreams put google --preset google',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show a provider, without its secret',
  argument: '<upstream>',
  examples: ['upstreams get google --json'],
  run: ({ api }, { argument: upstream }) =>
    api(async (to) => {
      const row = await orUndefined(to.call('GET /upstreams/{upstream}', { ids: { upstream } }));
      if (!row) throw notFound(`there is no upstream ${upstream}`);
      return { json: row, ids: [upstream], text: record(row, ['upstream']) };
    }),
};

interface PutOptions {
  preset?: UpstreamPreset;
  kind?: string;
  label?: string;
  issuer?: string;
  clientId?: string;
  clientSecretStdin?: boolean;
  clientSecretFile?: string;
  authMethod?: string;
  tenant?: string;
  teamId?: string;
  keyId?: string;
  scope?: string[];
  domain?: string[];
  registration?: string;
  linking?: boolean;
  trustEmail?: boolean;
  keepTokens?: boolean;
  untypedLogoutTokens?: boolean;
  disable?: boolean;
  enable?: boolean;
  file?: string;
}

const put: Leaf<PutOptions> = {
  summary: 'make a provider, or change what is named of it',
  argument: '<upstream>',
  options: () => [
    new Option('--preset <name>', 'start from what is known of this one').choices(Object.keys(upstreamPresets)),
    new Option('--kind <kind>', 'OpenID Connect, or OAuth 2.0 alone').choices(UPSTREAM_KINDS),
    new Option('--label <text>', 'what people see on the button'),
    new Option('--issuer <url>', 'where its metadata is found'),
    new Option('--tenant <id>', 'of the preset microsoft: the tenant in its issuer'),
    new Option('--client-id <id>', 'what this server is called there'),
    new Option('--client-secret-stdin', 'read its secret there from standard input'),
    new Option('--client-secret-file <path>', 'or from this file; for Apple the private key (.p8)'),
    new Option('--auth-method <method>', 'how the secret is shown').choices(UPSTREAM_AUTH_METHODS),
    new Option('--team-id <id>', 'Apple: the team that the key belongs to'),
    new Option('--key-id <id>', 'Apple: the id of the key'),
    new Option('--scope <scopes>', 'what is asked for, separated by spaces').argParser(words),
    new Option('--domain <domains>', 'whose addresses lead there; may be given several times').argParser(words),
    new Option('--registration <who>', 'who gets an account by signing in there').choices(UPSTREAM_REGISTRATIONS),
    new Option('--linking', 'people may connect it to the account they have'),
    new Option('--no-linking', 'they may not'),
    new Option('--trust-email', 'its addresses count as verified, whatever it says of them'),
    new Option('--no-trust-email', 'only those count that it calls verified'),
    new Option('--keep-tokens', 'keep its tokens, sealed'),
    new Option('--no-keep-tokens', 'forget its tokens'),
    new Option('--untyped-logout-tokens', 'take its logout tokens, though they do not say that they are one'),
    new Option('--no-untyped-logout-tokens', 'take only those of the type logout+jwt'),
    new Option('--disable', 'nobody signs in with it'),
    new Option('--enable', 'people sign in with it again'),
    new Option('--file <path>', 'further members as a JSON document; - for standard input'),
  ],
  examples: [
    'upstreams put google --preset google --client-id 123.apps.googleusercontent.com --client-secret-file google.secret',
    'upstreams put github --preset github --client-id Iv1.123 --client-secret-stdin < github.secret',
    'upstreams put work --preset postern --label "Work" --issuer https://id.example.com --client-id us --client-secret-file work.secret --domain example.com',
  ],
  explanation: `Register ISSUER${pages.upstream}/<upstream>/callback as the redirect URI there, and .../backchannel-logout as its logout URI.`,
  async run({ api }, { argument: upstream, options }) {
    const body = await bodyOf(upstream, options);
    return api(async (to) => {
      const ids = { upstream };
      const preset = options.preset ? upstreamPresets[options.preset] : {};
      // A preset is where a new one starts from; what is there already keeps what it was given.
      const row =
        (await orUndefined(to.call('PATCH /upstreams/{upstream}', { ids, body }))) ??
        (await to.call('PUT /upstreams/{upstream}', { ids, body: { label: upstream, ...preset, ...body } }));
      return { json: row, ids: [upstream], text: record(row, ['upstream']) };
    });
  },
};

async function bodyOf(upstream: string, options: PutOptions): Promise<Record<string, unknown>> {
  const { preset, tenant, issuer, clientSecretStdin, clientSecretFile, file, disable, enable } = options;
  if (clientSecretStdin && (clientSecretFile !== undefined || file === '-')) throw usage('one secret, from one place');
  if (disable && enable) throw usage('--disable and --enable are one or the other');
  const client_secret = clientSecretStdin
    ? await readPassword()
    : clientSecretFile === undefined
      ? undefined
      : await readSecret(clientSecretFile);
  const known = preset && (upstreamPresets[preset] as { issuer?: string });
  const named =
    issuer ?? (tenant === undefined ? undefined : known?.issuer?.replace('{tenant}', encodeURIComponent(tenant)));
  const given = {
    kind: options.kind,
    label: options.label,
    issuer: named,
    client_id: options.clientId,
    client_secret,
    token_endpoint_auth_method: options.authMethod,
    secret_team_id: options.teamId,
    secret_key_id: options.keyId,
    scope: options.scope,
    domains: options.domain,
    registration: options.registration,
    linking: options.linking,
    trust_email: options.trustEmail,
    keep_tokens: options.keepTokens,
    untyped_logout_tokens: options.untypedLogoutTokens,
    disabled: disable ? true : enable ? false : undefined,
  };
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  const body = { ...(file !== undefined && (await readDocument(file))), ...Object.fromEntries(members) };
  if (Object.keys(body).length === 0 && preset === undefined) {
    throw usage(`there is nothing to change of ${upstream}: give an option`);
  }
  return body;
}

async function readSecret(path: string): Promise<string> {
  const secret = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Failure('failed', `${path} cannot be read: ${error.message}`);
  });
  if (secret.trim() === '') throw usage(`${path} is empty`);
  return secret.trim();
}

const remove: Leaf = {
  summary: 'delete a provider; nobody signs in with it any more',
  argument: '<upstream>',
  examples: ['upstreams delete google'],
  run: ({ api }, { argument: upstream }) =>
    api(async (to) => {
      const removed = await orUndefined(to.call('DELETE /upstreams/{upstream}', { ids: { upstream }, present: true }));
      if (!removed) throw notFound(`there is no upstream ${upstream}`);
      return { json: { upstream, deleted: true }, ids: [upstream], text: `Upstream ${upstream} is deleted.` };
    }),
};

export const upstreams: Group = {
  summary: 'providers that people may sign in with',
  commands: { put, list, get, delete: remove },
};
