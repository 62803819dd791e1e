/** The real dependencies of one process. */
import { join, resolve } from 'node:path';
import { adminResource } from '../admin/index.ts';
import { createRequestUris } from '../authorize/request-uri.ts';
import { accountResource } from '../clients/account-resource.ts';
import { readAuthorities } from '../clients/certificates.ts';
import { createDirectory } from '../clients/directory.ts';
import { createGuesses } from '../clients/guesses.ts';
import { createClientKeys } from '../clients/jwks.ts';
import { tracesEndpoint, type Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import { createRefusals } from '../events/refusals.ts';
import { createKeyRing } from '../keys/index.ts';
import { createSecrets } from '../keys/secrets.ts';
import { createMailer } from '../platform/mailer.ts';
import { silence } from '../platform/metrics.ts';
import { createOutbound } from '../platform/outbound.ts';
import { random } from '../platform/random.ts';
import { GRANT_TYPES } from '../protocol/client.ts';
import { ERROR_CODES } from '../protocol/error.ts';
import { mailboxOf } from '../protocol/mailbox.ts';
import type { Connection } from '../store/postgres/db.ts';
import { openDb } from '../store/postgres/open.ts';
import { createProbe } from '../store/postgres/probe.ts';
import { createTokenSizes } from '../tokens/size.ts';
import { createProofKeys } from '../tokens/proof-keys.ts';
import { createVerdicts } from '../tokens/verdicts.ts';
import { loadArgon2 } from '../users/factors/argon2.ts';
import { loadArgon2Threads } from '../users/factors/argon2-threads.ts';
import { CONCURRENT, createPasswordHasher } from '../users/factors/password.ts';
import { createUpstreamClients } from '../users/upstream/client.ts';
import type { Worker } from '../workers/worker.ts';
import { followDatabase } from './time.ts';

/** Milliseconds that requests under way have to finish when a process is told to stop. */
const DRAIN_MS = 10_000;
/** Milliseconds until it has ended: before that time it goes on for SHUTDOWN_DELAY, so that a load balancer notices. */
export const closingTimeOf = ({ SHUTDOWN_DELAY }: Config): number => SHUTDOWN_DELAY * 1000 + DRAIN_MS;
/** Seconds between two comparisons of our clock with the database's. */
const DISCIPLINE_EVERY = 10;

/** What a process works with. */
export interface Opened {
  deps: Deps;
  /** Jobs of the process itself. */
  jobs: Record<'clock', Worker>;
  /** Lets go of the database. */
  close(): Promise<void>;
}

/** How a process differs from others. */
export interface ProcessOptions {
  log: Deps['log'];
  /** Connections to the database it may have at once. */
  connections: number;
  /** What counts and traces; a command does without. */
  watched?: Pick<Deps, 'metrics' | 'tracing'>;
}

/** Opens a pool, sets the clock by the database's, and builds the rest. @throws what connecting throws */
export async function openDeps(config: Config, connection: Connection, options: ProcessOptions): Promise<Opened> {
  const { log, connections, watched = { metrics: silence, tracing: undefined } } = options;
  const onError = (error: Error): void => {
    // The statement of a command says so itself.
    if (options.watched) log.warn({ err: error }, 'a database connection broke');
  };
  const db = openDb(connection, {
    max: connections,
    connectTimeout: config.DATABASE_CONNECT_TIMEOUT * 1000,
    statementTimeout: config.DATABASE_STATEMENT_TIMEOUT * 1000,
    onError,
    onAbandoned: (isCancelled) => watched.metrics.abandoned(isCancelled ? 'cancelled' : 'unreachable'),
    onStatement: watched.tracing?.statement,
  });
  const clock = followDatabase(db, watched.metrics, options.watched && log);
  try {
    await clock.compare();
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const secrets = createSecrets(config.SECRET_KEYS, random);
  // The demo application of development mode asks our own token endpoint.
  const own = config.mode === 'dev' ? [hostAndPort(config.ISSUER)] : [];
  const fetch = createOutbound({ allow: [...config.OUTBOUND_ALLOW, ...own] });
  const deps: Deps = Object.freeze({
    config,
    db,
    probe: createProbe(connection),
    secrets,
    keys: createKeyRing(db, secrets),
    directory: createDirectory(db, () => performance.now(), [
      adminResource(config.ISSUER),
      accountResource(config.ISSUER),
    ]),
    guesses: createGuesses(db),
    tokenSizes: createTokenSizes(config, log, () => performance.now()),
    verdicts: createVerdicts(),
    proofKeys: createProofKeys(),
    passwords: createPasswordHasher(
      watched.metrics.queued,
      () => (config.mode === 'command' ? loadArgon2() : loadArgon2Threads(CONCURRENT)),
      CONCURRENT,
    ),
    clock: clock.now,
    clockDoubt: clock.doubt,
    carefulTime: clock.careful,
    random,
    fetch,
    authorities: readAuthorities(config.MTLS_CA_FILE),
    clientKeys: createClientKeys(fetch, () => performance.now()),
    requestUris: createRequestUris(fetch, () => performance.now()),
    mailer:
      config.SMTP_URL === undefined ? undefined : createMailer(config.SMTP_URL, mailboxOf(config.MAIL_FROM ?? '')),
    upstreams: createUpstreamClients({ fetch, secrets }, () => performance.now()),
    refusals: createRefusals(db, { retention: config.REFUSAL_RETENTION }),
    log,
    metrics: watched.metrics,
    tracing: watched.tracing,
  });
  return {
    deps,
    jobs: { clock: { where: 'each', every: DISCIPLINE_EVERY, run: clock.compare } },
    async close() {
      await Promise.all([deps.probe.close(), db.destroy()]);
    },
  };
}

/** Ends the jobs of a process that answers no more requests, and writes what it still holds. The database is left. */
export async function settle({ refusals, clock, log, tracing }: Deps, stopWorkers: () => Promise<void>): Promise<void> {
  await stopWorkers();
  await refusals.close(clock()).catch((error: unknown) => log.warn({ err: error }, 'refusals were lost'));
  await tracing?.close();
}

function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

/** Where a server that is given no SECRET_KEYS keeps its own. */
export const secretFileOf = (config: Config): string => join(resolve(config.DATA_DIR), 'secret-keys');

/** What counts and traces. Loaded here: commands need neither, and few servers need traces. */
export async function startWatching(config: Config, log: Deps['log']): Promise<Pick<Deps, 'metrics' | 'tracing'>> {
  let [metrics, tracing] = [silence, undefined as Deps['tracing']];
  if (config.METRICS_PORT !== 0) {
    const { createMetrics } = await import('../platform/prometheus.ts');
    metrics = createMetrics({ process: true, grants: [...GRANT_TYPES, 'login'], errors: ERROR_CODES });
  }
  const url = tracesEndpoint(config);
  if (url !== undefined) {
    const { createTracing } = await import('../platform/opentelemetry.ts');
    const onProblem = (problem: string): void => log.warn({ problem }, 'traces could not be delivered');
    const { OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG } = config;
    const sampling = { sampler: OTEL_TRACES_SAMPLER, ratio: OTEL_TRACES_SAMPLER_ARG };
    tracing = createTracing({ url, service_name: OTEL_SERVICE_NAME, ...sampling, onProblem });
  }
  return { metrics, tracing };
}
