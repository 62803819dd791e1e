/** Doctor: is this deployment well, and what to do where it is not. */
import { styleText } from 'node:util';
import { ConfigError, likelyMode, loadConfig } from '../config.ts';
import type { Leaf, Opened, Process } from './command.ts';
import { basics, checks, type Finding } from './diagnosis.ts';
import { failureOf } from './failure.ts';

type Diagnosis = Finding & { check: string };

export const doctor: Leaf = {
  summary: 'look at configuration, database, keys and clients; exit code 1 when something is wrong',
  explanation: 'Every finding that is not fine comes with what to do about it.',
  examples: ['doctor', 'doctor --json'],
  async run(process) {
    const found = await diagnose(process);
    const wrong = found.filter(({ level }) => level === 'error');
    return {
      json: { ok: wrong.length === 0, findings: found },
      ids: found.filter(({ level }) => level !== 'ok').map(({ check }) => check),
      text: found.map(line).join('\n'),
      exit_code: wrong.length === 0 ? 0 : 1,
    };
  },
};

async function diagnose({ open }: Process): Promise<Diagnosis[]> {
  const found = configuration();
  try {
    await open(
      async (opened) => {
        await run(basics, opened, found);
        if (!found.some(({ check, level }) => check in basics && level === 'error')) await run(checks, opened, found);
      },
      { schema: 'any' },
    );
  } catch (error) {
    // Said already, by the check of the configuration.
    if (error instanceof ConfigError) return found;
    const fix = 'see that Postgres runs, and that DATABASE_URL or DATA_DIR says where';
    found.push({ check: 'database', level: 'error', message: failureOf(error).message, fix });
  }
  return found;
}

async function run(
  table: Readonly<Record<string, (opened: Opened) => Promise<Finding[]>>>,
  opened: Opened,
  found: Diagnosis[],
): Promise<void> {
  for (const [check, look] of Object.entries(table)) {
    for (const finding of await look(opened)) found.push({ check, ...finding });
  }
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
