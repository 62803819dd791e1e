/** People of another system, sent in parts to be imported: who they are is not shown, what became of them is. */
import { z } from 'zod';
import * as store from '../store/user-imports.ts';
import { askForImport } from '../users/import/jobs.ts';
import { importedMembers } from '../users/import/person.ts';
import { collectionOf } from './api/collection.ts';

/** The most people in one. */
const MAX_PEOPLE = 1000;

const STATES = ['waiting', 'done', 'refused', 'failed'] as const satisfies store.UserImportState[];

const item = z.strictObject({
  import_id: z.string(),
  state: z
    .enum(STATES)
    .describe(
      'refused: nobody was imported, since somebody could not be; failed: it could not be carried out, so send it again',
    ),
  skip_refused: z.boolean(),
  people: z.int(),
  created: z.int(),
  present: z.int().describe('Who was there already, and stayed as they were'),
  refused: z.array(
    z.strictObject({ line: z.int().describe('The place among the people, from 1'), detail: z.string() }),
  ),
  failure: z.string().nullable().describe('Why it failed'),
  created_at: z.iso.datetime(),
  done_at: z.iso.datetime().nullable(),
});

const itemOf = (row: store.UserImport): z.output<typeof item> => {
  const { import_id, state, skip_refused, people, created, present, refused, failure, created_at, done_at } = row;
  return {
    import_id,
    state,
    skip_refused,
    people,
    created,
    present,
    refused,
    failure,
    created_at: created_at.toISOString(),
    done_at: done_at?.toISOString() ?? null,
  };
};

const collection = collectionOf({
  noun: 'user import',
  summary: 'imports of people, and what became of them',
  path: '/user-imports',
  id: 'import_id',
  subject: 'users',
  item,
});

export const userImports = collection.with({
  list: collection.list({
    filters: z.strictObject({ state: z.enum(STATES) }),
    sorts: { created_at: ['created_at', 'import_id'] },
    descending: true,
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { import_id }) {
    const row = await store.find(db, import_id);
    return row && itemOf(row);
  },
  create: collection.create({
    summary: 'Have people of another system imported, with the hashes of their passwords',
    body: z.strictObject({
      people: z.array(importedMembers).min(1).max(MAX_PEOPLE),
      skip_refused: z.boolean().default(false).describe('Import the others, even if some are refused'),
    }),
    run: async ({ trx, deps, by, now }, _ids, given) => itemOf(await askForImport(trx, deps, given, by, now)),
  }),
});
