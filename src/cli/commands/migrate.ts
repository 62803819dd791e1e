/** The schema of the database: bring it up to date, or say what is missing. */
import type { Group, Leaf } from '../command.ts';
import { table } from '../output.ts';

const apply: Leaf = {
  summary: 'apply the migrations that are missing',
  explanation: [
    'Servers may go on meanwhile. Who uses a table for long, such as pg_dump, is waited for, without holding up requests.',
    'With MIGRATION_DATABASE_URL as the role there, which owns the tables; the role of DATABASE_URL gets the rights of a',
    'server, and is made if there is none.',
  ].join('\n'),
  examples: ['migrate', 'migrate status'],
  run: ({ open }) =>
    open(
      async ({ migrate, place }) => {
        const applied = await migrate((what) => process.stderr.write(`waiting: ${what}\n`));
        const text = applied.length === 0 ? `Nothing to do: ${place} is up to date.` : applied.join('\n');
        return { json: { applied }, ids: applied, text };
      },
      { schema: 'any', as: 'owner' },
    ),
};

const status: Leaf = {
  summary: 'list the migrations, and whether they are applied',
  examples: ['migrate status', 'migrate status --json'],
  run: ({ open }) =>
    open(
      async ({ deps }) => {
        const { migrationStatus } = await import('../../store/postgres/migrate.ts');
        const rows = await migrationStatus(deps.db);
        const missing = rows.filter(({ applied }) => !applied);
        return {
          json: rows,
          ids: missing.map(({ name }) => name),
          text: table(
            ['MIGRATION', 'APPLIED'],
            rows.map((row) => [row.name, row.applied ? 'yes' : 'no']),
            'There are none.',
          ),
        };
      },
      { schema: 'any' },
    ),
};

export const migrate: Group = { summary: "the database's schema", own: apply, commands: { status } };
