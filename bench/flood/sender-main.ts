/**
 * Sends requests at a constant rate, whatever becomes of those before, in a process of its own. The time of an answer counts
 * from when its request was due: a server that stalls cannot make the sender wait and so hide it. What is due in the first
 * seconds does not count: a process that has just started is slow itself, and would be measured instead.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { Pool } from 'undici';
import type { Shot } from '../scenario.ts';
import { percentile } from '../statistics.ts';

/** What is sent: one after the other, and from the beginning again. */
export interface Stream {
  origin: string;
  shots: readonly Shot[];
  /** Per second. */
  rate: number;
  /** Those that count, and those before. */
  seconds: number;
  warm_up: number;
  connections: number;
}

/**
 * What came of it. Milliseconds; each status with how often, `failed` for no answer. All but `p95_at_first`, which is of the
 * requests before, are of those that count.
 */
export interface Streamed {
  rate: number;
  p95_at_first: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  answers: Record<string, number>;
}

const TICK_MS = 2;

const { origin, shots, rate, seconds, warm_up, connections } = JSON.parse(await text(process.stdin)) as Stream;
const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 30_000, bodyTimeout: 30_000 });
const timesAtFirst: number[] = [];
const times: number[] = [];
const answers: Record<string, number> = {};

/** Without what a request's promise and stream take: the sender shares the machine with what it measures. */
function send({ method, path, headers, body }: Shot, due: number): Promise<void> {
  return new Promise((resolve) => {
    let status = 'failed';
    const end = (): void => {
      const took = performance.now() - due;
      if (due < counted) timesAtFirst.push(took);
      else {
        times.push(took);
        answers[status] = (answers[status] ?? 0) + 1;
      }
      resolve();
    };
    pool.dispatch(
      { method, path, headers: { ...headers }, ...(body !== undefined && { body }) },
      {
        onRequestStart() {},
        onResponseData() {},
        onResponseStart: (_controller, code) => void (status = String(code)),
        onResponseEnd: end,
        onResponseError() {
          status = 'failed';
          end();
        },
      },
    );
  });
}

const begin = performance.now();
const counted = begin + warm_up * 1000;
const all = Math.floor(rate * (warm_up + seconds));
const sent: Array<Promise<void>> = [];
while (sent.length < all) {
  const due = Math.min(all, Math.ceil(((performance.now() - begin) / 1000) * rate));
  while (sent.length < due) sent.push(send(shots[sent.length % shots.length]!, begin + (sent.length / rate) * 1000));
  await sleep(TICK_MS);
}
const took = (performance.now() - begin) / 1000;
await Promise.all(sent);
await pool.close();
const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => percentile(times, share)) as [
  number,
  number,
  number,
  number,
];
process.stdout.write(
  JSON.stringify({
    rate: all / took,
    p95_at_first: percentile(timesAtFirst, 0.95),
    p50,
    p95,
    p99,
    max,
    answers,
  } satisfies Streamed),
);
