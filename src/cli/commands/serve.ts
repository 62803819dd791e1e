/** The server for production. */
import type { Leaf } from '../command.ts';

export const serve: Leaf = {
  summary: 'run in production: wants DATABASE_URL, ISSUER and SECRET_KEYS',
  explanation:
    'The database must be migrated before: postern migrate. What is configured wrong is told by postern config check.',
  examples: ['serve'],
  async run({ start }) {
    await start('serve');
    return undefined;
  },
};
