/** What `doctor` looks at, one row a check. Each finding that is not fine says what to do about it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { metadataOf } from '../../clients/register.ts';
import { connectionsOf } from '../../config.ts';
import { countLostTotps } from '../../users/enrolment.ts';
import { lostForeignSecrets } from '../../users/foreign-secrets.ts';
import { isSaltReadable, keyStates, unreadableKeys } from '../../keys/index.ts';
import { isPublic } from '../../protocol/client.ts';
import { clientMetadata } from '../../protocol/client-metadata.ts';
import { foldName, lowerName } from '../../protocol/names.ts';
import { deviationsFrom, profileOf, type Profile } from '../../protocol/profile.ts';
import { redact } from '../../protocol/redaction.ts';
import { isLoopbackHost, isWebUri } from '../../protocol/redirect-uri.ts';
import { DAY } from '../../protocol/numeric-date.ts';
import * as clients from '../../store/clients.ts';
import { connectionLimit, databaseTime, databaseVersion } from '../../store/postgres/db.ts';
import * as keys from '../../store/keys.ts';
import { pendingMigrations } from '../../store/postgres/migrate.ts';
import { withoutPartition } from '../../store/postgres/partitions.ts';
import * as resources from '../../store/resources.ts';
import * as scopes from '../../store/scopes.ts';
import * as upstreams from '../../store/upstreams.ts';
import * as users from '../../store/users.ts';
import { countLostTokens } from '../../users/upstream/sealed.ts';
import { isSecretReadable } from '../../users/upstream/secret.ts';
import { borrowed, redefined, unadministered } from './admin-scopes.ts';
import type { Opened, Process } from '../command.ts';
import { databaseChecks } from './database-checks.ts';
import { zodProblems } from '../failure.ts';
import { error, ok, or, warning, type Finding } from './finding.ts';
import { importsCheck } from './imports.ts';
import { inspectCertificate, inspectIssuer, inspectTlsFiles } from './issuer.ts';
import { mailCheck } from './mail.ts';
import { readPages } from '../list.ts';

/** What a check may use besides the database: requests to the running server. */
export type ServerAccess = Pick<Process, 'reach'>;
type Check = (opened: Opened, server: ServerAccess) => Promise<Finding[]>;

const OLDEST_POSTGRES = 150_000;
const MAX_CLOCK_OFFSET_S = 2;
/** Servers do not follow a database whose clock is further off (platform/clock.ts). */
const BELIEVED_CLOCK_OFFSET_S = 60;

/** Without these there is nothing to look at. */
export const basics = {
  async database({ deps: { db }, place }) {
    const { name, number } = await databaseVersion(db);
    if (number >= OLDEST_POSTGRES) return [ok(`PostgreSQL ${name}, ${place}`)];
    return [error(`PostgreSQL ${name} is too old`, 'use PostgreSQL 15 or newer')];
  },

  async migrations({ deps: { db } }) {
    const pending = await pendingMigrations(db);
    if (pending.length === 0) return [ok('all are applied')];
    return [error(`${pending.length} are missing: ${pending.join(', ')}`, 'postern migrate')];
  },
} as const satisfies Record<string, Check>;

