/** Removes rows past their retention, batch by batch. */
import type { Deps } from '../deps.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { FADES_AFTER } from '../protocol/throttle.ts';
import { trim } from '../store/refusals.ts';
import { sweep } from '../store/postgres/sweep.ts';
import type { Worker } from './worker.ts';

/** Rows removed by one statement. */
const TRIMMED = 10_000;

export const sweepExpired = ({ config, db, carefulTime }: Pick<Deps, 'config' | 'db' | 'carefulTime'>): Worker => ({
  where: 'once',
  every: 600,
  async run() {
    const now = await carefulTime();
    const retention = config.AUDIT_RETENTION;
    const audit_before = retention === 0 ? null : secondsAfter(now, -retention);
    while ((await sweep(db, now, secondsAfter(now, -FADES_AFTER), audit_before)) > 0);
    while ((await trim(db, config.REFUSAL_MAX_ROWS, TRIMMED)) > 0);
  },
});
