/** Metrics by prom-client, which only this file knows: the one list of names, labels and buckets. */
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics, Snapshot, Sources } from './metrics.ts';

/** Seconds. A token takes a few milliseconds, a password some fifty, and no request more than thirty seconds. */
const REQUEST_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const QUEUE_BUCKETS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface PrometheusOptions {
  /** Also the process': memory, CPU, event loop, garbage collection. They go on until it ends. */
  process?: boolean;
  /** Words that are shown with 0 before they first happen, so that a rate has a beginning. */
  grants?: readonly string[];
  errors?: readonly string[];
}

/** A registry of its own: several of them do not meet. */
export function createMetrics({ process = false, grants = [], errors = [] }: PrometheusOptions = {}): Metrics {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  // Several processes add up, unless they all speak of the same thing.
  const gauge = (name: string, help: string, ...labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers, aggregator: 'sum' });
  const common = (name: string, help: string, ...labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers, aggregator: 'max' });
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]): Histogram =>
    new Histogram({ name, help, buckets, labelNames, registers });

  // Counted here and added when somebody looks: prom-client takes longer to find a counter than a request can spare.
  const answers = new Map<string, { labels: { method: string; route: string; status: number }; count: number }>();
  registry.registerMetric(
    new Counter({
      name: 'postern_http_requests_total',
      help: 'Requests answered.',
      labelNames: ['method', 'route', 'status'],
      registers: [],
      collect() {
        for (const answer of answers.values()) {
          if (answer.count > 0) this.inc(answer.labels, answer.count);
          answer.count = 0;
        }
      },
    }),
  );
  const durations = histogram(
    'postern_http_request_duration_seconds',
    'From the first byte of a request to the last of its answer.',
    REQUEST_BUCKETS,
    'method',
    'route',
  );
  const refusals = counter('postern_refusals_total', 'Requests refused, by the error that was answered.', 'error');
  const checks = counter('postern_checks_failed_total', 'Requests refused, by the check that failed.', 'check');
  const limits = counter('postern_rate_limited_total', 'Requests refused by a volume limit.', 'route');
  const tokens = counter('postern_tokens_issued_total', 'Token responses, by what was exchanged.', 'grant_type');
  const waits = histogram('postern_password_wait_seconds', 'Waiting for a turn to hash a password.', QUEUE_BUCKETS);
  const turns = counter('postern_worker_runs_total', 'Turns of the workers.', 'worker', 'outcome');
  const successes = common(
    'postern_worker_last_success_timestamp_seconds',
    'When a worker last succeeded in this process.',
    'worker',
  );
  const clockOffset = common(
    'postern_clock_offset_seconds',
    'By how much the clocks of database and server differed when last compared.',
  );
  const clockReadings = counter(
    'postern_clock_readings_total',
    'Comparisons of the two clocks: agreed, followed (by seconds), doubted (by more than a minute), set.',
    'outcome',
  );
  const abandonments = counter(
    'postern_database_abandoned_total',
    'Statements that were given up without knowing what became of them: cancelled, or nobody there to be told.',
    'outcome',
  );
  const pool = gauge('postern_db_pool_connections', 'Connections to the database.', 'state');
  const poolWaiting = gauge('postern_db_pool_waiting', 'Requests waiting for a connection.');
  const hashing = gauge('postern_passwords_hashing', 'Passwords being hashed.');
  const waiting = gauge('postern_passwords_waiting', 'Passwords waiting to be hashed.');
  const keyAges = common('postern_key_age_seconds', 'How long the active key has been in use.', 'alg', 'use');
  const up = common('postern_database_up', 'Whether the database answered when it was last asked.');
  const notices = common(
    'postern_logout_notices',
    'Notices of sign-outs: still to be delivered, or given up.',
    'state',
  );
  const oldest = common('postern_logout_notices_oldest_seconds', 'Age of the oldest notice still to be delivered.');
  const mailed = counter('postern_mails_total', 'Mails, by what became of a try to send them.', 'outcome');
  const mails = common('postern_mails', 'Mails: still to be sent, or given up.', 'state');
  const oldestMail = common('postern_mails_oldest_seconds', 'Age of the oldest mail still to be sent.');
  const sweepLag = common('postern_sweep_lag_seconds', 'How overdue the oldest row is that should have been removed.');

  for (const outcome of ['agreed', 'followed', 'doubted', 'set']) clockReadings.inc({ outcome }, 0);
  for (const outcome of ['sent', 'postponed', 'dead']) mailed.inc({ outcome }, 0);
  for (const grant_type of grants) tokens.inc({ grant_type }, 0);
  for (const error of errors) refusals.inc({ error }, 0);
  let sources: Sources | undefined;
  let joined: (() => Promise<readonly Snapshot[]>) | undefined;
  let inherited: Promise<Snapshot> | undefined;

  async function snapshot(): Promise<Snapshot> {
    if (sources) await read(sources);
    const all = await registry.getMetricsAsJSON();
    // What is not a number yet (the lag of a loop that has not turned) would be one of the sum's parts.
    return all.map((one) => ({ ...one, values: one.values.filter(({ value }) => Number.isFinite(value)) }));
  }

  async function read(from: Sources): Promise<void> {
    const { total, idle, waiting: asking } = from.pool();
    pool.set({ state: 'idle' }, idle);
    pool.set({ state: 'busy' }, total - idle);
    poolWaiting.set(asking);
    const passwords = from.passwords();
    hashing.set(passwords.hashing);
    waiting.set(passwords.waiting);
    keyAges.reset();
    for (const { alg, use, seconds } of from.keys()) keyAges.set({ alg, use }, seconds);
    const backlog = await from.backlog?.();
    // Not what was true before the database went away: no sample is better than an old one.
    for (const states of [notices, mails]) states.reset();
    for (const one of [up, oldest, oldestMail, sweepLag]) one.remove();
    if (from.backlog) up.set(backlog ? 1 : 0);
    if (!backlog) return;
    notices.set({ state: 'waiting' }, backlog.logout_waiting);
    notices.set({ state: 'dead' }, backlog.logout_dead);
    oldest.set(backlog.logout_oldest);
    mails.set({ state: 'waiting' }, backlog.mail_waiting);
    mails.set({ state: 'dead' }, backlog.mail_dead);
    oldestMail.set(backlog.mail_oldest);
    sweepLag.set(backlog.sweep_lag);
  }

  return {
    answered(method, route, status, seconds) {
      const name = `${status} ${method} ${route}`;
      let answer = answers.get(name);
      if (!answer) answers.set(name, (answer = { labels: { method, route, status }, count: 0 }));
      answer.count += 1;
      durations.observe({ method, route }, seconds);
    },
    refused(error, check) {
      refusals.inc({ error });
      checks.inc({ check });
    },
    limited: (route) => limits.inc({ route }),
    issued: (grant_type) => tokens.inc({ grant_type }),
    queued: () => waits.startTimer(),
    compared(seconds, outcome) {
      clockOffset.set(seconds);
      clockReadings.inc({ outcome });
    },
    abandoned: (outcome) => abandonments.inc({ outcome }),
    worked(worker, succeeded_at) {
      turns.inc({ worker, outcome: succeeded_at ? 'success' : 'failure' });
      if (succeeded_at) successes.set({ worker }, succeeded_at.getTime() / 1000);
    },
    mailed: (outcome) => mailed.inc({ outcome }),
    watch: (given) => void (sources = given),
    snapshot,
    join: (others) => void (joined = others),
    inherit(ended) {
      const [before, counts] = [inherited, ended.filter(isCount)];
      inherited = (async () => (before ? merged([await before, counts]).getMetricsAsJSON() : counts))();
    },
    async text() {
      const { contentType: content_type } = registry;
      if (!joined) {
        if (sources) await read(sources);
        return { content_type, body: await registry.metrics() };
      }
      // Asked for before the others: who ends meanwhile is counted once.
      const past = inherited;
      const all = [await snapshot(), ...(await joined()), ...(past ? [await past] : [])];
      return { content_type, body: await merged(all).metrics() };
    },
  };
}

const merged = (all: readonly Snapshot[]): Registry => AggregatorRegistry.aggregate([...all]);

/** Of a process that has ended, what it was at the end is over; what it counted is not. */
const isCount = (metric: object): boolean =>
  'type' in metric && (metric.type === 'counter' || metric.type === 'histogram');
