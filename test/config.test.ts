import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  ConfigError,
  connectionsOf,
  describeConfig,
  loadConfig,
  remoteVariables,
  tracesEndpoint,
  VARIABLES,
  type Config,
  type Mode,
} from '../src/config.ts';

const KEY = 'a secret key of at least 32 characters';
const PRODUCTION = { ISSUER: 'https://id.example.test', DATABASE_URL: 'postgres://u:pw@db/postern', SECRET_KEYS: KEY };

function problemsOf(mode: Mode, source: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(mode, source);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('an empty environment is a whole configuration in development', () => {
  expect(loadConfig('dev', {})).toMatchObject({
    mode: 'dev',
    ISSUER: 'http://localhost:3000',
    HOST: '127.0.0.1',
    PORT: 3000,
    DATA_DIR: './data',
    REQUIRE_PKCE: 'public',
    ACCESS_TOKEN_TTL: 600,
    ID_TOKEN_TTL: 3600,
    REFRESH_TOKEN_TTL: 2_592_000,
    REFRESH_TOKEN_IDLE_TTL: 604_800,
    REFRESH_TOKEN_RETRY_WINDOW: 30,
    SESSION_TTL: 1_209_600,
    SESSION_IDLE_TTL: 86_400,
    ID_TOKEN_CLAIMS: 'scope',
    ACCESS_TOKEN_SIGNING_ALG: 'RS256',
    SIGNING_ALGS: ['RS256', 'ES256'],
    LOGIN_RATE_LIMIT: 60,
    TOKEN_RATE_LIMIT: 0,
    AUTHORIZE_RATE_LIMIT: 600,
  });
});

test('specification §Resources: the indicated lifetimes: codes 30 to 60 seconds, access tokens minutes to hours, ID tokens minutes, refresh tokens days to months', () => {
  const config = loadConfig('command', {});
  const within = (value: number, from: number, to: number): void => {
    expect(value).toBeGreaterThanOrEqual(from);
    expect(value).toBeLessThanOrEqual(to);
  };
  within(config.AUTHORIZATION_CODE_TTL, 30, 60);
  within(config.ACCESS_TOKEN_TTL, 60, 86_400);
  within(config.ID_TOKEN_TTL, 60, 3600);
  within(config.REFRESH_TOKEN_TTL, 86_400, 90 * 86_400);
});

test('WORKERS is 1 in development and all cores in production; what is set wins', () => {
  const cores = availableParallelism();
  expect([loadConfig('dev', {}).WORKERS, loadConfig('serve', PRODUCTION).WORKERS]).toEqual([1, cores]);
  // As `config print` shows it: as what this environment is meant.
  expect([loadConfig('command', {}).WORKERS, loadConfig('command', PRODUCTION).WORKERS]).toEqual([1, cores]);
  for (const mode of ['dev', 'serve', 'command'] as const) {
    expect(loadConfig(mode, { ...(mode === 'dev' ? {} : PRODUCTION), WORKERS: '3' }).WORKERS).toBe(3);
  }
  expect(problemsOf('dev', { WORKERS: '0' })).toEqual([expect.stringContaining('WORKERS is "0"')]);
  expect(problemsOf('dev', { WORKERS: '257' })).toHaveLength(1);
});

test('the processes of a server share DATABASE_POOL_SIZE, with the primary and one that is just starting', () => {
  const of = (WORKERS: string, size: string) => connectionsOf(loadConfig('dev', { WORKERS, DATABASE_POOL_SIZE: size }));
  expect([of('1', '20'), of('2', '20'), of('8', '100'), of('64', '20')]).toEqual([20, 5, 10, 2]);
});

test('the issuer follows PORT, and TLS', () => {
  expect(loadConfig('dev', { PORT: '8080' }).ISSUER).toBe('http://localhost:8080');
  expect(loadConfig('dev', { TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' }).ISSUER).toBe('https://localhost:3000');
});

test('empty variables count as unset', () => {
  expect(loadConfig('dev', { PORT: '', ISSUER: '', SECRET_KEYS: '' })).toMatchObject({ PORT: 3000, SECRET_KEYS: [] });
});

test('all problems are reported at once, each with its variable', () => {
  const found = problemsOf('serve', {
    NODE_ENV: 'production',
    PORT: 'http',
    REQUIRE_PKCE: 'maybe',
    SIGNING_ALGS: 'HS256',
    ACCESS_TOKEN_TTL: '-1',
    ISSUER: 'http://id.example.test/',
    TLS_CERT_FILE: 'cert.pem',
  }).join('\n');
  for (const name of [
    'PORT',
    'REQUIRE_PKCE',
    'SIGNING_ALGS',
    'ACCESS_TOKEN_TTL',
    'ISSUER',
    'TLS_KEY_FILE',
    'DATABASE_URL',
    'SECRET_KEYS',
  ]) {
    expect(found).toContain(name);
  }
});

test('serve refuses to start without ISSUER, DATABASE_URL and SECRET_KEYS', () => {
  expect(problemsOf('serve', {})).toHaveLength(3);
  expect(problemsOf('serve', PRODUCTION)).toEqual([]);
});

test('dev refuses NODE_ENV=production, and an issuer that is not localhost', () => {
  expect(problemsOf('dev', { NODE_ENV: 'production' })).toHaveLength(1);
  expect(problemsOf('dev', { ISSUER: 'https://id.example.test' })).toHaveLength(1);
  expect(problemsOf('dev', { ISSUER: 'http://127.0.0.1:3000' })).not.toEqual([]);
  expect(problemsOf('dev', { ISSUER: 'http://id.localhost:3000' })).toEqual([]);
});

test.each([
  'http://id.example.test',
  'http://127.0.0.1:3000',
  'http://localhost.example.test',
  'https://id.example.test/',
  'https://id.example.test/auth/',
  'https://id.example.test?a=b',
  'https://id.example.test#f',
  'https://user:pw@id.example.test',
  'https://ID.example.test',
  'https://id.example.test:443',
  'https://id.example.test/a/../b',
  'https://id.example.test/:tenant',
  'https://id.example.test/*',
  'ftp://id.example.test',
  'id.example.test',
])('specification §Authentication 1: all traffic uses HTTPS: %s is no issuer for production', (ISSUER) => {
  expect(problemsOf('serve', { ...PRODUCTION, ISSUER })).not.toEqual([]);
});

test.each([
  'https://id.example.test',
  'https://id.example.test:8443',
  'https://id.example.test/auth',
  'http://localhost:3000',
])('RFC 8414 §2: %s is an issuer', (ISSUER) => {
  expect(problemsOf('serve', { ...PRODUCTION, ISSUER })).toEqual([]);
});

test.each([
  ['DATABASE_URL', 'mysql://u:marker-password@db/x'],
  ['SECRET_KEYS', 'marker-password'],
])('ASVS 14.2.1: a wrong %s is reported without its value', (name, value) => {
  const found = problemsOf('command', { [name]: value }).join('\n');
  expect(found).toContain(name);
  expect(found).not.toContain('marker-password');
});

test('RFC 7591 §2.3: whose software statements count is read as pairs; anything else is a problem', () => {
  const SOFTWARE_STATEMENT_ISSUERS = 'https://a.example=https://a.example/jwks?x=y, https://b.example/t=http://b:1/';
  expect(loadConfig('command', { SOFTWARE_STATEMENT_ISSUERS })).toMatchObject({
    SOFTWARE_STATEMENT_ISSUERS: [
      { issuer: 'https://a.example', jwks_uri: 'https://a.example/jwks?x=y' },
      { issuer: 'https://b.example/t', jwks_uri: 'http://b:1/' },
    ],
  });
  for (const wrong of ['https://a.example', 'https://a.example=', '=https://a.example', 'a=b', 'https://a=file:///x']) {
    expect(problemsOf('command', { SOFTWARE_STATEMENT_ISSUERS: wrong }), wrong).toHaveLength(1);
  }
});

test('whoever registers a client gets no power over the admin API', () => {
  const REGISTRATION_SCOPE = 'openid clients:write';
  expect(problemsOf('command', { REGISTRATION_SCOPE })).toEqual([expect.stringContaining('REGISTRATION_SCOPE')]);
  expect(problemsOf('command', { REGISTRATION_SCOPE: 'openid notes:write' })).toEqual([]);
});

test('ASVS 14.2.1: configuration is shown with its secrets masked', () => {
  const shown = describeConfig(loadConfig('serve', PRODUCTION));
  expect(shown).toMatchObject({ DATABASE_URL: '(hidden)', SECRET_KEYS: '(hidden)', ISSUER: 'https://id.example.test' });
  expect(Object.keys(shown)).toEqual(VARIABLES);
  expect(JSON.stringify(shown)).not.toContain(KEY);
  expect(describeConfig(loadConfig('command', {}))).toMatchObject({ DATABASE_URL: null });
});

test('ASVS 14.2.1: what is a secret only by mistake, or within a URL, is printed nowhere either', () => {
  const secret = 'hunter2hunter2hunter2hunter2hunter2';
  const wrong: NodeJS.ProcessEnv = {
    DATABASE_URL: `postgres://postern:pa@ss#${secret}@db.example/postern`,
    ISSUER: `https://me:${secret}#@id.example.test`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://me:${secret}@collector.example`,
    SOFTWARE_STATEMENT_ISSUERS: `https://a:${secret}@issuer.example`,
    OUTBOUND_ALLOW: `http://a:${secret}@host.example:80`,
    TRUST_PROXY: `http://a:${secret}@proxy.example:80`,
    TLS_KEY_FILE: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
    TLS_CERT_FILE: '/nowhere/cert.pem',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const problems = problemsOf('serve', { ...PRODUCTION, [name]: value }).join('\n');
    expect(problems, name).toContain(name === 'TLS_CERT_FILE' ? 'TLS_KEY_FILE' : name);
    expect(problems, name).not.toMatch(/hunter2|pa@ss/);
  }
  for (const name of ['SECRET_KEYS_FILE', 'DATABASE_URL_FILE']) {
    const [problem] = problemsOf('command', { [name]: `/${secret}` });
    expect(problem).toMatch(new RegExp(`^${name} names no file that can be read \\(ENOENT\\)$`));
  }
  expect(() => remoteVariables({ POSTERN_TOKEN_FILE: secret })).toThrow(/^POSTERN_TOKEN_FILE names no file/);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `https://me:${secret}@collector.example/v1` };
  const shown = describeConfig(loadConfig('serve', { ...PRODUCTION, ...endpoint }));
  expect(shown['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('https://(hidden)@collector.example/v1');
});

test.each(['0.0.0.0', '::', '192.0.2.7', 'notebook.example'])(
  'development mode has accounts that everybody knows: HOST=%s wants EXPOSE_DEVELOPMENT',
  (HOST) => {
    const [problem] = problemsOf('dev', { HOST });
    expect(problem).toMatch(/^HOST is ".*": development mode has accounts .* EXPOSE_DEVELOPMENT=true/);
    expect(loadConfig('dev', { HOST, EXPOSE_DEVELOPMENT: 'true' }).HOST).toBe(HOST);
    expect(loadConfig('serve', { ...PRODUCTION, HOST }).HOST).toBe(HOST);
  },
);

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'postern.localhost'])(
  'development mode is at home at %s',
  (HOST) => expect(loadConfig('dev', { HOST }).HOST).toBe(HOST),
);

test('secrets come from *_FILE too, not from both, and an unreadable file is a problem', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-config-'));
  try {
    const file = join(directory, 'keys');
    writeFileSync(file, `${KEY},${KEY}2\n`);
    expect(loadConfig('command', { SECRET_KEYS_FILE: file }).SECRET_KEYS).toEqual([KEY, `${KEY}2`]);
    expect(problemsOf('command', { SECRET_KEYS_FILE: file, SECRET_KEYS: KEY })).toHaveLength(1);
    expect(problemsOf('command', { DATABASE_URL_FILE: join(directory, 'missing') })[0]).toContain('ENOENT');
    writeFileSync(file, '\n');
    expect(problemsOf('serve', { ...PRODUCTION, SECRET_KEYS: '', SECRET_KEYS_FILE: file })[0]).toContain('SECRET_KEYS');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.each([
  ['SECRET_KEYS', `${KEY},short`],
  ['SIGNING_ALGS', 'ES256'],
  ['SIGNING_ALGS', 'RS256,none'],
  ['ACCESS_TOKEN_SIGNING_ALG', 'PS256'],
  ['TRUST_PROXY', 'true'],
  ['TRUST_PROXY', 'abc'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '999.0.0.1'],
  ['PORT', '70000'],
  ['PORT', ' '],
  ['LOGIN_RATE_LIMIT', ' '],
  ['ACCESS_TOKEN_TTL', '90000'],
  ['ACCESS_TOKEN_TTL', '1.5'],
  ['AUTHORIZATION_CODE_TTL', '0'],
  ['REFRESH_TOKEN_RETRY_WINDOW', '61'],
  ['PASSWORD_MIN_LENGTH', '7'],
  ['PASSWORD_MIN_SCORE', '5'],
  ['ENCRYPTION_ALGS', 'RSA1_5'],
  ['ENCRYPTION_ALGS', 'dir'],
  ['KEY_ROTATION_INTERVAL', '86399'],
  ['KEY_ROTATION_INTERVAL', '-1'],
])('%s=%s is refused', (name, value) => {
  expect(problemsOf('command', { [name]: value }).join('\n')).toContain(name);
});

test('TRUST_PROXY takes addresses and ranges', () => {
  const { TRUST_PROXY } = loadConfig('command', { TRUST_PROXY: '10.0.0.1, 10.0.0.0/8,fd00::/8,::1' });
  expect(TRUST_PROXY).toEqual(['10.0.0.1', '10.0.0.0/8', 'fd00::/8', '::1']);
});

test('ACR_VALUES are entries of a name and what it needs', () => {
  const ACR_VALUES = 'urn:mace:incommon:iap:silver=1, https://refeds.org/profile/mfa=2,phrh=hwk+user';
  expect(problemsOf('command', { ACR_VALUES })).toEqual([]);
  expect(loadConfig('command', { ACR_VALUES }).ACR_VALUES).toHaveLength(3);
  expect(problemsOf('command', { ACR_VALUES: 'silver' })).toEqual([
    'ACR_VALUES is "silver": must be name=methods entries, the methods joined by +, alternatives by |',
  ]);
});

test.each<[NodeJS.ProcessEnv, string | undefined]>([
  [{}, undefined],
  [{ OTEL_SERVICE_NAME: 'id' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, 'https://collector/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/x' }, 'http://b/x'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, undefined],
  [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/x' }, undefined],
])('traces are for those who ask for them: %j', (source, endpoint) => {
  expect(tracesEndpoint(loadConfig('command', source))).toBe(endpoint);
});

test('metrics and traces: what cannot be done with metrics and traces is said', () => {
  const wrong = {
    METRICS_PORT: '65536',
    OTEL_TRACES_EXPORTER: 'jaeger',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://collector:4317',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '1.5',
  };
  const problems = problemsOf('command', wrong);
  expect(new Set(problems.map((problem) => problem.split(' ')[0]))).toEqual(new Set(Object.keys(wrong)));
});

test('the configuration is frozen', () => {
  expect(Object.isFrozen(loadConfig('command', {}))).toBe(true);
});

test('.env.example lists every variable with its default', () => {
  const lines = readFileSync('.env.example', 'utf8').split('\n');
  const listed = new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^#? ?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!.trim()] as const];
    }),
  );
  expect([...listed.keys()].filter((name) => !name.endsWith('_FILE') || VARIABLES.includes(name)).toSorted()).toEqual(
    VARIABLES.toSorted(),
  );
  const defaults = loadConfig('command', {});
  for (const name of VARIABLES) {
    const value = defaults[name as keyof Config];
    // What has no default may show an example.
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    expect(listed.get(name), name).toBe(Array.isArray(value) ? (value as string[]).join(',') : String(value));
  }
});
