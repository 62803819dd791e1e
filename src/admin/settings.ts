/** The settings in force: read only, since they come from the environment, and without its secrets. */
import { z } from 'zod';
import { describeConfig, version } from '../config.ts';
import { databaseVersion } from '../store/postgres/db.ts';
import { migrationStatus } from '../store/postgres/migrate.ts';
import { collectionOf } from './api/collection.ts';

const item = z.strictObject({
  configuration: z.record(z.string(), z.unknown()).describe('Variable by variable; secrets are (hidden)'),
  versions: z.strictObject({ postern: z.string(), node: z.string(), postgres: z.string() }),
  migrations: z.array(z.strictObject({ name: z.string(), applied: z.boolean() })),
});

const collection = collectionOf({
  noun: 'set of settings',
  summary: 'the settings in force',
  path: '/settings',
  subject: 'settings',
  item,
});

export const settings = collection.with({
  async find({ db, deps }) {
    return {
      configuration: describeConfig(deps.config),
      versions: { postern: version(), node: process.versions.node, postgres: (await databaseVersion(db)).name },
      migrations: await migrationStatus(db),
    };
  },
});