export const checks = {
  ...databaseChecks,

  async connections({ deps: { db, config } }) {
    const most = await connectionLimit(db);
    const { WORKERS } = config;
    // Those that answer, the primary, and one that starts; each has two more, to listen for changes and to say
    // whether it is ready.
    const processes = WORKERS === 1 ? 1 : WORKERS + 2;
    const wanted = (connectionsOf(config) + 2) * processes;
    if (wanted < most) return [ok(`one server has up to ${wanted}, Postgres ${most}`)];
    const message = `one server may want ${wanted}, and Postgres has ${most} in all`;
    return [warning(message, 'raise max_connections of Postgres, or lower DATABASE_POOL_SIZE or WORKERS')];
  },

  async clock({ deps: { db }, machineTime }) {
    const before = machineTime().getTime();
    const theirs = (await databaseTime(db)).getTime();
    const offset = (theirs - (before + machineTime().getTime()) / 2) / 1000;
    if (Math.abs(offset) < 0.1) return [ok('the database agrees with this machine')];
    const message = `the database is ${Math.abs(offset).toFixed(1)} s ${offset < 0 ? 'behind' : 'ahead of'} this machine`;
    if (Math.abs(offset) <= MAX_CLOCK_OFFSET_S) return [ok(message)];
    if (Math.abs(offset) > BELIEVED_CLOCK_OFFSET_S) {
      const remedy = 'set right whichever is wrong, and keep both with NTP';
      return [error(`${message}: no server is ready while that is so, and none deletes anything`, remedy)];
    }
    return [warning(message, 'keep both with NTP: clients compare the times in tokens with their own clocks')];
  },

  async keys({ deps: { db, secrets, config, clock } }) {
    const rows = await keys.all(db);
    const states = keyStates(rows, clock());
    const findings = unreadableKeys(rows, secrets).map((kid) =>
      error(
        `${kid} cannot be opened with SECRET_KEYS`,
        `append the key it was sealed under to SECRET_KEYS; if that is lost: postern keys retire ${kid}`,
      ),
    );
    if (!(await isSaltReadable(db, secrets))) {
      const remedy =
        'append the key it was sealed under to SECRET_KEYS; if that is lost, see "Secrets and keys" in docs/production.md';
      findings.push(error('the salt of pairwise subjects cannot be opened with SECRET_KEYS', remedy));
    }
    for (const name of await lostForeignSecrets(db, secrets)) {
      const remedy =
        'append the key it was sealed under to SECRET_KEYS; if that is lost, import one person of Firebase again';
      findings.push(error(`the signer key ${name} of imported passwords cannot be opened with SECRET_KEYS`, remedy));
    }
    const lost = await countLostTotps({ db, secrets });
    if (lost > 0) {
      const remedy =
        'append the key they were sealed under to SECRET_KEYS; if that is lost, people use a recovery code, or: postern users reset-factors <user>';
      findings.push(error(`the authenticator apps of ${lost} people cannot be checked with SECRET_KEYS`, remedy));
    }
    const algs = [...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS];
    for (const alg of algs) {
      const living = states.filter((key) => key.alg === alg && key.state !== 'retired');
      if (living.length === 0) findings.push(warning(`there is no ${alg} key yet`, 'start the server: it makes one'));
      findings.push(...living.slice(-1).flatMap((key) => tooOld(key, config.KEY_ROTATION_INTERVAL, clock())));
    }
    return or(findings, `there is one for each of ${algs.join(', ')}`);
  },

  async upstreams({ deps }) {
    const rows = await upstreams.all(deps.db);
    const findings = rows
      .filter((row) => !isSecretReadable(deps, row))
      .map(({ upstream }) =>
        error(
          `the client secret at the upstream ${upstream} cannot be opened with SECRET_KEYS: nobody signs in with it`,
          `append the key it was sealed under to SECRET_KEYS; if that is lost: postern upstreams put ${upstream} --client-secret-stdin`,
        ),
      );
    const lost = await countLostTokens(deps);
    if (lost > 0) {
      const remedy =
        'append the key they were sealed under to SECRET_KEYS; if that is lost, the next sign-in of each brings new ones';
      findings.push(
        warning(`the tokens of ${lost} connections with upstreams cannot be opened with SECRET_KEYS`, remedy),
      );
    }
    return or(findings, rows.length === 0 ? 'there are none' : `${rows.length}, whose secrets open`);
  },

  async partitions({ deps: { db, clock } }) {
    const tables = await withoutPartition(db, clock());
    if (tables.length === 0) return [ok('every row lies in one of its days')];
    const message = `there was none for some rows of ${tables.join(', ')}: they are deleted one by one`;
    return [warning(message, 'start the server: it makes them; if it runs, its log says why it could not')];
  },

  async issuer({ deps: { db, config, clock } }, { reach }) {
    const published = keyStates(await keys.all(db), clock()).filter((key) => key.published && key.state === 'active');
    return inspectIssuer(
      config.ISSUER,
      reach,
      published.map(({ kid }) => kid),
    );
  },

  async tls({ deps: { config, clock } }) {
    return [...(await inspectTlsFiles(config, clock())), ...(await inspectCertificate(config.ISSUER, clock()))];
  },

  async files({ deps: { config }, secretFile }) {
    const dataDir = resolve(config.DATA_DIR);
    const rules: ReadonlyArray<readonly [file: string | undefined, forbidden: number, risk: string, fix: string]> = [
      [secretFile, 0o077, 'others than its owner can read or change it', 'chmod 600'],
      [dataDir, 0o022, 'others than its owner can put files there', 'chmod go-w'],
      [config.TLS_KEY_FILE, 0o007, 'everybody can read it', 'chmod o='],
    ];
    const findings: Finding[] = [];
    for (const [file, forbidden, risk, fix] of rules) {
      const mode =
        file === undefined
          ? 0
          : await stat(file).then(
              ({ mode }) => mode,
              () => 0,
            );
      if ((mode & forbidden) !== 0) findings.push(error(`${file}: ${risk}`, `${fix} ${file}`));
    }
    return or(findings, 'secrets are their owner’s alone');
  },

  mail: mailCheck,
  imports: importsCheck,

  async names({ deps: { db } }) {
    const findings: Finding[] = [];
    for (const kind of ['username', 'email'] as const) {
      const rows = await readPages(
        {},
        (limit, after) => users.unfoldedNames(db, kind, limit, after),
        ({ sub }) => sub,
      );
      for (const { sub, name } of rows.filter((row) => lowerName(row.name) !== foldName(row.name))) {
        const holder = await users.findByName(db, foldName(name));
        const change = `postern users update ${sub} --${kind}`;
        if (!holder || holder.sub === sub) {
          findings.push(warning(`${name} is not found in every case yet`, `${change} ${name}`));
        } else {
          const message = `${name} (${sub}) and ${holder[kind]} (${holder.sub}) are one ${kind}: each signs in as it is written here`;
          findings.push(warning(message, `agree on another: ${change} …`));
        }
      }
    }
    return or(findings, 'no two accounts differ only in the case of a name');
  },

  async clients({ deps: { db, config, clock } }) {
    const now = clock();
    const rows = await readPages(
      {},
      (limit, after) => clients.list(db, limit, after),
      ({ client_id }) => client_id,
    );
    const there = await scopes.all(db);
    const known = new Set(there.map(({ name }) => name));
    const signing = keyStates(await keys.all(db), now)
      .filter(({ state }) => state !== 'retired')
      .map(({ alg }) => alg);
    const { SIGNING_ALGS } = config;
    const inProduction = !isLoopbackHost(new URL(config.ISSUER).hostname);
    const findings = rows.flatMap((client) => [
      ...risksOf(client, inProduction),
      ...unadministered(client),
      ...refusedToday(client),
      ...againstProfile(config.PROFILE, client),
      ...client.scope
        .filter((name) => !known.has(name))
        .map((name) => warning(`${client.client_id}: the scope ${name} does not exist`, `postern scopes put ${name}`)),
      ...[
        client.id_token_signed_response_alg,
        client.userinfo_signed_response_alg,
        client.authorization_signed_response_alg,
      ]
        .filter((alg) => alg !== null)
        .flatMap((alg) => [
          ...withoutKey(client.client_id, alg, signing),
          ...beyond(SIGNING_ALGS, client.client_id, alg),
        ]),
    ]);
    for (const client_id of await clients.withoutSecret(db, now)) {
      findings.push(warning(`${client_id}: has no secret that works`, `postern clients rotate-secret ${client_id}`));
    }
    findings.push(...there.flatMap(redefined));
    for (const row of await resources.all(db)) {
      findings.push(...borrowed(row));
      const { resource, access_token_signing_alg } = row;
      if (access_token_signing_alg === null) continue;
      findings.push(...withoutKey(resource, access_token_signing_alg, signing));
      findings.push(...beyond(SIGNING_ALGS, resource, access_token_signing_alg));
    }
    return or(findings, `${rows.length}, none with risky settings`);
  },
} as const satisfies Record<string, Check>;

