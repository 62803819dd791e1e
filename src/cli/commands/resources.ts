/** Resources (RFC 8707): the APIs that tokens are for, and the tokens they want. */
import { Option } from 'commander';
import type { MembershipClaim } from '../../protocol/claims.ts';
import { SIGNING_ALGS, type SigningAlg } from '../../protocol/signing-alg.ts';
import { TOKEN_FORMATS } from '../../protocol/token-format.ts';
import { ACCESS_TOKEN_TYPS, type AccessTokenTyp } from '../../protocol/token-type.ts';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { seconds, words } from '../input.ts';
import { record, table } from '../output.ts';

const list: Leaf = {
  summary: 'list resources',
  examples: ['resources list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /resources');
      return {
        json: rows,
        ids: rows.map(({ resource }) => resource),
        text: table(
          ['RESOURCE', 'NAME', 'SCOPE'],
          rows.map((row) => [row.resource, row.name, row.scope]),
          'There are no resources yet: postern resources put',
        ),
      };
    }),
};

interface PutOptions {
  name?: string;
  scope?: string[];
  clientId?: string | false;
  accessTokenFormat?: string;
  accessTokenTtl?: number;
  accessTokenAlg?: SigningAlg;
  accessTokenTyp?: AccessTokenTyp;
  claims?: MembershipClaim[];
}

const put: Leaf<PutOptions> = {
  summary: 'make a resource, or change what is named of it',
  argument: '<resource>',
  options: () => [
    new Option('--name <text>', 'what people see'),
    new Option('--scope <scopes>', 'the scopes it knows, separated by spaces').argParser(words),
    new Option('--client-id <id>', 'the client as which the API itself introspects its tokens'),
    new Option('--no-client-id', 'no client introspects for it'),
    new Option('--access-token-format <format>', 'the tokens it wants').choices(TOKEN_FORMATS),
    new Option('--access-token-ttl <time>', 'their life: seconds, or 15m, 12h').argParser(seconds),
    new Option('--claims <names>', 'what they say of the person: groups, roles, or both').argParser(words),
    new Option('--access-token-alg <alg>', 'their signature').choices(SIGNING_ALGS),
    new Option('--access-token-typ <typ>', 'their typ: JWT for verifiers that refuse at+jwt').choices(
      ACCESS_TOKEN_TYPS,
    ),
  ],
  examples: ['resources put https://notes.example.com --name "Notes API" --scope "notes:read notes:write"'],
  run: ({ api }, { argument: resource, options }) =>
    api(async (to) => {
      const { name, scope, clientId, accessTokenFormat, accessTokenTtl, accessTokenAlg, accessTokenTyp, claims } =
        options;
      const changes = {
        ...(name !== undefined && { name }),
        ...(scope && { scope }),
        ...(clientId !== undefined && { client_id: clientId === false ? null : clientId }),
        ...(accessTokenFormat && { access_token_format: accessTokenFormat }),
        ...(accessTokenTtl !== undefined && { access_token_ttl: accessTokenTtl }),
        ...(claims && { claims }),
        ...(accessTokenTyp && { access_token_typ: accessTokenTyp }),
        ...(accessTokenAlg && { access_token_signing_alg: accessTokenAlg }),
      };
      const request = { ids: { resource }, body: changes };
      const row =
        (await orUndefined(to.call('PATCH /resources/{resource}', request))) ??
        (await to.call('PUT /resources/{resource}', request));
      return { json: row, ids: [resource], text: record(row, ['resource']) };
    }),
};

const remove: Leaf = {
  summary: 'delete a resource; nobody can ask for it any more',
  argument: '<resource>',
  examples: ['resources delete https://notes.example.com'],
  run: ({ api }, { argument: resource }) =>
    api(async (to) => {
      const removed = await orUndefined(to.call('DELETE /resources/{resource}', { ids: { resource }, present: true }));
      if (!removed) throw notFound(`there is no resource ${resource}`);
      return { json: { resource, deleted: true }, ids: [resource], text: `Resource ${resource} is deleted.` };
    }),
};

export const resources: Group = { summary: 'APIs that tokens are for', commands: { list, put, delete: remove } };
