/** The environment, read once into a frozen Config. The only reader of process.env; every problem is reported at once. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { databaseUrlProblem } from './config/database-url.ts';
import { issuerProblems } from './config/issuer.ts';
import { fileName, integer, isWebUrl, list, number, seconds } from './config/kinds.ts';
import { mail } from './config/mail.ts';
import { mtls, mtlsProblems } from './config/mtls.ts';
import { people } from './config/people.ts';
import { shown as printable, withoutSecrets } from './config/shown.ts';
import { watching } from './config/watching.ts';
import { MAX_GRANT_TTL, MAX_TOKEN_TTL } from './protocol/client-metadata.ts';
import { DECRYPTION_ALGS } from './protocol/key-alg.ts';
import { isAdminScope } from './protocol/admin-api.ts';
import { decodeUtf8 } from './protocol/plain-text.ts';
import { PROFILES } from './protocol/profile.ts';
import { SIGNING_ALGS } from './protocol/signing-alg.ts';
import { DAY } from './protocol/numeric-date.ts';

/** `issuer=jwks_uri` entries: whose software statements count (RFC 7591 §2.3), and where the keys for them are. */
const statementIssuers = list
  .transform((entries) => entries.map((entry) => /^([^=]+)=(.+)$/.exec(entry)?.slice(1) ?? []))
  .refine(
    (pairs) => pairs.every((pair) => pair.length === 2 && pair.every(isWebUrl)),
    'must be issuer=jwks_uri entries',
  )
  .transform((pairs) => pairs.map(([issuer, jwks_uri]) => ({ issuer: issuer!, jwks_uri: jwks_uri! })))
  .default([]);

const databaseUrl = z.string().superRefine((url, context) => {
  const message = databaseUrlProblem(url);
  if (message !== undefined) context.addIssue({ code: 'custom', message, input: url });
});

const MAX_WORKERS = 256;

