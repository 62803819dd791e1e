/**
 * /metrics, on a listener of its own: whoever reaches the doors of clients and people does not reach this one. It is bare
 * Node, since it has one address and nothing to parse.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../deps.ts';
import { secondsUntil } from '../protocol/numeric-date.ts';
import { poolState } from '../store/postgres/db.ts';
import { outstanding } from '../store/logout-notices.ts';
import * as mails from '../store/mails.ts';
import { overdueSince } from '../store/postgres/sweep.ts';
import { ourHosts } from './host.ts';

type Sources = Parameters<Deps['metrics']['watch']>[0];
type Backlog = Awaited<ReturnType<NonNullable<Sources['backlog']>>>;
type Needs = Pick<Deps, 'clock' | 'db' | 'keys' | 'log' | 'metrics' | 'passwords'>;

/** Milliseconds that a scrape waits for the database; then it is said to be away. */
const PATIENCE_MS = 1000;
/** Seconds for which the database is not asked again, however many scrape. */
const KEEP_S = 10;
const MAX_CONNECTIONS = 16;
const TIMEOUT_MS = 10_000;

/** Has the metrics read what is not counted but looked at; what is in the database in one process of a server alone. */
export function watch({ clock, db, keys, log, metrics, passwords }: Needs, { backlog = true } = {}): void {
  metrics.watch({
    pool: () => poolState(db),
    passwords: () => passwords.load,
    keys: () => keys.ages(clock()),
    backlog: backlog
      ? sparing(
          () => readBacklog(db, clock()),
          () => clock().getTime(),
          (error) => log.warn({ err: error }, 'the database did not answer for the metrics'),
        )
      : undefined,
  });
}

async function readBacklog(db: Deps['db'], now: Date): Promise<Backlog> {
  const notices = await outstanding(db);
  const mail = await mails.outstanding(db);
  const since = await overdueSince(db, now);
  return {
    logout_waiting: notices.waiting,
    logout_oldest: notices.oldest ? secondsUntil(now, notices.oldest) : 0,
    logout_dead: notices.dead,
    mail_waiting: mail.waiting,
    mail_oldest: mail.oldest ? secondsUntil(now, mail.oldest) : 0,
    mail_dead: mail.dead,
    sweep_lag: since ? secondsUntil(now, since) : 0,
  };
}

/**
 * Reads at most once at a time and every KEEP seconds, whatever came of it, and waits no longer than PATIENCE_MS: the one
 * connection that this takes is all that scraping can ever take.
 */
function sparing(
  read: () => Promise<Backlog>,
  clock: () => number,
  onFailure: (error: unknown) => void,
): () => Promise<Backlog> {
  let last: { at: number; value: Promise<Backlog>; settled: boolean } | undefined;
  return () => {
    if (!last || (last.settled && clock() - last.at >= KEEP_S * 1000)) {
      const current = { at: clock(), value: Promise.resolve<Backlog>(undefined), settled: false };
      current.value = read()
        .catch((error: unknown) => {
          onFailure(error);
          return undefined;
        })
        .finally(() => (current.settled = true));
      last = current;
    }
    return Promise.race([last.value, sleep(PATIENCE_MS, undefined, { ref: false })]);
  };
}

/** Where the metrics listen, and how to end it. */
export interface MetricsListener {
  port: number;
  close(): Promise<void>;
}

/** Listens for scrapes. @throws Error that says which address was not to be had */
export async function listenForScrapes(
  { config, metrics, log }: Pick<Deps, 'config' | 'metrics' | 'log'>,
  { host, port }: { host: string; port: number },
): Promise<MetricsListener> {
  const isOurs = ourHosts(config, { open: true, more: [host] });
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
    // Of a page that has its own name lead here (DNS rebinding).
    // RFC 9112 §3.2.
    if ((request.headersDistinct['host']?.length ?? 0) > 1) return end(response, 400, 'the header host came twice\n');
    if (!isOurs(request.headers.host)) return end(response, 421, 'not the host of these metrics: see ALLOWED_HOSTS\n');
    answer(metrics, request, response).catch((error: unknown) => {
      log.error({ err: error }, 'the metrics could not be read');
      end(response, 500, 'something went wrong here\n');
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened at (${code})`;
    throw new Error(
      `the address for metrics, ${host}:${port}, ${why}: set METRICS_HOST and METRICS_PORT, or METRICS_PORT=0`,
      { cause: error },
    );
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(metrics: Deps['metrics'], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path] = (request.url ?? '').split('?');
  if (path !== '/metrics') return end(response, 404, 'there is /metrics here and nothing else\n');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return end(response.setHeader('allow', 'GET, HEAD'), 405, 'use GET\n');
  }
  const { content_type, body } = await metrics.text();
  end(response, 200, body, content_type);
}

function end(response: ServerResponse, status: number, body: string, content_type = 'text/plain; charset=utf-8'): void {
  response.setHeader('cache-control', 'no-store').setHeader('x-content-type-options', 'nosniff');
  response.writeHead(status, { 'content-type': content_type, 'content-length': Buffer.byteLength(body) }).end(body);
}
