/** What commands are handed in: a server (config -> deps -> app -> listen -> close), and a database to work on. */
import { join, resolve } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { createRequestUris } from '../authorize/request-uri.ts';
import type { Opened } from '../cli/index.ts';
import { adminResource } from '../admin/index.ts';
import { createDirectory } from '../clients/directory.ts';
import { createGuesses } from '../clients/guesses.ts';
import { createClientKeys } from '../clients/jwks.ts';
import { ConfigError, configWith, loadConfig, tracesEndpoint, type Config, type Mode } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { MetricsListener } from '../http/metrics.ts';
import { banner } from '../dev/banner.ts';
import { demoApplication } from '../dev/demo.ts';
import { seed } from '../dev/seed.ts';
import { createRefusals } from '../events/refusals.ts';
import { createKeyRing, ensureKeys } from '../keys/index.ts';
import { createSecrets } from '../keys/secrets.ts';
import { disciplinedClock, type DisciplinedClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { silence } from '../platform/metrics.ts';
import { createOutbound } from '../platform/outbound.ts';
import { attachPostgres, startPostgres, type RunningPostgres } from '../platform/postgres/index.ts';
import { random } from '../platform/random.ts';
import { ensureSecretFile, readSecretFile } from '../platform/secret-file.ts';
import { databaseTime, openDb, type Connection, type Db } from '../store/db.ts';
import { migrate, pendingMigrations } from '../store/migrate.ts';
import { GRANT_TYPES } from '../protocol/client-metadata.ts';
import { ERROR_CODES } from '../protocol/error.ts';
import { createTokenSizes } from '../tokens/size.ts';
import { createVerdicts } from '../tokens/verdicts.ts';
import { createPasswordHasher } from '../users/factors/password.ts';
import { startWorkers } from '../workers/index.ts';

/** Milliseconds that requests under way have to finish when the process is told to stop. */
const DRAIN_MS = 10_000;
/** Seconds between two comparisons of our clock with the database's. */
const DISCIPLINE_EVERY = 60;

/** A database to work on, and how to let go of it. */
interface Database {
  connection: Connection;
  /** For people: where the data is. */
  place: string;
  /** The same with the version, where it is known. */
  label: string;
  stop(): Promise<void>;
}

/** The configured database, else our own Postgres on DATA_DIR. */
async function openDatabase(config: Config, log: Deps['log']): Promise<Database> {
  if (config.DATABASE_URL !== undefined) {
    const { host, pathname } = new URL(config.DATABASE_URL);
    const connection = { connectionString: config.DATABASE_URL };
    const place = `postgres at ${host}${pathname}`;
    return { connection, place, label: place, stop: async () => {} };
  }
  const own = config.mode === 'command' ? attachPostgres : startPostgres;
  const postgres: RunningPostgres = await own({
    dataDir: config.DATA_DIR,
    role: config.mode === 'command' ? 'command' : 'server',
    onLog: (line) => log.debug({ postgres: line }, 'postgres'),
    onExit: (detail) => log.error({ detail }, 'postgres stopped unexpectedly'),
  });
  const place = postgres.dataDir;
  const label = `${place} (PostgreSQL ${postgres.version})`;
  return { connection: { ...postgres.connection }, place, label, stop: () => postgres.stop() };
}

/** The real dependencies of one process. */
function buildDeps(
  config: Config,
  log: Deps['log'],
  db: Db,
  clock: DisciplinedClock,
  { metrics, tracing }: Pick<Deps, 'metrics' | 'tracing'>,
): Deps {
  const secrets = createSecrets(config.SECRET_KEYS, random);
  // The demo application of development mode asks our own token endpoint.
  const own = config.mode === 'dev' ? [hostAndPort(config.ISSUER)] : [];
  const fetch = createOutbound({ allow: [...config.OUTBOUND_ALLOW, ...own] });
  return Object.freeze({
    config,
    db,
    secrets,
    keys: createKeyRing(db, secrets),
    directory: createDirectory(db, () => performance.now(), [adminResource(config.ISSUER)]),
    guesses: createGuesses(db),
    tokenSizes: createTokenSizes(config, log, () => performance.now()),
    verdicts: createVerdicts(),
    passwords: createPasswordHasher(metrics.queued),
    clock: clock.now,
    random,
    fetch,
    clientKeys: createClientKeys(fetch, () => performance.now()),
    requestUris: createRequestUris(fetch, () => performance.now()),
    refusals: createRefusals(db, { retention: config.REFUSAL_RETENTION }),
    log,
    metrics,
    tracing,
  });
}

function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

const secretFileOf = (config: Config): string => join(resolve(config.DATA_DIR), 'secret-keys');

/** Runs a server until it is told to stop. @throws ConfigError, PostgresUnavailable and what listening throws */
export async function start(mode: Exclude<Mode, 'command'>): Promise<void> {
  let config = loadConfig(mode);
  const log = createLog({ level: config.LOG_LEVEL, pretty: mode === 'dev' && process.stdout.isTTY });
  if (config.SECRET_KEYS.length === 0) {
    config = configWith(config, { SECRET_KEYS: ensureSecretFile(secretFileOf(config)) });
  }
  const database = await openDatabase(config, log);
  const onError = (error: Error): void => log.warn({ err: error }, 'a database connection broke');
  const watched = await startWatching(config, log);
  const onStatement = watched.tracing?.statement;
  const db = openDb(database.connection, { max: config.DATABASE_POOL_SIZE, onError, onStatement });
  try {
    const clock = disciplinedClock();
    const discipline = (): Promise<void> => clock.discipline(() => databaseTime(db));
    await discipline();
    await prepareSchema(config, database.connection, db);

    const deps = buildDeps(config, log, db, clock, watched);
    await ensureKeys(db, deps.secrets, [...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS], deps.clock());
    await deps.keys.reload();
    if (mode === 'dev') await seed(deps, deps.clock());

    // Loaded here, so that commands do not wait for it.
    const [{ buildApp }, { listenOnIpv6Too }] = await Promise.all([import('../app.ts'), import('../http/loopback.ts')]);
    const readiness = { closing: false };
    const app = await buildApp(deps, readiness);
    const scrapes = await listenForMetrics(deps);
    const stopWorkers = startWorkers(deps, { clock: { every: DISCIPLINE_EVERY, run: discipline } });
    const listenTextResolver = (address: string): string => `listening at ${address}`;
    await app.listen({ host: config.HOST, port: config.PORT, listenTextResolver });
    const stopIpv6 = mode === 'dev' && config.HOST === '127.0.0.1' ? await listenOnIpv6Too(app) : undefined;

    closeWithGrace({ delay: DRAIN_MS, logger: false }, async ({ err, signal }) => {
      if (err) log.fatal({ err }, 'unexpected error, stopping');
      else log.info({ signal }, 'stopping');
      readiness.closing = true;
      await Promise.all([app.close(), stopIpv6?.()]);
      await stopWorkers();
      await deps.refusals.close(deps.clock()).catch((error: unknown) => log.warn({ err: error }, 'refusals were lost'));
      await Promise.all([scrapes?.close(), deps.tracing?.close()]);
      await db.destroy();
      await database.stop();
    });
    if (mode === 'dev') {
      const { authorizationUrl } = demoApplication(deps);
      process.stdout.write(
        banner({ issuer: config.ISSUER, authorization_url: authorizationUrl(), data: database.label }),
      );
    }
  } catch (error) {
    await db.destroy();
    await database.stop();
    throw error;
  }
}

/** What counts and traces. Loaded here: commands need neither, and few servers need traces. */
async function startWatching(config: Config, log: Deps['log']): Promise<Pick<Deps, 'metrics' | 'tracing'>> {
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

/** Opens /metrics. In development several servers on one machine are usual: only the first gets the address. */
async function listenForMetrics(deps: Deps): Promise<MetricsListener | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port, mode } = deps.config;
  if (port === 0) return undefined;
  const { listenForScrapes, watch } = await import('../http/metrics.ts');
  watch(deps);
  try {
    return await listenForScrapes(deps, { host, port });
  } catch (error) {
    if (mode !== 'dev') throw error;
    deps.log.warn((error as Error).message);
    return undefined;
  }
}