const environment = z.object({
  NODE_ENV: z.string().optional(),
  ISSUER: z.string().optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: integer(0, 65_535, 3000),
  ALLOWED_HOSTS: list
    .refine((names) => names.every((name) => /^[\w.-]+$/.test(name)), 'must be host names, without ports')
    .default([]),
  EXPOSE_DEVELOPMENT: z.stringbool().default(false),
  SHUTDOWN_DELAY: seconds(0, 300, 0),
  WORKERS: number(1, MAX_WORKERS).optional(),
  DATABASE_URL: databaseUrl.optional(),
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOL_SIZE: integer(1, 500, 20),
  DATABASE_CONNECT_TIMEOUT: seconds(1, 60, 1),
  DATABASE_STATEMENT_TIMEOUT: seconds(1, 60, 2),
  DATA_DIR: z.string().min(1).default('./data'),
  SECRET_KEYS: list
    .refine((keys) => keys.every((key) => key.length >= 32), 'every key must have at least 32 characters')
    .optional(),
  TLS_CERT_FILE: fileName.optional(),
  TLS_KEY_FILE: fileName.optional(),
  TRUST_PROXY: list.refine((entries) => entries.every(isNetwork), 'must be addresses or CIDR ranges').default([]),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  REQUIRE_PUSHED_AUTHORIZATION_REQUESTS: z.stringbool().default(false),
  REQUIRE_SIGNED_REQUEST_OBJECT: z.stringbool().default(false),
  /** The profile that every client has to keep to, beside its own. */
  PROFILE: z.enum(['none', ...PROFILES]).default('none'),
  /** Must every DPoP proof hold a nonce of ours (RFC 9449 §8)? */
  DPOP_NONCE: z.enum(['off', 'on']).default('off'),
  REQUIRE_PKCE: z.enum(['public', 'all']).default('public'),
  AUTHORIZATION_CODE_TTL: seconds(1, 600, 60),
  ACCESS_TOKEN_TTL: seconds(1, MAX_TOKEN_TTL, 600),
  ID_TOKEN_TTL: seconds(1, MAX_TOKEN_TTL, 3600),
  REFRESH_TOKEN_TTL: seconds(1, MAX_GRANT_TTL, 2_592_000),
  REFRESH_TOKEN_IDLE_TTL: seconds(1, MAX_GRANT_TTL, 604_800),
  REFRESH_TOKEN_RETRY_WINDOW: seconds(0, 60, 30),
  TOKEN_SIZE_WARN: integer(0, 1_000_000, 4096),
  TOKEN_SIZE_MAX: integer(0, 1_000_000, 16_384),
  ID_TOKEN_CLAIMS: z.enum(['scope', 'minimal']).default('scope'),
  CLIENT_ASSERTION_AUDIENCE: z.enum(['any', 'issuer']).default('any'),
  OUTBOUND_ALLOW: list
    .refine((entries) => entries.every((entry) => /^[^\s/]+:\d{1,5}$/.test(entry)), 'must be host:port entries')
    .default([]),
  SIGNING_ALGS: list
    .pipe(z.array(z.enum(SIGNING_ALGS)).min(1))
    // OpenID Connect Core §15.1: every client may count on RS256.
    .refine((algs) => algs.includes('RS256'), 'must include RS256')
    .default(['RS256', 'ES256']),
  ACCESS_TOKEN_SIGNING_ALG: z.enum(SIGNING_ALGS).default('RS256'),
  ENCRYPTION_ALGS: list.pipe(z.array(z.enum(DECRYPTION_ALGS)).min(1)).default([...DECRYPTION_ALGS]),
  KEY_ROTATION_INTERVAL: seconds(0, MAX_GRANT_TTL, 7_776_000).refine(
    (interval) => interval === 0 || interval >= DAY,
    `must be 0, or ${DAY} at least`,
  ),
  REGISTRATION: z.enum(['off', 'token', 'open']).default('off'),
  REGISTRATION_SCOPE: z
    .string()
    .refine((scope) => !scope.split(' ').some(isAdminScope), 'must not open the admin API to whoever registers')
    .default('openid profile email address phone offline_access'),
  SOFTWARE_STATEMENT_ISSUERS: statementIssuers,
  TOKEN_RATE_LIMIT: seconds(0, 10_000_000, 0),
  AUDIT_RETENTION: seconds(0, 315_360_000, 34_560_000).refine(
    (kept) => kept === 0 || kept >= DAY,
    `must be 0, or ${DAY} at least`,
  ),
  ADMIN_RATE_LIMIT: seconds(0, 1_000_000, 600),
  AUTHORIZE_RATE_LIMIT: seconds(0, 10_000_000, 600),
  REFUSAL_RETENTION: seconds(0, 31_536_000, 604_800),
  REFUSAL_MAX_ROWS: integer(1000, 10_000_000, 100_000),
  ...mail,
  ...mtls,
  ...people,
  ...watching,
});

/** Is it an address of this machine alone? */
const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '::1' ||
  (isIP(host) === 4 && host.startsWith('127.'));

/** An address, or a range in CIDR notation. */
function isNetwork(entry: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128));
}

/** Variables whose value is a secret: masked wherever configuration is shown, and readable from NAME_FILE. */
const SECRET_VARIABLES = ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'SECRET_KEYS', 'SMTP_URL'] as const;

export const VARIABLES = Object.keys(environment.shape).filter((name) => name !== 'NODE_ENV');

export type Mode = 'dev' | 'serve' | 'command';

export interface Config extends Readonly<
  Omit<z.infer<typeof environment>, 'SECRET_KEYS' | 'ISSUER' | 'WORKERS' | 'SELF_REGISTRATION'>
> {
  readonly mode: Mode;
  /** Processes that answer requests. */
  readonly WORKERS: number;
  /** May people make accounts by themselves? */
  readonly SELF_REGISTRATION: 'off' | 'on';
  /** Absolute, no trailing slash; may have a path. */
  readonly ISSUER: string;
  readonly SECRET_KEYS: readonly string[];
}

