/** The application under test: real Postgres, real keys, real hashing; time stands still until it is moved. */
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/app.ts';
import { adminResource } from '../../src/admin/index.ts';
import { createRequestUris } from '../../src/authorize/request-uri.ts';
import { accountResource } from '../../src/clients/account-resource.ts';
import { readAuthorities } from '../../src/clients/certificates.ts';
import { createDirectory } from '../../src/clients/directory.ts';
import { createGuesses } from '../../src/clients/guesses.ts';
import { createClientKeys } from '../../src/clients/jwks.ts';
import { configWith, loadConfig, type Config } from '../../src/config.ts';
import type { Deps } from '../../src/deps.ts';
import { createRefusals } from '../../src/events/refusals.ts';
import { createKeyRing, ensureKeys } from '../../src/keys/index.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { createMailer } from '../../src/platform/mailer.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/prometheus.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import { random } from '../../src/platform/random.ts';
import { mailboxOf } from '../../src/protocol/mailbox.ts';
import { createProbe } from '../../src/store/postgres/probe.ts';
import { createProofKeys } from '../../src/tokens/proof-keys.ts';
import { createVerdicts } from '../../src/tokens/verdicts.ts';
import { createPasswordHasher } from '../../src/users/factors/password.ts';
import { createUpstreamClients } from '../../src/users/upstream/client.ts';
import { createTokenSizes } from '../../src/tokens/size.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { knowingThePassword } from './known-password.ts';
import { insertKeys } from './made-keys.ts';

export const TEST_SECRET_KEY = 'a secret key for tests, of forty characters';

/** A clock that a test sets. */
export interface TestClock {
  now(): Date;
  advance(seconds: number): void;
}

export function testClock(start = new Date(Math.floor(Date.now() / 1000) * 1000)): TestClock {
  let time = start.getTime();
  return { now: () => new Date(time), advance: (seconds) => void (time += seconds * 1000) };
}

export interface TestApp {
  app: FastifyInstance;
  deps: Deps;
  clock: TestClock;
  database: TestDatabase;
  /** Every log line so far. */
  logged: string[];
  /** A second time it does nothing. */
  close(): Promise<void>;
}

export interface TestAppOptions {
  config?: Partial<Config>;
  clock?: TestClock;
  /** Another application's database: two processes on one store. */
  database?: TestDatabase;
  /** What others' addresses answer, instead of the network. */
  fetch?: Deps['fetch'];
  /** Where hashing is the subject: argon2 works for each password, also for the one of the fixtures. */
  hashing?: 'anew';
}

/** Builds an application on a database of its own. Volume limits are off unless asked for. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { clock = testClock() } = options;
  const database = options.database ?? (await createTestDatabase());
  const logged: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
  const unlimited = { LOGIN_RATE_LIMIT: 0, AUTHORIZE_RATE_LIMIT: 0, ADMIN_RATE_LIMIT: 0 };
  const defaults = configWith(loadConfig('command', {}), { SECRET_KEYS: [TEST_SECRET_KEY], ...unlimited });
  const config = configWith(defaults, {
    ISSUER: 'https://id.example.test',
    // Nobody listens there: a test that has mail sent says where to.
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'Example <id@example.test>',
    ...options.config,
  });
  const secrets = createSecrets(config.SECRET_KEYS, random);
  const fetch = options.fetch ?? createOutbound({ allow: config.OUTBOUND_ALLOW });
  const { db } = database;
  const metrics = createMetrics();
  const hasher = createPasswordHasher(metrics.queued);
  const probe = createProbe(database.connection);
  const deps: Deps = {
    config,
    db,
    probe,
    secrets,
    keys: createKeyRing(db, secrets),
    directory: createDirectory(db, () => clock.now().getTime(), [
      adminResource(config.ISSUER),
      accountResource(config.ISSUER),
    ]),
    guesses: createGuesses(db),
    tokenSizes: createTokenSizes(config, log, () => clock.now().getTime()),
    passwords: options.hashing === 'anew' ? hasher : knowingThePassword(hasher),
    clock: clock.now,
    clockDoubt: () => undefined,
    // The database's clock cannot be moved, so that it is thought to go with ours.
    carefulTime: async () => clock.now(),
    random,
    fetch,
    authorities: readAuthorities(config.MTLS_CA_FILE),
    clientKeys: createClientKeys(fetch, () => clock.now().getTime()),
    requestUris: createRequestUris(fetch, () => clock.now().getTime()),
    upstreams: createUpstreamClients({ fetch, secrets }, () => clock.now().getTime()),
    verdicts: createVerdicts(),
    proofKeys: createProofKeys(),
    mailer:
      config.SMTP_URL === undefined ? undefined : createMailer(config.SMTP_URL, mailboxOf(config.MAIL_FROM ?? '')),
    refusals: createRefusals(db, { retention: config.REFUSAL_RETENTION }),
    log,
    metrics,
    tracing: undefined,
  };
  await insertKeys(db, config, clock.now());
  await ensureKeys(db, secrets, [...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS], clock.now());
  await deps.keys.reload();
  const app = await buildApp(deps);
  await app.ready();
  const close = async (): Promise<void> => {
    await app.close();
    await probe.close();
    if (options.database === undefined) await database.close();
  };
  let closing: Promise<void> | undefined;
  return {
    app,
    deps,
    clock,
    database,
    logged,
    close: () => (closing ??= close()),
  };
}