/** `dev` migrates; `serve` only checks, since several of them may start beside an older one. */
async function prepareSchema(config: Config, connection: Connection, db: Db): Promise<void> {
  const isOurs = config.mode === 'command' && config.DATABASE_URL === undefined;
  const pending = await pendingMigrations(db);
  if (pending.length > 0 && (config.mode === 'dev' || isOurs)) await migrateWith(connection);
  else if (pending.length > 0) {
    throw new ConfigError([`the database lacks ${pending.length} migrations: run \`postern migrate\` first`]);
  }
}

/** Migrations get a connection of their own: they may take longer than any request. */
async function migrateWith(connection: Connection): Promise<string[]> {
  const db = openDb(connection, { max: 1, statementTimeout: 0 });
  try {
    return await migrate(db);
  } finally {
    await db.destroy();
  }
}

/**
 * Opens what a command works on, and lets go of it afterwards. The server may be running meanwhile. Our own Postgres is
 * migrated, as `dev` would; for any other that is a decision.
 */
export async function open<T>(work: (opened: Opened) => Promise<T>, { schema }: { schema?: 'any' } = {}): Promise<T> {
  let config = loadConfig('command');
  const log = createLog({ level: config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, stderr: true });
  const secretFile = secretFileOf(config);
  if (config.SECRET_KEYS.length === 0) {
    const keys = config.DATABASE_URL === undefined ? ensureSecretFile(secretFile) : readSecretFile(secretFile);
    config = configWith(config, { SECRET_KEYS: keys ?? [] });
  }
  const database = await openDatabase(config, log);
  const { connection, place } = database;
  const db = openDb(connection, { max: 4 });
  try {
    const clock = disciplinedClock();
    await clock.discipline(() => databaseTime(db));
    if (schema !== 'any') await prepareSchema(config, connection, db);
    const deps = buildDeps(config, log, db, clock, { metrics: silence, tracing: undefined });
    const migrate = (): Promise<string[]> => migrateWith(connection);
    return await work({ deps, migrate, place, secretFile, machineTime: disciplinedClock().now });
  } finally {
    await db.destroy();
    await database.stop();
  }
}