/** Some of the environment is wrong. `problems` are complete sentences; secrets are masked in them. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads and checks the environment.
 * @param mode `dev` stays on this machine, `serve` demands what production needs, `command` only wants the database
 * @throws ConfigError with every problem found
 */
export function loadConfig(mode: Mode, source: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const given = withFiles(source, Object.keys(environment.shape), SECRET_VARIABLES, problems);
  const wrong = new Set<string>();
  for (const issue of environment.safeParse(given).error?.issues ?? []) {
    const name = String(issue.path[0]);
    wrong.add(name);
    problems.push(`${name} is ${received(name, given[name])}: ${issue.message}`);
  }
  // Checks the rest without the variables that are wrong, so that one start reports every problem.
  const sound = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const { ISSUER, SECRET_KEYS = [], ...rest } = environment.parse(sound);
  const issuer = ISSUER ?? `${rest.TLS_CERT_FILE === undefined ? 'http' : 'https'}://localhost:${rest.PORT}`;
  problems.push(...issuerProblems(issuer, mode));
  if ((rest.TLS_CERT_FILE === undefined) !== (rest.TLS_KEY_FILE === undefined)) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE go together: set both or none');
  }
  if (!wrong.has('TRUST_PROXY')) problems.push(...mtlsProblems(rest, rest.TRUST_PROXY));
  if (rest.SMTP_URL !== undefined && rest.MAIL_FROM === undefined && !wrong.has('MAIL_FROM')) {
    problems.push('MAIL_FROM is not set: the address that mail comes from, e.g. Example <id@example.com>');
  }
  for (const name of ['SELF_REGISTRATION', 'EMAIL_SIGN_IN'] as const) {
    if (mode === 'serve' && rest[name] === 'on' && rest.SMTP_URL === undefined && !wrong.has('SMTP_URL'))
      problems.push(`${name} is on, and SMTP_URL is not set: addresses are verified by mail`);
  }
  if (!rest.SIGNING_ALGS.includes(rest.ACCESS_TOKEN_SIGNING_ALG)) {
    problems.push(`ACCESS_TOKEN_SIGNING_ALG is ${rest.ACCESS_TOKEN_SIGNING_ALG}: must be one of SIGNING_ALGS`);
  }
  if (mode === 'dev' && rest.NODE_ENV === 'production') {
    problems.push('NODE_ENV is production: development mode has demo accounts, use `postern serve`');
  }
  if (mode === 'dev' && !rest.EXPOSE_DEVELOPMENT && !isLoopback(rest.HOST)) {
    problems.push(
      `HOST is ${received('HOST', rest.HOST)}: development mode has accounts whose passwords everybody knows; set EXPOSE_DEVELOPMENT=true if all who reach it may use them`,
    );
  }
  if (mode === 'serve') {
    if (ISSUER === undefined)
      problems.push('ISSUER is not set: the public https URL of this server, e.g. https://id.example.com');
    if (rest.DATABASE_URL === undefined && !wrong.has('DATABASE_URL'))
      problems.push('DATABASE_URL is not set: e.g. postgres://postern:…@db:5432/postern');
    if (SECRET_KEYS.length === 0 && !wrong.has('SECRET_KEYS'))
      problems.push('SECRET_KEYS is not set: e.g. the output of `openssl rand -base64 32`');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const WORKERS = rest.WORKERS ?? usualWorkers(mode === 'command' ? likelyMode(source) : mode);
  const SELF_REGISTRATION = rest.SELF_REGISTRATION ?? (mode === 'dev' ? 'on' : 'off');
  return Object.freeze({
    ...rest,
    WORKERS,
    SELF_REGISTRATION,
    mode,
    ISSUER: issuer,
    SECRET_KEYS: Object.freeze(SECRET_KEYS),
  });
}

const usualWorkers = (mode: Mode): number => (mode === 'serve' ? Math.min(availableParallelism(), MAX_WORKERS) : 1);

