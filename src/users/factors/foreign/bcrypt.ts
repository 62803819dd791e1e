/** bcrypt: `$2a$`, `$2b$` and `$2y$` are one algorithm, written by different libraries. Django puts `bcrypt$` in front. */
import { createRequire } from 'node:module';
import { HashProblem, within, type Scheme } from './scheme.ts';

const GIVEN = /^(?:bcrypt\$)?(\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53})$/;

export const bcrypt: Scheme = {
  title: 'bcrypt',
  form: /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/,
  read(given) {
    if (typeof given !== 'string' || !/^(?:bcrypt\$)?\$2/.test(given)) return undefined;
    const [, phc, cost] = GIVEN.exec(given) ?? [];
    if (phc === undefined) throw new HashProblem('is not a bcrypt hash of the kinds 2a, 2b and 2y');
    // 14 takes two seconds.
    within(cost, 'cost', 4, 14);
    return { phc };
  },
  verify(phc, password) {
    const load = createRequire(import.meta.url);
    const { compareSync } = load('bcrypt') as { compareSync(data: Buffer, hash: string): boolean };
    // The package knows PHP's letter not, and means the same by b. Only 72 bytes count, for whoever made the hash as well.
    return compareSync(password, phc.replace(/^\$2[ay]/, '$2b'));
  },
};
