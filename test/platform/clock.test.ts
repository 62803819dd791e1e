/** The clock of a process: what of the database's it believes, and how it comes back from what was wrong. */
import { beforeEach, describe, expect, test } from 'vitest';
import { disciplinedClock, type DisciplinedClock, type Outcome } from '../../src/platform/clock.ts';
import { aMachineAndADatabase, type Clocks } from '../support/clocks.ts';

const DAYS = 86_400;
let clocks: Clocks;
let clock: DisciplinedClock;
beforeEach(() => {
  clocks = aMachineAndADatabase();
  clock = disciplinedClock(clocks.sources);
});

const read = async (): Promise<Outcome> => (await clock.discipline(clocks.readTime)).outcome;
/** Reads every ten seconds, as a server does; what came of the last one. */
async function readFor(seconds: number): Promise<Outcome> {
  let last = await read();
  for (let gone = 0; gone < seconds; gone += 10) {
    clocks.pass(10);
    last = await read();
  }
  return last;
}
/** Seconds that ours is ahead of the truth. */
const ahead = (): number => (clock.now().getTime() - clocks.truth().getTime()) / 1000;

describe('small differences', () => {
  test('it goes by the database’s clock, so that servers agree on every expiry', async () => {
    clocks.move('machine', 50);
    clock = disciplinedClock(clocks.sources);
    expect(ahead()).toBe(50);
    expect(await read()).toBe('followed');
    clocks.pass(60);
    expect(ahead()).toBe(0);
    expect(await read()).toBe('agreed');
  });

  test('a step backwards makes time stand still, and revives nothing', async () => {
    await read();
    const before = clock.now();
    clocks.move('database', -30);
    expect(await read()).toBe('followed');
    expect(clock.now()).toEqual(before);
    clocks.pass(20);
    expect(clock.now()).toEqual(before);
    clocks.pass(11);
    expect(clock.now() > before).toBe(true);
  });

  test('what the time between asking and answer can explain is no difference', async () => {
    await read();
    clocks.slow(3);
    expect(await read()).toBe('agreed');
    expect(ahead()).toBe(0);
  });

  test('a database that creeps away is not followed for more than a minute in an hour', async () => {
    await read();
    const outcomes: Outcome[] = [];
    for (let step = 0; step < 10; step += 1) {
      clocks.move('database', 20);
      clocks.pass(10);
      outcomes.push(await read());
    }
    expect(outcomes).toEqual([...Array<Outcome>(3).fill('followed'), ...Array<Outcome>(7).fill('doubted')]);
    expect(ahead()).toBeLessThanOrEqual(60);
  });
});

describe.each([
  ['ahead', 45 * DAYS],
  ['behind', -45 * DAYS],
])('a database 45 days %s for a minute', (_way, by) => {
  test('is not believed: ours goes on, and is well again when the database is', async () => {
    await read();
    clocks.move('database', by);
    expect(await readFor(60)).toBe('doubted');
    expect([ahead(), Math.round(clock.doubt()!)]).toEqual([0, by]);
    clocks.move('database', -by);
    expect(await read()).toBe('agreed');
    expect([ahead(), clock.doubt()]).toEqual([0, undefined]);
    clocks.pass(10);
    expect(ahead()).toBe(0);
  });

  test('is not believed at the start either: the machine’s clock counts', async () => {
    clocks.move('database', by);
    expect(await readFor(60)).toBe('doubted');
    expect(ahead()).toBe(0);
    clocks.move('database', -by);
    expect(await read()).toBe('agreed');
    expect([ahead(), clock.doubt()]).toEqual([0, undefined]);
  });

  test('is not believed when the machine’s clock goes along: both may be one machine', async () => {
    await read();
    clocks.move('database', by);
    clocks.move('machine', by);
    expect(await readFor(60)).toBe('doubted');
    expect(ahead()).toBe(0);
    clocks.move('database', -by);
    clocks.move('machine', -by);
    expect(await read()).toBe('agreed');
  });
});

describe('ours is wrong', () => {
  test('a server whose machine is days ahead is in doubt until somebody sets it right; time does not stand still after', async () => {
    clocks.move('machine', 45 * DAYS);
    clock = disciplinedClock(clocks.sources);
    expect(await readFor(600)).toBe('doubted');
    clock.now();
    clocks.move('machine', -45 * DAYS);
    expect(await read()).toBe('agreed');
    expect(ahead()).toBe(0);
    clocks.pass(1);
    expect(ahead()).toBe(0);
  });

  test('one that started while both were wrong comes back when both are right for minutes', async () => {
    clocks.move('database', 45 * DAYS);
    clocks.move('machine', 45 * DAYS);
    clock = disciplinedClock(clocks.sources);
    await read();
    expect(ahead()).toBe(45 * DAYS);
    clocks.move('database', -45 * DAYS);
    clocks.move('machine', -45 * DAYS);
    expect(await readFor(290)).toBe('doubted');
    clocks.pass(10);
    expect(await read()).toBe('set');
    expect(ahead()).toBe(0);
    expect(await read()).toBe('agreed');
  });

  test('a notebook that slept goes on at once', async () => {
    await read();
    clocks.sleep(8 * 3600, { known: true });
    expect(ahead()).toBe(-8 * 3600);
    expect(await read()).toBe('set');
    expect([ahead(), clock.careful()]).toEqual([0, clocks.truth()]);
  });

  test('a virtual machine that was paused without a word goes on after minutes, and deletes by the new time a day later', async () => {
    await read();
    clocks.sleep(8 * 3600, { known: false });
    expect(await readFor(290)).toBe('doubted');
    clocks.pass(10);
    expect(await read()).toBe('set');
    expect(ahead()).toBe(0);
    expect(clock.careful()).toEqual(new Date(clocks.truth().getTime() - 8 * 3_600_000));
    clocks.pass(DAYS + 1);
    expect(clock.careful()).toEqual(clocks.truth());
  });

  test('a database that is right once and wrong again is not corroborated by that', async () => {
    await read();
    clocks.move('machine', 3600);
    clocks.move('database', 3600);
    await readFor(200);
    clocks.move('database', -3600);
    expect(await read()).toBe('agreed');
    clocks.move('database', 3600);
    expect(await readFor(200)).toBe('doubted');
  });
});
