/** Types of authorization details (RFC 9396): what clients may ask for in detail, and what people are told of it. */
import { Option } from 'commander';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { collect, readDocument } from '../input.ts';
import { record, table } from '../output.ts';
import { translation } from './scopes.ts';

const list: Leaf = {
  summary: 'list types of authorization details',
  examples: ['authorization-types list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /authorization-types');
      return {
        json: rows,
        ids: rows.map(({ name }) => name),
        text: table(
          ['TYPE', 'RESOURCE', 'SENTENCE'],
          rows.map((row) => [row.name, row.resource, row.sentence]),
          'There are no types yet: postern authorization-types put',
        ),
      };
    }),
};

interface PutOptions {
  schema?: string;
  resource?: string[];
  narrowable?: string[];
  sentence?: string;
  sentenceIn?: Readonly<Record<string, string | null>>;
}

const put: Leaf<PutOptions> = {
  summary: 'make a type of authorization details, or change what is named of it',
  argument: '<name>',
  options: () => [
    new Option('--schema <file>', 'JSON Schema of a detail; - is standard input'),
    new Option('--resource <uri>', 'the resource its details are for (repeatable)').argParser(collect),
    new Option(
      '--narrowable <pointer>',
      'a list or an amount that a token may have less of, e.g. /actions (repeatable)',
    ).argParser(collect),
    new Option('--sentence <text>', 'what the consent page says, e.g. "Pay {/amount} to {/recipient}"'),
    new Option(
      '--sentence-in <language=text>',
      'the same in a language (repeatable), e.g. "de={/amount} an {/recipient} zahlen"; with no text, take it back',
    ).argParser(translation),
  ],
  explanation:
    'A client asks for no type that it is not registered with: postern clients update ID --details-type NAME',
  examples: ['authorization-types put payment --schema payment.json --sentence "Pay {/amount} to {/recipient}"'],
  run: ({ api }, { argument: name, options }) =>
    api(async (to) => {
      const { resource, narrowable, sentence, sentenceIn } = options;
      const schema = options.schema === undefined ? undefined : await readDocument(options.schema);
      const changes = {
        ...(schema && { schema }),
        ...(resource && { resource }),
        ...(narrowable && { narrowable }),
        ...(sentence !== undefined && { sentence }),
      };
      const present = await orUndefined(to.call('GET /authorization-types/{name}', { ids: { name } }));
      // A whole document: a schema is replaced, and not merged with the one before.
      const said = Object.entries({ ...present?.sentences, ...sentenceIn }).filter(([, text]) => text !== null);
      const body = { ...present, ...changes, sentences: Object.fromEntries(said) };
      const type = await to.call('PUT /authorization-types/{name}', { ids: { name }, body });
      return { json: type, ids: [name], text: record(type, ['name']) };
    }),
};

const remove: Leaf = {
  summary: 'delete a type of authorization details; new tokens have none of it, and introspection tells none',
  argument: '<name>',
  examples: ['authorization-types delete payment'],
  run: ({ api }, { argument: name }) =>
    api(async (to) => {
      const removed = await orUndefined(
        to.call('DELETE /authorization-types/{name}', { ids: { name }, present: true }),
      );
      if (!removed) throw notFound(`there is no type ${name}`);
      return { json: { name, deleted: true }, ids: [name], text: `Type ${name} is deleted.` };
    }),
};

export const authorizationTypes: Group = {
  summary: 'what clients may ask for in detail',
  commands: { list, put, delete: remove },
};
