/** The log while something is away: it says so, and does not fill the disk with it. */
import { beforeEach, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { isUnavailable } from '../../src/store/postgres/db.ts';

let lines: Array<Record<string, unknown>>;
let time: number;
let log: ReturnType<typeof createLog>;
beforeEach(() => {
  lines = [];
  time = 0;
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  log = createLog({ level: 'info', destination, isFlood: isUnavailable, now: () => time });
});

const refusedConnection = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    cause: new Error('why'),
  });
const cancelled = (): Error => Object.assign(new Error('canceling statement'), { code: '57014' });

test('of a database that fails there is one line a second and class, whoever says it, without a stack', () => {
  for (let request = 0; request < 1000; request += 1) {
    const child = log.child({ request_id: `r${request}` });
    child.warn({ err: refusedConnection() }, 'the database is not available');
    log.warn({ err: refusedConnection(), worker: 'sweep' }, 'a worker failed');
    if (request % 2 === 0) log.warn({ err: cancelled() }, 'the database is not available');
  }
  expect(lines.map(({ err }) => (err as Record<string, unknown>)['error_code'])).toEqual(['ECONNREFUSED', '57014']);
  expect(JSON.stringify(lines)).not.toContain('stack');
  expect(lines[0]).toMatchObject({
    request_id: 'r0',
    msg: 'the database is not available',
    err: { cause: { message: 'why' } },
  });

  time += 1000;
  log.warn({ err: refusedConnection() }, 'the database is not available');
  expect(lines[2]).toMatchObject({ left_out: 1999, msg: 'the database is not available' });
  time += 1000;
  log.error(refusedConnection());
  expect(lines[3]).not.toHaveProperty('left_out');
  expect(lines[3]).toMatchObject({ err: { error_code: 'ECONNREFUSED' } });
});

test('what is no fault of the database is written each time, with its stack', () => {
  for (let times = 0; times < 3; times += 1) {
    log.error({ err: new TypeError('a defect') }, 'unexpected error');
    log.info('request');
    log.info({ status: 200 }, 'request');
  }
  expect(lines).toHaveLength(9);
  expect((lines[0]!['err'] as Record<string, unknown>)['stack']).toContain('log.test.ts');
});