/** What `dev` seeds: their secrets are public. */
const DEMO_CLIENTS = ['demo-web', 'demo-spa', 'demo-device', 'demo-m2m'];

function risksOf(client: clients.ClientRow, inProduction: boolean): Finding[] {
  const { client_id, redirect_uris, application_type } = client;
  const findings: Finding[] = [];
  if (inProduction && DEMO_CLIENTS.includes(client_id)) {
    findings.push(
      error(`${client_id}: is of development mode`, `postern clients delete ${client_id}; see also users ada, bob`),
    );
  }
  if (inProduction && application_type === 'web') {
    const local = redirect_uris.filter((uri) => isWebUri(uri) && isLoopbackHost(new URL(uri).hostname));
    for (const uri of local) {
      const fix = `postern clients update ${client_id} --redirect-uri https://… (or --application-type native)`;
      findings.push(warning(`${client_id}: sends codes to the person's own machine, ${uri}`, fix));
    }
  }
  if (client.skip_consent && isPublic(client)) {
    const fix = `postern clients update ${client_id} --no-skip-consent`;
    findings.push(warning(`${client_id}: gets tokens without consent, and proves itself with no secret`, fix));
  }
  return findings;
}

/** What an older server took of a client, and this one would not; but for what the others here say better. */
/** What the profile of the server wants of a client beside its own: until it is mended, the client is refused. */
function againstProfile(server: Profile | 'none', client: clients.ClientRow): Finding[] {
  const profile = profileOf(server, client);
  if (profile === null || profile === client.profile) return [];
  return deviationsFrom(profile, client).map(({ problem, clause, mend }) =>
    error(
      `${client.client_id}: is refused by PROFILE=${profile}: ${problem} (${clause})`,
      `postern clients update ${client.client_id} ${mend}`,
    ),
  );
}

