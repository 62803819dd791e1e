/** Reads a load from standard input, sends it by autocannon, and writes what came of it to standard output. */
import { json } from 'node:stream/consumers';
import autocannon, { type Request } from 'autocannon';
import { filled, type Amount, type Load, type Shot } from '../scenario.ts';
import type { Fired } from './index.ts';

const { origin, load, amount } = (await json(process.stdin)) as { origin: string; load: Load; amount: Amount };
let lost = 0;
let dry = 0;
const queue: Array<{ shot: Shot; value: string }> = (load.values ?? []).map((value) => ({ shot: load.shot, value }));
let head = 0;

const requestOf = (shot: Shot, value: string): Request => {
  const { method, path, headers, body } = filled(shot, value);
  return { method, path, headers: { ...headers }, ...(body !== undefined && { body }) };
};

function next(request: Request): Request {
  if (load.values === undefined) return request;
  const entry = queue[head];
  if (entry === undefined) {
    dry += 1;
    instance.stop?.();
    return request;
  }
  head += 1;
  return { ...request, ...requestOf(entry.shot, entry.value) };
}

function answered(_status: number, body: string, _context: object, headers?: unknown): void {
  const named = Object.entries((headers ?? {}) as Record<string, string>);
  const location = named.find(([name]) => name.toLowerCase() === 'location')?.[1];
  for (const step of load.follow ?? []) {
    const text = step.in === 'location' ? location : body;
    const begin = text?.indexOf(step.after) ?? -1;
    if (text === undefined || begin < 0) continue;
    const end = text.indexOf(step.until, begin + step.after.length);
    queue.push({ shot: step.next, value: text.slice(begin + step.after.length, end < 0 ? undefined : end) });
    return;
  }
  lost += 1;
}

const first = requestOf(load.shot, '');
const instance = autocannon(
  {
    url: origin,
    connections: amount.connections,
    duration: amount.seconds,
    timeout: 10,
    requests: [{ ...first, setupRequest: next, ...(load.follow && { onResponse: answered }) }],
  },
  (error, { requests, duration, latency, non2xx, errors, timeouts, ...counts }) => {
    if (error) throw error as Error;
    const redirects = (counts as { '3xx'?: number })['3xx'] ?? 0;
    const fired: Fired = {
      requests: requests.total,
      seconds: duration,
      p50: latency.p50,
      p95: (latency as { p97_5: number }).p97_5,
      p99: latency.p99,
      errors: { status: non2xx - redirects, socket: errors - timeouts, timeout: timeouts, lost, dry },
    };
    process.stdout.write(JSON.stringify(fired));
  },
);