/** NAME_FILE stands in for NAME, so that secrets can come from mounted files. Empty variables count as unset. */
function withFiles(
  source: NodeJS.ProcessEnv,
  names: readonly string[],
  secrets: readonly string[],
  problems: string[],
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of names) {
    const value = source[name];
    if (value !== undefined && value !== '') given[name] = value;
  }
  for (const name of secrets) {
    const file = source[`${name}_FILE`];
    if (file === undefined || file === '') continue;
    if (name in given) problems.push(`${name} and ${name}_FILE are both set: set one`);
    try {
      given[name] = decodeUtf8(readFileSync(file)).trim();
    } catch (error) {
      // Not what was received: many put the secret there in place of its file.
      problems.push(`${name}_FILE names no file that can be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return given;
}

/** What was received, fit to be printed. */
function received(name: string, value: string | undefined): string {
  if (value === undefined) return 'not set';
  return isSecret(name) ? '(hidden)' : JSON.stringify(withoutSecrets(value));
}

const isSecret = (name: string): boolean => (SECRET_VARIABLES as readonly string[]).includes(name);

/** The configuration in force, variable by variable, secrets masked: what `config print` shows. */
export function describeConfig(config: Config): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of VARIABLES) {
    const value = config[name as keyof Config];
    const set = value !== undefined && !(Array.isArray(value) && value.length === 0);
    shown[name] = isSecret(name) && set ? '(hidden)' : printable(value ?? null);
  }
  return shown;
}

/** The same configuration with other values: for tests, and for `dev`, which finds its own secrets and database. */
export const configWith = (config: Config, changes: Partial<Config>): Config =>
  Object.freeze({ ...config, ...changes });

/** Where traces go: to an endpoint that is named, or to the usual one if they are asked for. Undefined: there are none. */
export function tracesEndpoint(config: Config): string | undefined {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = config;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact } = config;
  if (OTEL_SDK_DISABLED || OTEL_TRACES_EXPORTER === 'none') return undefined;
  if (exact !== undefined) return exact;
  if (base === undefined && OTEL_TRACES_EXPORTER === undefined) return undefined;
  return `${(base ?? 'http://localhost:4318').replace(/\/$/, '')}/v1/traces`;
}

/** Fewest connections of a process: one for a transaction, one for what is asked beside it. */
const FEWEST = 2;

/**
 * How many connections each process of a server may have, so that together they have DATABASE_POOL_SIZE: those that answer
 * requests, the primary, and the one that starts before another ends.
 */
export const connectionsOf = ({ DATABASE_POOL_SIZE, WORKERS }: Config): number =>
  WORKERS === 1 ? DATABASE_POOL_SIZE : Math.max(FEWEST, Math.floor(DATABASE_POOL_SIZE / (WORKERS + 2)));

/** As which server this environment is meant, by what it sets: only production needs an issuer or a database. */
export function likelyMode(source: NodeJS.ProcessEnv = process.env): 'dev' | 'serve' {
  const set = ['ISSUER', 'DATABASE_URL', 'DATABASE_URL_FILE'].some((name) => (source[name] ?? '') !== '');
  return set || source['NODE_ENV'] === 'production' ? 'serve' : 'dev';
}

/** What commands that speak to a server elsewhere read; a secret of them may be in a file instead. */
const REMOTE_VARIABLES = ['POSTERN_URL', 'POSTERN_TOKEN', 'POSTERN_CLIENT_ID', 'POSTERN_CLIENT_SECRET'] as const;

export type RemoteVariables = Partial<Record<(typeof REMOTE_VARIABLES)[number], string>>;

/** Where commands are carried out, and with which rights. @throws ConfigError for a file that cannot be read */
export function remoteVariables(source: NodeJS.ProcessEnv = process.env): RemoteVariables {
  const problems: string[] = [];
  const given = withFiles(source, REMOTE_VARIABLES, ['POSTERN_TOKEN', 'POSTERN_CLIENT_SECRET'], problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return given;
}

/**
 * Reads `.env` in the working directory into the environment, if there is one. What is set already wins.
 * @throws ConfigError
 */
export function readDotEnv(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ConfigError([`.env cannot be read (${code})`]);
  }
}

/** The version of this program, from package.json. */
export function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
