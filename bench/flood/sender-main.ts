/**
 * Sends requests at a constant rate, whatever becomes of those before, in a process of its own. The time of an answer counts
 * from when its request was due: a server that stalls cannot make the sender wait and so hide it.
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
  seconds: number;
  connections: number;
}

/** What came of it. Milliseconds; each status with how often, `failed` for no answer. */
export interface Streamed {
  rate: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  answers: Record<string, number>;
}

const TICK_MS = 2;

const { origin, shots, rate, seconds, connections } = JSON.parse(await text(process.stdin)) as Stream;
const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 30_000, bodyTimeout: 30_000 });
const times: number[] = [];
const answers: Record<string, number> = {};

async function send({ method, path, headers, body }: Shot, due: number): Promise<void> {
  const status = await pool
    .request({ method, path, headers: { ...headers }, ...(body !== undefined && { body }) })
    .then(
      async (answer) => (await answer.body.dump(), String(answer.statusCode)),
      () => 'failed',
    );
  times.push(performance.now() - due);
  answers[status] = (answers[status] ?? 0) + 1;
}

const begin = performance.now();
const all = Math.floor(rate * seconds);
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
process.stdout.write(JSON.stringify({ rate: all / took, p50, p95, p99, max, answers } satisfies Streamed));