function refusedToday(client: clients.ClientRow): Finding[] {
  const issues = clientMetadata.safeParse(metadataOf(client)).error?.issues ?? [];
  const isReported = new Map([
    ['scope', unadministered(client).length > 0],
    ['skip_consent', client.skip_consent && isPublic(client)],
  ]);
  const others = issues.filter(({ path }) => isReported.get(String(path[0])) !== true);
  const fix = `postern clients update ${client.client_id} …: no change of it is taken while that is so`;
  return zodProblems({ issues: others }).map((problem) =>
    warning(`${client.client_id}: would be refused today: ${redact(problem)}`, fix),
  );
}

/** Beyond its time by a day: no server was there to replace it, or nobody is to. */
const OVERDUE = DAY;
/** Seconds that a key may serve where the operator rotates by hand. */
const OLD = 400 * DAY;

type State = ReturnType<typeof keyStates>[number];

function tooOld({ kid, alg, activates_at }: State, interval: number, now: Date): Finding[] {
  const age = (now.getTime() - activates_at.getTime()) / 1000;
  const message = `${kid} has been the ${alg} key for ${Math.floor(age / DAY)} days`;
  if (interval > 0 && age > interval + OVERDUE) return [warning(message, 'start the server: it replaces keys in time')];
  const fix = `postern keys rotate --alg ${alg}, or set KEY_ROTATION_INTERVAL`;
  return interval === 0 && age > OLD ? [warning(message, fix)] : [];
}

/** It is served: its key goes on, and is replaced like the others. */
function beyond(algs: readonly string[], owner: string, alg: string): Finding[] {
  if (algs.includes(alg)) return [];
  const fix = `add ${alg} to SIGNING_ALGS, or give it another algorithm`;
  return [warning(`${owner}: wants tokens signed with ${alg}, which is not among SIGNING_ALGS`, fix)];
}

function withoutKey(owner: string, alg: string, signing: readonly string[]): Finding[] {
  // Before the first start there are no keys at all, and the keys' own check says so.
  if (signing.length === 0 || signing.some((active) => active === alg)) return [];
  return [
    error(
      `${owner}: wants tokens signed with ${alg}, and no key does that`,
      `postern keys rotate --alg ${alg} --immediately`,
    ),
  ];
}
