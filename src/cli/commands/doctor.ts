/** Doctor: is this deployment well, and what to do where it is not. */
import { styleText } from 'node:util';
import { ConfigError, likelyMode, loadConfig } from '../../config.ts';
import { everything } from '../api.ts';
import type { Leaf, CommandContext, Opened } from '../command.ts';
import type { ServerAccess } from '../doctor/diagnosis.ts';
import { error, ok, warning, type Finding } from '../doctor/finding.ts';
import { inspectCertificate, inspectIssuer } from '../doctor/issuer.ts';
import { failureOf } from '../failure.ts';

type Diagnosis = Finding & { check: string };

export const doctor: Leaf = {
  summary: 'look at configuration, database, issuer, keys and clients; exit code 1 when something is wrong',
  explanation: [
    'Every finding that is not fine comes with what to do about it.',
    'With --url only what can be seen from elsewhere: the issuer, its certificate, migrations and keys.',
  ].join('\n'),
  examples: ['doctor', 'doctor --json', 'doctor --url https://id.example.com'],
  async run(means) {
    const found = await (means.access ? diagnoseElsewhere(means, means.access.issuer) : diagnose(means));
    const wrong = found.filter(({ level }) => level === 'error');
    return {
      json: { ok: wrong.length === 0, findings: found },
      ids: found.filter(({ level }) => level !== 'ok').map(({ check }) => check),
      text: found.map(line).join('\n'),
      exit_code: wrong.length === 0 ? 0 : 1,
    };
  },
};

async function diagnose({ open, reach }: CommandContext): Promise<Diagnosis[]> {
  const found = configuration();
  const { basics, checks } = await import('../doctor/diagnosis.ts');
  try {
    await open(
      async (opened) => {
        await run(basics, opened, { reach }, found);
        if (!found.some(({ check, level }) => check in basics && level === 'error'))
          await run(checks, opened, { reach }, found);
      },
      { schema: 'any' },
    );
  } catch (error) {
    // Said already, by the check of the configuration.
    if (error instanceof ConfigError) return found;
    const fix = 'see that Postgres runs, and that DATABASE_URL or DATA_DIR says where';
    found.push({ check: 'database', level: 'error', message: (await failureOf(error)).message, fix });
  }
  return found;
}

async function run(
  table: Readonly<Record<string, (opened: Opened, server: ServerAccess) => Promise<Finding[]>>>,
  opened: Opened,
  server: ServerAccess,
  found: Diagnosis[],
): Promise<void> {
  for (const [check, look] of Object.entries(table)) {
    for (const finding of await look(opened, server)) found.push({ check, ...finding });
  }
}

/** What can be seen of a server elsewhere; the rest is its operator's to look at. */
async function diagnoseElsewhere({ api, reach }: CommandContext, issuer: string): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  const report = (check: string, findings: readonly Finding[]): void => {
    found.push(...findings.map((finding) => ({ check, ...finding })));
  };
  report('issuer', await inspectIssuer(issuer, reach));
  report('tls', await inspectCertificate(issuer, reach.now()));
  try {
    await api(async (to) => {
      const missing = (await to.call('GET /settings')).migrations.filter(({ applied }) => !applied);
      report('migrations', [
        missing.length === 0
          ? ok('all are applied')
          : error(`${missing.length} are missing: ${missing.map(({ name }) => name).join(', ')}`, 'postern migrate'),
      ]);
      const active = (await everything(to, 'GET /keys')).filter(({ state }) => state === 'active');
      const names = active.map(({ alg }) => alg).join(', ');
      report('keys', [
        active.length > 0 ? ok(`there is one for each of ${names}`) : warning('there are none', 'restart it'),
      ]);
    });
  } catch (thrown) {
    const fix = 'give a token of the admin API with settings:read and keys:read';
    report('api', [error((await failureOf(thrown)).message, fix)]);
  }
  return found;
}

function configuration(): Diagnosis[] {
  const check = 'configuration';
  const mode = likelyMode();
  try {
    loadConfig(mode);
    return [{ check, level: 'ok', message: `is good for \`postern ${mode}\`` }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((message) => ({
      check,
      level: 'error',
      message,
      fix: 'correct it in the environment or in .env',
    }));
  }
}

const MARKS = { ok: ['green', 'ok'], warning: ['yellow', 'warning'], error: ['red', 'error'] } as const;

function line({ check, level, message, fix }: Diagnosis): string {
  const [colour, word] = MARKS[level];
  const start = `${styleText(colour, word.padEnd(7))}  ${check.padEnd(13)}  `;
  return `${start}${message}${fix === undefined ? '' : `\n${' '.repeat(24)}fix: ${fix}`}`;
}
