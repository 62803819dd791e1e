/** Scopes: what clients may ask for, what the consent page says of it, and the claims it opens. */
import { InvalidArgumentError, Option } from 'commander';
import { everything, orUndefined, type Item } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { words } from '../input.ts';
import { record, table } from '../output.ts';

const list: Leaf = {
  summary: 'list scopes',
  examples: ['scopes list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /scopes');
      return {
        json: rows,
        ids: rows.map(({ name }) => name),
        text: table(
          ['SCOPE', 'FOR', 'DESCRIPTION'],
          rows.map((row) => [row.name, audienceOf(row), row.description]),
          'There are no scopes.',
        ),
      };
    }),
};

interface PutOptions {
  description?: string;
  descriptionIn?: Readonly<Record<string, string | null>>;
  claims?: string[];
  people?: boolean;
  machines?: boolean;
}

const put: Leaf<PutOptions> = {
  summary: 'make a scope, or change what is named of it',
  argument: '<name>',
  options: () => [
    new Option('--description <text>', 'what the consent page says: a sentence to the person, e.g. "Read your notes"'),
    new Option(
      '--description-in <language=text>',
      'the same in a language (repeatable), e.g. "de=Ihre Notizen lesen"; with no text, take it back',
    ).argParser(translation),
    new Option('--claims <names>', 'claims about the person that it opens, separated by spaces').argParser(words),
    new Option('--people', 'people can consent to it (unless said otherwise)'),
    new Option('--no-people', 'nobody can consent to it'),
    new Option('--machines', 'clients can have it for themselves (unless said otherwise)'),
    new Option('--no-machines', 'no client can have it for itself'),
  ],
  explanation: 'A client gets no scope that it is not registered with: postern clients update ID --scope "…"',
  examples: [
    'scopes put notes:read --description "Read your notes" --description-in "de=Ihre Notizen lesen"',
    'scopes put jobs:run --no-people',
  ],
  run: ({ api }, { argument: name, options }) =>
    api(async (to) => {
      const changes = {
        ...(options.description !== undefined && { description: options.description }),
        ...(options.descriptionIn && { descriptions: options.descriptionIn }),
        ...(options.claims && { claims: options.claims }),
        ...(options.people !== undefined && { for_people: options.people }),
        ...(options.machines !== undefined && { for_machines: options.machines }),
      };
      const request = { ids: { name }, body: changes };
      const scope =
        (await orUndefined(to.call('PATCH /scopes/{name}', request))) ??
        (await to.call('PUT /scopes/{name}', { ...request, body: { ...changes, ...withoutNulls(options) } }));
      return { json: scope, ids: [name], text: record(scope, ['name']) };
    }),
};

export function translation(
  text: string,
  before: Readonly<Record<string, string | null>> = {},
): Record<string, string | null> {
  const [, tag, said] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (tag === undefined)
    throw new InvalidArgumentError('Use the tag of a language and the text: de=Ihre Notizen lesen');
  return { ...before, [tag]: said === '' ? null : said! };
}

/** What is taken back is not there in what is made anew. */
const withoutNulls = ({ descriptionIn }: PutOptions): Item =>
  descriptionIn
    ? { descriptions: Object.fromEntries(Object.entries(descriptionIn).filter(([, said]) => said !== null)) }
    : {};

const remove: Leaf = {
  summary: 'delete a scope; nobody is granted it from then on',
  argument: '<name>',
  examples: ['scopes delete notes:read'],
  run: ({ api }, { argument: name }) =>
    api(async (to) => {
      const done = await orUndefined(to.call('DELETE /scopes/{name}', { ids: { name }, present: true }));
      if (!done) throw notFound(`there is no scope ${name}`);
      return { json: { name, deleted: true }, ids: [name], text: `Scope ${name} is deleted.` };
    }),
};

const audienceOf = ({ for_people, for_machines }: Item): string =>
  [for_people && 'people', for_machines && 'machines'].filter(Boolean).join(', ') || 'nobody';

export const scopes: Group = { summary: 'what clients may ask for', commands: { list, put, delete: remove } };
